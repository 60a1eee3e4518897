"""The small building pieces of every page: wrapping texts, buttons, cards, rows, and the look of a severity."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from studio.core.problem import Severity
from studio.core.text import tr
from studio.view.theme import set_role, theme
from studio.view.workspace import PageStatus


def wrapped(text: str = "", role: str = "", *, is_selectable: bool = False, is_bold: bool = False) -> QLabel:
    """A label of plain text that breaks its lines."""
    made = QLabel(text)
    made.setWordWrap(True)
    made.setTextFormat(Qt.TextFormat.PlainText)
    if is_bold:
        made.setFont(theme().font(bold=True))
    if role:
        set_role(made, role)
    if is_selectable:
        made.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
    return made


def button(text: str, help: str, name: str, run: Callable[[], object] | None = None, role: str = "") -> QPushButton:
    """A push button with its sentence, its object name, and what it does."""
    made = QPushButton(text)
    made.setToolTip(help)
    made.setAccessibleName(text.replace("&", ""))
    made.setAccessibleDescription(help)
    made.setObjectName(name)
    if role:
        set_role(made, role)
    if run is not None:
        made.clicked.connect(lambda _is_checked: run())
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


def card(title: str, *content: QWidget | QLayout) -> Card:
    """A framed part of a page with its heading; it takes the room that there is."""
    made = Card()
    made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    made.column.addWidget(wrapped(title, "heading"))
    for part in content:
        if isinstance(part, QWidget):
            made.column.addWidget(part)
        else:
            made.column.addLayout(part)
    return made


def framed(content: QWidget) -> Card:
    """A card around one thing that takes all the room, as a plot does."""
    made = Card(margin_px=12)
    made.column.addWidget(content, 1)
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
    return made


def row(*widgets: QWidget, spacing_px: int = 8) -> QHBoxLayout:
    """Widgets side by side."""
    made = QHBoxLayout()
    made.setContentsMargins(0, 0, 0, 0)
    made.setSpacing(spacing_px)
    for widget in widgets:
        made.addWidget(widget)
    return made


def clear(layout: QLayout) -> None:
    """Take everything out of `layout` and delete it."""
    while (item := layout.takeAt(0)) is not None:
        take_out(item.widget())


def take_out(widget: QWidget | None) -> None:
    """Remove a widget now; it is deleted once the event in hand is over."""
    if widget is not None:
        widget.hide()
        widget.setParent(None)
        widget.deleteLater()


def severity_word(severity: Severity) -> str:
    """The severity in words, so that colour is never the only sign."""
    match severity:
        case Severity.ERROR:
            return tr("Error")
        case Severity.WARNING:
            return tr("Warning")
        case Severity.INFO:
            return tr("Note")


def severity_status(severity: Severity) -> PageStatus:
    """The shape of a severity, the same as in the rail."""
    match severity:
        case Severity.ERROR:
            return PageStatus.ERROR
        case Severity.WARNING:
            return PageStatus.WARNING
        case Severity.INFO:
            return PageStatus.NOTHING


def severity_card(severity: Severity) -> str:
    """The role of a card that tells of it."""
    match severity:
        case Severity.ERROR:
            return "card-error"
        case Severity.WARNING:
            return "card-warning"
        case Severity.INFO:
            return "card"


def severity_role(severity: Severity) -> str:
    """The role of words that name it."""
    match severity:
        case Severity.ERROR:
            return "error"
        case Severity.WARNING:
            return "warning"
        case Severity.INFO:
            return "faint"
