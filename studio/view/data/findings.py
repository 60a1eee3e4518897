"""What was found in the pictures, as cards: what, why it matters, what to do, and which files."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.core.problem import Problem, Severity
from studio.core.text import fix_label, problem_message, problem_repair, problem_why, tr, trn
from studio.view.theme import set_role

_ROLES = {Severity.ERROR: "card-error", Severity.WARNING: "card-warning", Severity.INFO: "card"}


def severity_word(severity: Severity) -> str:
    """The severity in words, so that colour is never the only sign."""
    match severity:
        case Severity.ERROR:
            return tr("Error")
        case Severity.WARNING:
            return tr("Warning")
        case Severity.INFO:
            return tr("Note")


def wrapped(text: str, role: str = "") -> QLabel:
    """A label that wraps and can be selected."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role:
        label.setProperty("role", role)
    return label


class FindingCard(QFrame):
    """One problem. `show_files(problem)` and `fix_wanted(fix)` follow its buttons."""

    show_files = Signal(object)
    fix_wanted = Signal(object)

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.problem = problem
        self.setProperty("role", _ROLES[problem.severity])
        self.setAccessibleName(severity_word(problem.severity) + ": " + problem_message(problem))
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(4)
        kind = QLabel(severity_word(problem.severity))
        kind.setProperty("role", {"error": "error", "warning": "warning"}.get(problem.severity.value, "faint"))
        column.addWidget(kind)
        column.addWidget(wrapped(problem_message(problem)))
        for text in (problem_why(problem), problem_repair(problem)):
            if text:
                column.addWidget(wrapped(text, "muted"))
        for fix in problem.fixes:
            button = QPushButton(fix_label(fix))
            button.clicked.connect(lambda _=False, fix=fix: self.fix_wanted.emit(fix))
            column.addWidget(button)
        if problem.files:
            count = len(problem.files)
            button = QPushButton(trn(count, "Show the file", "Show the {n} files"))
            button.setToolTip(tr("Shows only these pictures in the grid."))
            button.setObjectName(f"finding.{problem.code}.show")
            button.clicked.connect(lambda: self.show_files.emit(problem))
            column.addWidget(button, alignment=Qt.AlignmentFlag.AlignLeft)


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
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for problem in problems:
            card = FindingCard(problem)
            card.show_files.connect(self.show_files)
            card.fix_wanted.connect(self.fix_wanted)
            self._column.addWidget(card)
        if not problems and empty_text:
            label = wrapped(empty_text)
            set_role(label, "muted")
            self._column.addWidget(label)
        self._column.addStretch(1)
