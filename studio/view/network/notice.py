"""A note above the list: why something could not be done."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton

from studio.core.problem import Problem
from studio.core.text import problem_message, problem_repair, tr
from studio.view.theme import set_role


class Notice(QFrame):
    """Says in place why something could not be done, until the next deed or until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("network.notice")
        set_role(self, "card-warning")
        self.words = QLabel()
        self.words.setWordWrap(True)
        close = QToolButton()
        close.setText("✕")
        close.setAccessibleName(tr("Close this note"))
        close.setToolTip(tr("Close this note"))
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 6, 6)
        row.addWidget(self.words, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def say(self, problem: Problem) -> None:
        text = " ".join(part for part in (problem_message(problem), problem_repair(problem)) if part)
        self.words.setText(text)
        self.setAccessibleName(text)
        self.show()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def clear(self) -> None:
        self.hide()
