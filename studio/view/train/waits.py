"""The bar that shows what each step of training waits for."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from studio.core.quantities import share_text
from studio.core.text import tr
from studio.view.pieces import Card, wrapped
from studio.view.plots.legend import Swatch
from studio.view.theme import set_role, theme
from studio.view.train.wording import WAIT_PARTS, wait_help, wait_label, waits_advice

_BAR_HEIGHT_PX = 16
_COLUMNS = 2


class WaitsBar(QWidget):
    """Shares of one step side by side."""

    def __init__(self) -> None:
        super().__init__()
        self._waits: Mapping[str, float] = {}
        self.setFixedHeight(_BAR_HEIGHT_PX)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("What each step waits for"))
        theme().changed.connect(self.update)

    def show_waits(self, waits: Mapping[str, float]) -> None:
        """Show these shares, by part."""
        if waits != self._waits:
            self._waits = waits
            told = (f"{wait_label(part)} {share_text(waits[part])}" for part in WAIT_PARTS if part in waits)
            self.setAccessibleDescription("; ".join(told))
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QPainterPath()
        outline.addRoundedRect(QRectF(self.rect()), 5, 5)
        painter.setClipPath(outline)
        painter.fillRect(self.rect(), theme().colour("sunken"))
        total = sum(self._waits.values())
        left = 0.0
        for number, part in enumerate(WAIT_PARTS):
            width = self._waits.get(part, 0.0) / total * self.width() if total > 0 else 0.0
            painter.fillRect(QRectF(left, 0, max(0.0, width - 1), self.height()), theme().series(number))
            left += width


class WaitsCard(Card):
    """The bar, the names of its parts, and one sentence of advice."""

    def __init__(self) -> None:
        super().__init__(margin_px=12)
        self.setObjectName("train.waits")
        teaches = tr("A step waits for pictures, moves them, computes forward and backward, and changes the weights.")
        self.setToolTip(teaches)
        self.column.addWidget(wrapped(tr("Where each step's time goes"), "heading"))
        self.bar = WaitsBar()
        self.bar.setToolTip(teaches)
        self.column.addWidget(self.bar)
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        self._values: dict[str, QLabel] = {}
        for number, part in enumerate(WAIT_PARTS):
            entry = QLabel(wait_label(part))
            entry.setToolTip(wait_help(part))
            set_role(entry, "muted")
            self._values[part] = entry
            place, column = divmod(number, _COLUMNS)
            grid.addWidget(Swatch(number, "area"), place, 2 * column)
            grid.addWidget(entry, place, 2 * column + 1)
            grid.setColumnStretch(2 * column + 1, 1)
        self.column.addLayout(grid)
        self.advice = wrapped("", "muted")
        self.column.addWidget(self.advice)
        self.column.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.show_waits({}, "")

    def show_waits(self, waits: Mapping[str, float], device: str) -> None:
        """Show the newest shares of a step on `device`."""
        self.bar.show_waits(waits)
        for part, entry in self._values.items():
            name = wait_label(part)
            entry.setText(tr("{name} {share}", name=name, share=f"{waits[part]:.0%}") if part in waits else name)
        self.advice.setText(waits_advice(waits, device))
