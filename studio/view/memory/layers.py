"""What each line and area of a memory plot means, in words, with its newest value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from studio.core.quantities import size_text
from studio.memory.timeline import Layer
from studio.view.pieces import wrapped
from studio.view.plots.curves import Style
from studio.view.plots.legend import Swatch


class LayerLegend(QWidget):
    """A row for each layer: its form in the plot, name, newest value and explanation."""

    def __init__(self, looks: Mapping[str, tuple[int, Style]]) -> None:
        super().__init__()
        self._looks = looks
        self.values: dict[str, QLabel] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(3, 1)

    @property
    def ids(self) -> tuple[str, ...]:
        """The layers that have a row."""
        return tuple(self.values)

    def show_layers(self, layers: Sequence[Layer]) -> None:
        """Make a row for each layer that has none yet."""
        top = Qt.AlignmentFlag.AlignTop
        for layer in layers:
            if layer.id in self.values:
                continue
            row = len(self.values)
            value = self.values[layer.id] = QLabel("")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            name = QLabel(layer.label)
            for widget in (name, value):
                widget.setToolTip(layer.explanation)
            self._grid.addWidget(Swatch(*self._looks[layer.id]), row, 0, top)
            self._grid.addWidget(name, row, 1, top)
            self._grid.addWidget(value, row, 2, top)
            self._grid.addWidget(wrapped(layer.explanation, "muted"), row, 3, top)

    def show_values(self, values: Mapping[str, float | None]) -> None:
        """Show the newest bytes of each layer."""
        for name, value in values.items():
            if name in self.values and value is not None:
                self.values[name].setText(size_text(value))
