"""A column that scrolls up and down, is never cut off at its side and never squeezed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class ColumnScroll(QScrollArea):
    """Never narrower than its content needs beside the scroll bar, whatever the text's size and language.

    Texts that wrap need more height the narrower they are; the least height of a layout knows nothing of that, so it
    is worked out for the width that there is.
    """

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def _fit(self) -> None:
        needed = max(self._content.minimumWidth(), self._content.minimumSizeHint().width())
        self.setMinimumWidth(needed + self.verticalScrollBar().sizeHint().width())
        self._fit_height()

    def _fit_height(self) -> None:
        layout = self._content.layout()
        if layout is not None and layout.hasHeightForWidth():
            least_px = layout.totalMinimumHeightForWidth(self.viewport().width())
            if least_px != self._content.minimumHeight():
                self._content.setMinimumHeight(least_px)
