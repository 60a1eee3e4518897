"""What was found in the pictures, as cards: what, why it matters, what to do, and which files."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.core.problem import Problem
from studio.core.text import tr, trn
from studio.view.pieces import clear, wrapped
from studio.view.problemcard import ProblemCard


class FindingCard(ProblemCard):
    """A problem of pictures. `show_files(problem)` follows the button that shows which ones."""

    show_files = Signal(object)

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        if problem.files:
            text = trn(len(problem.files), "Show the file", "Show the {n} files")
            teaches = tr("Shows only these pictures in the grid.")
            made = self.add_button(text, teaches, lambda: self.show_files.emit(problem))
            made.setObjectName(f"finding.{problem.code}.show")


class Findings(QWidget):
    """All findings, worst first; one calm sentence where there is none."""

    show_files = Signal(object)
    fix_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._shown: tuple[Problem, ...] | None = None

    def show_problems(self, problems: tuple[Problem, ...], empty_text: str) -> None:
        key = problems if problems else (Problem(empty_text),)
        if key == self._shown:
            return
        self._shown = key
        clear(self._column)
        for problem in problems:
            card = FindingCard(problem)
            card.show_files.connect(self.show_files)
            card.fixed.connect(self.fix_wanted)
            self._column.addWidget(card)
        if not problems and empty_text:
            self._column.addWidget(wrapped(empty_text, "muted"))
        self._column.addStretch(1)
