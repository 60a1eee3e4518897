"""What a page shows before there is anything."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.view.pieces import wrapped
from studio.view.theme import set_role

_TEXT_WIDTH_PX = 520


class EmptyState(QWidget):
    """A page without anything to show: why, and the button to what comes next."""

    def __init__(self, title: str, text: str, action: QPushButton) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        column.addStretch(1)
        heading = QLabel(title)
        set_role(heading, "title")
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
