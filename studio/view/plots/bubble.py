"""The small card beside a plot's cursor that shows the values there."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QWidget

from studio.view.theme import set_role, theme

_GAP_PX = 14


class Bubble(QLabel):
    """Lies over the plot and lets the mouse through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._holder = parent
        self.setObjectName("plot.bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setMargin(6)
        self.setVisible(False)
        set_role(self, "card")

    def show_values(self, heading: str, rows: Sequence[tuple[int, str, str]], place: QPoint) -> None:
        """Show rows of (series colour, text, aside) beside `place` of the parent, on the side that has room."""
        muted = theme().colour("muted").name()
        lines = [f"<b>{escape(heading)}</b>"]
        for colour, text, aside in rows:
            line = f"<span style='color:{theme().series(colour).name()}'>■</span> {escape(text)}"
            lines.append(f"{line} <span style='color:{muted}'>{escape(aside)}</span>" if aside else line)
        self.setText("<br>".join(lines))
        self.adjustSize()
        parent = self._holder
        has_room = place.x() + _GAP_PX + self.width() <= parent.width()
        left = place.x() + _GAP_PX if has_room else place.x() - _GAP_PX - self.width()
        self.move(max(0, left), max(0, min(place.y(), parent.height() - self.height())))
        self.setVisible(True)
        self.raise_()
