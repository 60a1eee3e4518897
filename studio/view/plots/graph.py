"""The drawn part of a plot: axes, curves, marks and pins over pyqtgraph, in the theme's colours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF

from studio.view.plots.curves import Curve, CurveMemory
from studio.view.plots.decimate import Floats
from studio.view.plots.ranges import Reach, Unit, round_down, round_up, round_up_bytes
from studio.view.plots.toolkit import axis_class, graph_class, pyqtgraph
from studio.view.theme import theme

_FAINT = 0.4
# A little more than the range, so that a tick at its very end is not lost to rounding.
_AIR = 0.005
# A level curve must not lie on the frame.
_HEADROOM = 1.04
# Room for half of the last tick's label.
_RIGHT_MARGIN_PX = 20
_TOP_MARGIN_PX = 8
_AREA = 0.42
# pyqtgraph draws axes, and with them the grid, over the curves; a level curve would vanish below a grid line.
_BELOW_CURVES = -1000
_MOST_SYMBOLS = 120
# A logarithmic axis over more decades than this shows only the highest ones: a single zero-like value is no reason
# to squeeze the whole curve into a line.
_MOST_DECADES = 6.0


@dataclass(frozen=True, slots=True)
class AxisSpec:
    """What an axis measures. `least` is the smallest upper end, `most` a fixed one (1 for shares)."""

    quantity: Unit
    text: Callable[[float], str]
    least: float = 0.0
    most: float | None = None


def blend(colour: QColor, ground: QColor, share: float) -> QColor:
    """`colour` at `share` over `ground`, opaque: blending is done once, here, and not for each pixel of each frame."""
    pairs = zip(
        (colour.red(), colour.green(), colour.blue()), (ground.red(), ground.green(), ground.blue()), strict=True
    )
    return QColor(*(round(over * share + under * (1 - share)) for over, under in pairs))


class Graph:
    """Holds the pyqtgraph widget; made when its plot is first shown."""

    def __init__(self, curves: Sequence[Curve], x: AxisSpec, y: AxisSpec, *, marks_name: str) -> None:
        pg = pyqtgraph()
        self._x, self._y = x, y
        self._bottom = axis_class()("bottom", x.quantity, x.text)
        self._left = axis_class()("left", y.quantity, y.text)
        axes = {"bottom": self._bottom, "left": self._left}
        self._top: Any = None
        if marks_name:
            self._top = axes["top"] = axis_class()("top", "number", str)
            self._top.fixed, self._top.marks_name = (), marks_name
        self.widget: Any = graph_class()(axisItems=axes)
        self._item: Any = self.widget.getPlotItem()
        self.view: Any = self._item.getViewBox()
        self._item.setMenuEnabled(False)
        self._item.hideButtons()
        self._item.layout.setContentsMargins(0, 0 if marks_name else _TOP_MARGIN_PX, _RIGHT_MARGIN_PX, 0)
        self.view.setMouseEnabled(x=True, y=False)
        self.view.setDefaultPadding(0.0)
        self._reach_x = Reach(least=x.least)
        self._reach_y = Reach(round_up_bytes if y.quantity == "bytes" else round_up, y.least)
        self._declared = {curve.id: curve for curve in curves}
        self._raw: dict[str, Any] = {}
        self._smooth: dict[str, Any] = {}
        self._dots: dict[str, Any] = {}
        for curve in curves:
            self._raw[curve.id] = self._added(pg.PlotCurveItem(), 1)
            if curve.is_smoothed:
                self._smooth[curve.id] = self._added(pg.PlotCurveItem(), 2)
            if curve.style == "points":
                self._dots[curve.id] = self._added(pg.ScatterPlotItem(size=7, pxMode=True), 3)
        self.cursor: Any = pg.InfiniteLine(angle=90, movable=False)
        self.cursor.setZValue(20)
        self.cursor.setVisible(False)
        self._item.addItem(self.cursor, ignoreBounds=True)
        self._pins: list[Any] = []
        self.is_log = False
        self._is_zoomed = False
        self._ranges: dict[str, tuple[float, float, float]] = {}
        self._drawn_dots: dict[str, tuple[Floats, Floats]] = {}
        self._is_smoothing: dict[str, bool] = {}
        self.use_colours()

    def _added(self, item: Any, height: int) -> Any:
        item.setZValue(height)
        self._item.addItem(item)
        return item

    def use_colours(self) -> None:
        """Take the theme's colours and the font's size."""
        pg, colours = pyqtgraph(), theme()
        ground = colours.colour("surface")
        self.widget.setBackground(ground)
        font = colours.font("small_text")
        metrics = QFontMetricsF(font)
        em_px, line_px = metrics.horizontalAdvance("0"), metrics.height()
        for axis in (self._bottom, self._left, *([self._top] if self._top else [])):
            axis.em_px = em_px * 1.2
            axis.setZValue(_BELOW_CURVES)
            axis.setStyle(tickFont=font, tickLength=-4, maxTickLevel=1, hideOverlappingLabels=False)
            axis.setPen(pg.mkPen(colours.colour("line")))
            axis.setTextPen(pg.mkPen(colours.colour("muted")))
            axis.setTickPen(pg.mkPen(colours.colour("grid")))
            if axis is not self._left:
                axis.setHeight(round(line_px * 1.2) + 4)
        self._left.setGrid(255)
        self._left.setWidth(round(em_px * 9))
        if self._top:
            self._top.setGrid(255)
            self._top.setTickPen(pg.mkPen(colours.colour("line"), style=Qt.PenStyle.DashLine))
        self.cursor.setPen(pg.mkPen(colours.colour("muted")))
        for curve in self._declared.values():
            self._colour_curve(curve, ground)

    def _colour_curve(self, curve: Curve, ground: QColor) -> None:
        pg, colour = pyqtgraph(), theme().series(curve.colour)
        pattern = Qt.PenStyle.DashLine if curve.style == "dashed" else Qt.PenStyle.SolidLine
        pen = pg.mkPen(colour, width=1, style=pattern)
        faint = pg.mkPen(blend(colour, ground, _FAINT), width=1)
        self._raw[curve.id].setPen(faint if self._is_smoothing.get(curve.id) else pen)
        if curve.style == "area":
            self._raw[curve.id].setBrush(pg.mkBrush(blend(colour, ground, _AREA)))
            self._raw[curve.id].setFillLevel(0.0)
        if curve.id in self._smooth:
            self._smooth[curve.id].setPen(pen)
        if curve.id in self._dots:
            self._dots[curve.id].setPen(pg.mkPen(None))
            self._dots[curve.id].setBrush(pg.mkBrush(colour))

    @property
    def is_zoomed(self) -> bool:
        """Whether the person has chosen what is seen; the ranges are then left alone."""
        return self._is_zoomed

    @is_zoomed.setter
    def is_zoomed(self, is_zoomed: bool) -> None:
        self._is_zoomed = is_zoomed
        self._ranges.clear()

    def draw(self, memories: dict[str, CurveMemory], weight: float, x_end: float | None) -> None:
        """Draw every curve, and the ranges unless the person has zoomed."""
        window = self.window() if self.is_zoomed else None
        smoothing = {name: bool(weight) and curve.is_smoothed for name, curve in self._declared.items()}
        if smoothing != self._is_smoothing:
            self._is_smoothing = smoothing
            self.use_colours()
        seen: list[Floats] = []
        last_x = 0.0
        for name, memory in memories.items():
            xs, ys = self._shown(*memory.points(window))
            self._raw[name].setData(xs, ys, skipFiniteCheck=True)
            if name in self._smooth:
                smooth = memory.smooth_points(window) if smoothing[name] else (xs[:0], ys[:0])
                self._smooth[name].setData(*(self._shown(*smooth) if smoothing[name] else smooth), skipFiniteCheck=True)
            if name in self._dots:
                self._draw_dots(name, xs, ys)
            seen.append(ys if window is None else ys[(xs >= window[0]) & (xs <= window[1])])
            last_x = max(last_x, memory.series.last_x or 0.0)
        self._fit(np.concatenate(seen) if seen else np.empty(0), last_x, x_end)

    def _draw_dots(self, name: str, xs: Floats, ys: Floats) -> None:
        """Symbols of few points; they come once an epoch, and setting them anew costs more than all of the curve."""
        if len(xs) > _MOST_SYMBOLS:
            xs, ys = xs[:0], ys[:0]
        drawn = self._drawn_dots.get(name)
        if drawn is None or not (np.array_equal(drawn[0], xs) and np.array_equal(drawn[1], ys, equal_nan=True)):
            self._drawn_dots[name] = (xs, ys)
            self._dots[name].setData(xs, ys)

    def _shown(self, xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
        """The points in the axis's coordinates; a logarithm has no place for zero and below."""
        if not self.is_log:
            return xs, ys
        is_positive = ys > 0
        return xs[is_positive], np.log10(ys[is_positive])

    def _fit(self, ys: Floats, last_x: float, x_end: float | None) -> None:
        if not self.is_zoomed:
            self._set_range("x", 0.0, self._reach_x.cover(last_x, x_end), _AIR)
        if self.is_log:
            low, high = (float(ys.min()), float(ys.max())) if len(ys) else (-1.0, 0.0)
            low = max(low, high - _MOST_DECADES)
            top = math.log10(round_up(10.0**high))
            self._set_range("y", min(math.log10(round_down(10.0**low)), top - 0.5), top, 0.0)
            return
        low, high = (float(ys.min()), float(ys.max())) if len(ys) else (0.0, 0.0)
        top = self._y.most if self._y.most is not None else self._reach_y.cover(high * _HEADROOM)
        bottom = 0.0 if low >= 0 else -round_up(-low)
        self._set_range("y", bottom, max(top, bottom + 1e-9), 4 * _AIR)

    def _set_range(self, axis: str, low: float, high: float, padding: float) -> None:
        """Set a range that is not set already: pyqtgraph lays out anew at every call."""
        if self._ranges.get(axis) != (low, high, padding):
            self._ranges[axis] = (low, high, padding)
            (self.view.setXRange if axis == "x" else self.view.setYRange)(low, high, padding=padding)

    def window(self) -> tuple[float, float]:
        """The range of x on the screen."""
        low, high = self.view.viewRange()[0]
        return float(low), float(high)

    def zoom(self, low: float, high: float) -> None:
        """Show this stretch of x."""
        if high > low:
            self.is_zoomed = True
            self.view.setXRange(max(0.0, low), high, padding=0.0)

    def set_log(self, is_log: bool) -> None:
        """Draw the logarithm of the values, or the values."""
        self.is_log = self._left.is_log = is_log
        self._left.picture = None
        self._left.update()

    def show_marks(self, marks: Iterable[tuple[float, str]]) -> None:
        """Dashed lines across the plot with their names above it."""
        if self._top is not None:
            self._top.fixed = tuple(marks)
            self._top.picture = None
            self._top.update()

    @property
    def marks(self) -> tuple[tuple[float, str], ...]:
        """The marks that are shown."""
        return self._top.fixed if self._top is not None else ()

    def show_pins(self, pins: Iterable[tuple[float, str]]) -> None:
        """Named lines that a person has set."""
        pg, colour = pyqtgraph(), theme().colour("accent")
        for item in self._pins:
            self._item.removeItem(item)
        options = {"position": 0.9, "color": theme().colour("accent_text"), "fill": colour}
        self._pins = [
            pg.InfiniteLine(x, angle=90, movable=False, pen=pg.mkPen(colour), label=name, labelOpts=options)
            for x, name in pins
        ]
        for item in self._pins:
            item.setZValue(10)
            self._item.addItem(item, ignoreBounds=True)

    def x_at(self, place: QPointF) -> float | None:
        """The x below a place of the widget; None outside the plotted field."""
        scene = self.widget.mapToScene(place.toPoint())
        if not self.view.sceneBoundingRect().contains(scene):
            return None
        return float(self.view.mapSceneToView(scene).x())

    def place_of(self, x: float) -> float:
        """Where this x lies in the widget, in pixels from its left."""
        scene = self.view.mapViewToScene(QPointF(x, 0.0))
        return float(self.widget.mapFromScene(scene).x())

    def drawn(self, id: str) -> tuple[Floats, Floats]:
        """The points of a curve on the screen, in the axis's coordinates."""
        xs, ys = self._raw[id].getData()
        return (np.empty(0), np.empty(0)) if xs is None else (xs, ys)
