"""A curve as it is declared, and what is kept of it between two drawings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from studio.core.series import Series
from studio.view.plots.decimate import Decimator, Floats, Smoother, decimated

Style = Literal["line", "points", "dashed", "area"]


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve of a plot. `label` is translated already; `colour` is a number of `theme().series`.

    `is_smoothed` curves follow the smoothing control; "points" are few and marked one by one.
    """

    id: str
    label: str
    colour: int
    style: Style = "line"
    is_smoothed: bool = False


class CurveMemory:
    """The decimated forms of one curve; takes in only what is new since the last drawing."""

    def __init__(self) -> None:
        self.series = Series()
        self._taken = 0
        self._weight = 0.0
        self._last = (math.nan, math.nan)
        self._raw, self._smooth, self._smoother = Decimator(), Decimator(), Smoother(0.0)

    def take(self, series: Series, weight: float) -> None:
        """Bring the decimated forms up to `series`, smoothed by `weight` (0 is not at all)."""
        self.series = series
        if self._is_other(series):
            self._raw, self._taken = Decimator(), 0
            self._begin_smooth(weight)
        elif weight != self._weight:
            self._begin_smooth(weight)
            if weight:
                xs, ys = series.since(0)
                self._smooth.extend(xs[: self._taken], self._smoother.smoothed(ys[: self._taken]))
        xs, ys = series.since(self._taken)
        if not len(xs):
            return
        self._raw.extend(xs, ys)
        if weight:
            self._smooth.extend(xs, self._smoother.smoothed(ys))
        self._taken += len(xs)
        self._last = (xs[-1], ys[-1])

    def _begin_smooth(self, weight: float) -> None:
        self._smooth, self._smoother, self._weight = Decimator(), Smoother(weight), weight

    def _is_other(self, series: Series) -> bool:
        """Whether `series` is no continuation of what was taken: another run, or one that was cut and goes on."""
        if not self._taken:
            return False
        if len(series) < self._taken:
            return True
        xs, ys = series.since(self._taken - 1)
        return not all(_same(a, b) for a, b in zip(self._last, (xs[0], ys[0]), strict=True))

    def points(self, window: tuple[float, float] | None) -> tuple[Floats, Floats]:
        """What to draw of the values as they are: of all, or of a stretch of x in full detail."""
        return self._raw.points() if window is None else self._stretch(window, 0.0)

    def smooth_points(self, window: tuple[float, float] | None) -> tuple[Floats, Floats]:
        """The same of the smoothed values."""
        return self._smooth.points() if window is None else self._stretch(window, self._weight)

    def _stretch(self, window: tuple[float, float], weight: float) -> tuple[Floats, Floats]:
        if not len(self.series):
            return np.empty(0), np.empty(0)
        xs, ys = (np.frombuffer(column, dtype=np.float64) for column in self.series.since(0))
        if weight:
            ys = np.frombuffer(Smoother(weight).smoothed(ys.tolist()), dtype=np.float64)
        first = max(0, int(np.searchsorted(xs, window[0])) - 1)
        last = int(np.searchsorted(xs, window[1], side="right")) + 1
        return decimated(xs[first:last], ys[first:last])

    @property
    def odd_count(self) -> int:
        """How many values were not finite."""
        return self._raw.odd_count

    def nearest(self, x: float) -> tuple[float, float] | None:
        """The point of the curve whose x is nearest; None where there are no points."""
        return nearest_point(self.series, x)


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def nearest_point(series: Series, x: float) -> tuple[float, float] | None:
    """The point of `series` whose x is nearest to `x`; None where there are no points."""
    if not len(series):
        return None
    columns = series.since(0)
    xs = np.frombuffer(columns[0], dtype=np.float64)
    place = int(np.searchsorted(xs, x))
    if place == len(xs) or (place > 0 and x - xs[place - 1] <= xs[place] - x):
        place -= 1
    return columns[0][place], columns[1][place]


ValueText = Callable[[float], str]


def text_of(value: float, text: ValueText) -> str:
    """`text` of a finite value; "NaN" and "infinite" are said by their names."""
    if math.isnan(value):
        return "NaN"
    return text(value) if math.isfinite(value) else "∞"
