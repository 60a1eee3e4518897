"""One number with its name."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout

from studio.view.elided import ElidedLabel
from studio.view.pieces import wrapped
from studio.view.theme import set_role


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
        title = wrapped(name, "muted")
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
