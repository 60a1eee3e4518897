"""Sentences in place, above the page: what just happened or went wrong, until it is dismissed or another one comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from studio.core.problem import Problem, Severity
from studio.core.text import problem_message, problem_repair, tr
from studio.view.badges import StatusBadge
from studio.view.icons import icon
from studio.view.pieces import wrapped
from studio.view.theme import set_role, theme
from studio.view.workspace import PageStatus

Kind = Literal["good", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Offer:
    """A button in a notice: its words, a sentence about it, and what it does."""

    label: str
    help: str
    run: Callable[[], None]


# Good news goes by itself; trouble stays until someone has seen it.
_GOOD_MS = 8000
_STATUS: dict[Kind, PageStatus] = {
    "good": PageStatus.READY,
    "warning": PageStatus.WARNING,
    "error": PageStatus.ERROR,
}


class NoticeBar(QFrame):
    """Shows one notice at a time. Its parts are named after `name`."""

    def __init__(self, name: str = "notice") -> None:
        super().__init__()
        self.setObjectName(name)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 8, 8, 8)
        self._row.setSpacing(10)
        self._badge = StatusBadge()
        self.words = wrapped(is_selectable=True)
        self.words.setObjectName(f"{name}.words")
        self._buttons: list[QPushButton] = []
        self._is_problem = False
        self._close = QToolButton()
        self._close.setObjectName(f"{name}.close")
        self._close.setAccessibleName(tr("Dismiss"))
        self._close.setToolTip(tr("Dismiss this message."))
        self._close.clicked.connect(self.hide)
        self._row.addWidget(self._badge)
        self._row.addWidget(self.words, 1)
        self._row.addWidget(self._close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_GOOD_MS)
        self._timer.timeout.connect(self.hide)
        theme().changed.connect(self._show_icon)
        self._show_icon()
        self.hide()

    def say(
        self,
        text: str,
        kind: Kind = "good",
        label: str = "",
        run: Callable[[], None] | None = None,
        *,
        offers: Sequence[Offer] = (),
    ) -> None:
        """Show `text`; with `run`, also a button that says `label`; with `offers`, a button for each."""
        self._timer.stop()
        self._is_problem = False
        for button in self._buttons:
            button.deleteLater()
        offered = [*offers] if run is None else [Offer(label, label, run), *offers]
        self._buttons = [self._make_button(offer, number) for number, offer in enumerate(offered)]
        for place, button in enumerate(self._buttons, start=2):
            self._row.insertWidget(place, button)
        self._badge.show_status(_STATUS[kind])
        self.words.setText(text)
        self.setAccessibleName(text)
        set_role(self, f"card-{kind}")
        self.show()
        if kind == "good" and not offered:
            self._timer.start()

    def _make_button(self, offer: Offer, number: int) -> QPushButton:
        name = f"{self.objectName()}.button"
        button = QPushButton(offer.label)
        button.setObjectName(f"{name}.{number}" if number else name)
        button.setToolTip(offer.help)
        button.clicked.connect(self.hide)
        button.clicked.connect(offer.run)
        return button

    def say_problem(self, problem: Problem) -> None:
        """Show what happened and what can be done about it."""
        text = " ".join(part for part in (problem_message(problem), problem_repair(problem)) if part)
        self.say(text, "error" if problem.severity is Severity.ERROR else "warning")
        self._is_problem = True

    def forget_problem(self) -> None:
        """Take back what `say_problem` has said: it was tried again."""
        if self._is_problem:
            self.hide()

    def _show_icon(self) -> None:
        self._close.setIcon(icon("close", "muted"))
