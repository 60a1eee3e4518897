"""Cards of the Train page: trouble with its repairs, how a run ended, and one number with its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from studio.core.problem import Fix, Problem, Severity
from studio.core.text import fix_label, problem_message, problem_repair, problem_why
from studio.view.elided import ElidedLabel
from studio.view.theme import set_role, theme


def label(text: str = "", role: str = "", *, is_selectable: bool = False) -> QLabel:
    """A wrapping label."""
    made = QLabel(text)
    made.setWordWrap(True)
    made.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        set_role(made, role)
    if is_selectable:
        made.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
    return made


def button(
    text: str, help: str, name: str, role: str = "", on_click: Callable[[], object] | None = None
) -> QPushButton:
    """A push button with its tooltip, accessible name and object name."""
    made = QPushButton(text)
    made.setToolTip(help)
    made.setAccessibleName(text.replace("&", ""))
    made.setAccessibleDescription(help)
    made.setObjectName(name)
    if role:
        set_role(made, role)
    if on_click is not None:
        made.clicked.connect(lambda _is_checked: on_click())
    return made


class Card(QFrame):
    """A framed column. `column` takes its content."""

    def __init__(self, role: str = "card", margin_px: int | None = None) -> None:
        super().__init__()
        set_role(self, role)
        margin = theme().space_px * 2 if margin_px is None else margin_px
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(margin, margin - 4, margin, margin - 4)
        self.column.setSpacing(theme().space_px)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)


class ProblemCard(Card):
    """One problem in words, with a button for each fix. `fixed(Fix)` follows a click."""

    fixed = Signal(object)

    def __init__(self, problem: Problem) -> None:
        super().__init__("card-error" if problem.severity is Severity.ERROR else "card-warning")
        self.problem = problem
        self.column.addWidget(label(problem_message(problem), is_selectable=True))
        aside = " ".join(part for part in (problem_why(problem), problem_repair(problem)) if part)
        if aside:
            self.column.addWidget(label(aside, "muted"))
        for number, fix in enumerate(problem.fixes):
            self.column.addWidget(self._fix_button(fix, number))

    def _fix_button(self, fix: Fix, number: int) -> QPushButton:
        text = fix_label(fix)
        return button(text, text, f"fix.{fix.code}.{number}", on_click=lambda: self.fixed.emit(fix))


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
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        for problem in ranked:
            card = ProblemCard(problem)
            card.fixed.connect(self.fixed)
            self._column.addWidget(card)
        self.setVisible(bool(ranked))

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self._shown or ()


class Tile(QFrame):
    """One number with its name above it and an aside below."""

    def __init__(self, name: str, help: str, object_name: str) -> None:
        super().__init__()
        set_role(self, "card")
        self.setObjectName(object_name)
        self.setToolTip(help)
        self._name = name
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(2)
        title = label(name, "muted")
        title.setWordWrap(False)
        self.value = QLabel("–")
        set_role(self.value, "title")
        self.aside = ElidedLabel()
        set_role(self.aside, "faint")
        for part in (title, self.value, self.aside):
            column.addWidget(part)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def show_value(self, value: str, aside: str = "") -> None:
        """Show the number as text with its unit; "" is shown as a dash."""
        if (self.value.text(), self.aside.text()) != (value or "–", aside):
            self.value.setText(value or "–")
            self.aside.setText(aside)
            self.setAccessibleName(f"{self._name}: {value or '–'}")
            self.setAccessibleDescription(aside)


def row(*widgets: QWidget, spacing_px: int = 8) -> QHBoxLayout:
    """Widgets side by side."""
    made = QHBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing_px)
    for widget in widgets:
        made.addWidget(widget)
    return made
