"""pyqtgraph, imported when the first plot is shown, and the two classes of it that are made to measure here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QWheelEvent

from studio.view.plots.ranges import Unit, ticks

_LEAST_TICK_WIDTH_EMS = 7.0
_LEAST_TICK_HEIGHT_EMS = 2.0
_MOST_TICKS = (10, 6)
_USUAL_PX = (320, 150)
_LEAST_PX = (160, 100)


@cache
def pyqtgraph() -> Any:
    """The library, with antialiasing off: it makes wide curves more than a hundred times slower."""
    import pyqtgraph as pg

    pg.setConfigOptions(antialias=False)
    return pg


@cache
def axis_class() -> Any:
    """A `pyqtgraph.AxisItem` with round ticks for its unit, and labels made by a function of the value."""
    pg: Any = pyqtgraph()

    class Axis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no type hints
        def __init__(self, orientation: str, unit: Unit, text: Callable[[float], str]) -> None:
            super().__init__(orientation)
            self.enableAutoSIPrefix(False)
            self.unit, self.text = unit, text
            self.is_log = False
            self.fixed: Sequence[tuple[float, str]] | None = None
            self.marks_name = ""
            self.em_px = 12.0

        def boundingRect(self) -> QRectF:
            """With room for half a label at each end, which pyqtgraph leaves out where there is a grid."""
            slack_px = 4 * self.em_px
            rect: QRectF = super().boundingRect()
            return rect.adjusted(-slack_px, -slack_px, slack_px, slack_px)

        def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
            low, high = sorted((minVal, maxVal))
            is_level = self.orientation in ("bottom", "top")
            room_px = self.em_px * (_LEAST_TICK_WIDTH_EMS if is_level else _LEAST_TICK_HEIGHT_EMS)
            most = min(max(2, int(size / room_px)), _MOST_TICKS[0 if is_level else 1])
            if self.fixed is not None:
                return [(0.0, _thinned([x for x, _ in self.fixed if low <= x <= high], 2 * most))]
            if self.is_log:
                return [(0.0, log_ticks(low, high, most))]
            values = ticks(low, high, most, self.unit)
            return [(values[1] - values[0] if len(values) > 1 else 1.0, values)]

        def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
            if self.fixed is not None:
                names = dict(self.fixed)
                shown = [names.get(value, "") for value in values]
                # The first mark says what all of them are.
                return [f"{self.marks_name} {shown[0]}", *shown[1:]] if shown else []
            return [self.text(10.0**value if self.is_log else value) for value in values]

    return Axis


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Ticks for an axis that holds logarithms to base 10: decades, with 2 and 5 between them where there is room."""
    decades = range(math.floor(low) - 1, math.ceil(high) + 1)
    for between in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 3, 5), (1, 2, 5), (1,)):
        values = [d + math.log10(m) for d in decades for m in between]
        values = [value for value in values if low - 1e-9 <= value <= high + 1e-9]
        if len(values) <= most:
            return values
    return _thinned(values, most)


def _thinned(values: list[float], most: int) -> list[float]:
    """Every n-th, n a round number, so that at most `most` are left."""
    every = next((n * 10**p for p in range(9) for n in (1, 2, 5) if len(values) <= most * n * 10**p), len(values))
    return values[every - 1 :: every]


@cache
def graph_class() -> Any:
    """A `pyqtgraph.PlotWidget` that leaves the wheel to the page unless it has the focus."""
    pg: Any = pyqtgraph()

    class Graph(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no type hints
        def sizeHint(self) -> QSize:
            return QSize(_USUAL_PX[0], _USUAL_PX[1])

        def minimumSizeHint(self) -> QSize:
            return QSize(_LEAST_PX[0], _LEAST_PX[1])

        def wheelEvent(self, event: QWheelEvent) -> None:
            is_meant = self.hasFocus() or event.modifiers() & Qt.KeyboardModifier.ControlModifier
            if is_meant:
                super().wheelEvent(event)
            else:
                event.ignore()

    return Graph
