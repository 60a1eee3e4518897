"""A problem in place: what is wrong, why it matters, what to do, and buttons that mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from studio.core.problem import Fix, Problem, Severity
from studio.core.text import fix_label, problem_message, problem_repair, problem_why, tr
from studio.view.pieces import Card, clear, severity_card, severity_role, severity_word, wrapped
from studio.view.theme import theme

_MARGIN_PX = 12


class ProblemCard(Card):
    """One problem. `fixed(Fix)` follows the click on a repair."""

    fixed = Signal(object)

    def __init__(self, problem: Problem) -> None:
        super().__init__(severity_card(problem.severity), _MARGIN_PX)
        self.problem = problem
        message, kind = problem_message(problem), severity_word(problem.severity)
        self.setAccessibleName(f"{kind}: {message}")
        self.column.setSpacing(theme().space_px // 2)
        self.column.addWidget(wrapped(kind, severity_role(problem.severity), is_bold=True))
        self.column.addWidget(wrapped(message, is_selectable=True))
        for words in (problem_why(problem), problem_repair(problem)):
            if words:
                self.column.addWidget(wrapped(words, "muted", is_selectable=True))
        for number, fix in enumerate(problem.fixes):
            teaches = tr("Changes the project so that this problem is gone. It can be undone.")
            made = self.add_button(fix_label(fix), teaches, partial(self._fix, fix))
            made.setObjectName(f"fix.{number}")

    def _fix(self, fix: Fix) -> None:
        self.fixed.emit(fix)

    def add_button(self, text: str, help: str, run: Callable[[], object]) -> QPushButton:
        """A further button: what else can be done about it."""
        made = QPushButton(text)
        made.setToolTip(help)
        made.setAccessibleName(text)
        made.clicked.connect(lambda _is_checked: run())
        self.column.addWidget(made)
        return made


class ProblemCards(QWidget):
    """Problems below one another, errors first. `fixed(Fix)` follows a click on a repair."""

    fixed = Signal(object)

    def __init__(self, most: int = 4) -> None:
        super().__init__()
        self._most = most
        self._shown: tuple[Problem, ...] | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme().space_px)
        self.show_problems(())

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show these, errors first, not more than fit."""
        ranked = tuple(sorted(problems, key=lambda p: p.severity is not Severity.ERROR))[: self._most]
        if ranked == self._shown:
            return
        self._shown = ranked
        clear(self._column)
        for problem in ranked:
            card = ProblemCard(problem)
            card.fixed.connect(self.fixed)
            self._column.addWidget(card)
        self.setVisible(bool(ranked))

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self._shown or ()
