"""A problem in place: what is wrong, why it matters, and buttons that mend it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.core.problem import Fix, Problem, Severity
from studio.core.text import fix_label, problem_message, problem_repair, problem_why, tr
from studio.view.theme import set_role, theme


class TroubleCard(QFrame):
    """One problem. `apply` is given the fix whose button was pressed; `more` are further buttons, label and deed."""

    def __init__(
        self,
        problem: Problem,
        apply: Callable[[Fix], None],
        more: tuple[tuple[str, Callable[[], None]], ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.problem = problem
        set_role(self, "card-error" if problem.severity is Severity.ERROR else "card-warning")
        message = problem_message(problem)
        self.setAccessibleName(message)
        column = QVBoxLayout(self)
        column.setSpacing(theme().space_px // 2)
        column.addWidget(wrapped(message, "error" if problem.severity is Severity.ERROR else "warning", bold=True))
        for words in (problem_why(problem), problem_repair(problem)):
            if words:
                column.addWidget(wrapped(words, ""))
        for number, fix in enumerate(problem.fixes):
            button = _button(fix_label(fix), partial(apply, fix))
            button.setObjectName(f"network.fix.{number}")
            button.setToolTip(tr("Changes the project so that this problem is gone. It can be undone."))
            column.addWidget(button)
        for label, deed in more:
            column.addWidget(_button(label, deed))


def wrapped(text: str, role: str, *, bold: bool = False) -> QLabel:
    """A label that breaks its lines."""
    label = QLabel(text)
    label.setWordWrap(True)
    if bold:
        label.setFont(theme().font(bold=True))
    set_role(label, role)
    return label


def _button(label: str, deed: Callable[[], None]) -> QPushButton:
    button = QPushButton(label)
    button.setAccessibleName(label)

    def on_clicked() -> None:  # without the "checked" that the signal carries
        deed()

    button.clicked.connect(on_clicked)
    return button
