"""A column that scrolls up and down and is never cut off at its side."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class ColumnScroll(QScrollArea):
    """Never narrower than its content needs beside the scroll bar, whatever the text's size and language."""

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content = content
        self.setWidget(content)
        content.installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._content and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        needed = max(self._content.minimumWidth(), self._content.minimumSizeHint().width())
        self.setMinimumWidth(needed + self.verticalScrollBar().sizeHint().width())
