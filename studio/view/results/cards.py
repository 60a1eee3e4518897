"""Building pieces of the Results and Export pages: cards, the state before there is anything, and the notice bar."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QPushButton, QVBoxLayout, QWidget

from studio.core.text import tr
from studio.view.data.findings import wrapped
from studio.view.theme import set_role

_TEXT_WIDTH_PX = 520


def button(text: str, tooltip: str, name: str, run: Callable[[], object], role: str = "") -> QPushButton:
    """A button with its sentence, its name for tests, and what it does."""
    made = QPushButton(text)
    made.setToolTip(tooltip)
    made.setObjectName(name)
    if role:
        made.setProperty("role", role)
    made.clicked.connect(lambda _is_checked: run())
    return made


def card(title: str, *content: QWidget | QLayout) -> QFrame:
    """A framed part of a page with its heading."""
    frame = QFrame()
    frame.setProperty("role", "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(14, 12, 14, 12)
    column.setSpacing(8)
    heading = QLabel(title)
    heading.setProperty("role", "heading")
    heading.setWordWrap(True)
    column.addWidget(heading)
    for part in content:
        if isinstance(part, QWidget):
            column.addWidget(part)
        else:
            column.addLayout(part)
    return frame


class EmptyState(QWidget):
    """A page without anything to show: why, and the button to what comes next."""

    def __init__(self, title: str, text: str, action: QPushButton) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        column.addStretch(1)
        heading = QLabel(title)
        heading.setProperty("role", "title")
        body = wrapped(text, "muted")
        body.setFixedWidth(_TEXT_WIDTH_PX)
        body.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(heading, alignment=Qt.AlignmentFlag.AlignHCenter)
        # A row of its own: with an alignment, a layout gives a wrapping label the height of one line.
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(body)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(action, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)


class NoticeBar(QFrame):
    """One sentence about what was just done, in place, with a button that takes it back where there is one."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._undo: Callable[[], object] | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        self.text = wrapped("")
        self._button = QPushButton(tr("Undo"))
        self._button.setToolTip(tr("Takes this back."))
        self._button.setObjectName(f"{name}.undo")
        self._button.clicked.connect(self._take_back)
        self._close = QPushButton(tr("Dismiss"))
        self._close.setToolTip(tr("Hides this message."))
        self._close.setObjectName(f"{name}.dismiss")
        self._close.setProperty("role", "quiet")
        self._close.clicked.connect(self.hide)
        row.addWidget(self.text, 1)
        row.addWidget(self._button)
        row.addWidget(self._close)
        self.setObjectName(name)
        self.hide()

    def say(self, text: str, role: str = "card", undo: Callable[[], object] | None = None) -> None:
        """Show `text` in the look of `role` ("card", "card-good", "card-warning", "card-error")."""
        self._undo = undo
        self.text.setText(text)
        self.setAccessibleName(text)
        self._button.setVisible(undo is not None)
        set_role(self, role)
        self.show()

    def _take_back(self) -> None:
        undo, self._undo = self._undo, None
        self.hide()
        if undo is not None:
            undo()
