"""Few points for long curves: the lowest and the highest of each bucket, kept while the curve grows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# About two points for each pixel column of a usual plot; more cannot be seen.
MOST_POINTS = 600
_MOST_BUCKETS = MOST_POINTS // 2


class Decimator:
    """A growing curve in at most `MOST_POINTS` points that keeps every peak and dip.

    Points are gathered in buckets of equal size; when there are too many buckets, neighbours are merged and the size
    doubles, so that each added point costs a constant amount. Values that are not finite are counted, not drawn.
    """

    def __init__(self) -> None:
        self._low_x, self._low_y = array("d"), array("d")
        self._high_x, self._high_y = array("d"), array("d")
        self._bucket_size = 1
        self._held = 0
        self.count = 0
        self.odd_count = 0

    def extend(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """Take in more points; x does not fall."""
        for x, y in zip(xs, ys, strict=True):
            self.count += 1
            if not math.isfinite(y):
                self.odd_count += 1
                continue
            if self._held in (0, self._bucket_size):
                self._open(x, y)
            else:
                self._add(x, y)

    def _open(self, x: float, y: float) -> None:
        if len(self._low_x) == _MOST_BUCKETS:
            self._merge()
        for column, value in ((self._low_x, x), (self._high_x, x), (self._low_y, y), (self._high_y, y)):
            column.append(value)
        self._held = 1

    def _add(self, x: float, y: float) -> None:
        if y < self._low_y[-1]:
            self._low_x[-1], self._low_y[-1] = x, y
        if y >= self._high_y[-1]:
            self._high_x[-1], self._high_y[-1] = x, y
        self._held += 1

    def _merge(self) -> None:
        """Join each pair of full buckets."""
        for xs, ys, is_better in (
            (self._low_x, self._low_y, float.__lt__),
            (self._high_x, self._high_y, float.__ge__),
        ):
            for place in range(len(xs) // 2):
                left, right = 2 * place, 2 * place + 1
                best = right if is_better(ys[right], ys[left]) else left
                xs[place], ys[place] = xs[best], ys[best]
            del xs[len(xs) // 2 :], ys[len(ys) // 2 :]
        self._bucket_size *= 2

    def points(self) -> tuple[Floats, Floats]:
        """x and y to draw, in order of x."""
        return _interleaved(*(np.array(c) for c in (self._low_x, self._low_y, self._high_x, self._high_y)))


def _interleaved(low_x: Floats, low_y: Floats, high_x: Floats, high_y: Floats) -> tuple[Floats, Floats]:
    """Low and high of each bucket in the order in which they came; one point where they are the same."""
    is_low_first = low_x <= high_x
    xs, ys = np.empty(2 * len(low_x)), np.empty(2 * len(low_x))
    xs[0::2], xs[1::2] = np.where(is_low_first, low_x, high_x), np.where(is_low_first, high_x, low_x)
    ys[0::2], ys[1::2] = np.where(is_low_first, low_y, high_y), np.where(is_low_first, high_y, low_y)
    is_new = np.ones(len(xs), dtype=bool)
    is_new[1::2] = low_x != high_x
    return xs[is_new], ys[is_new]


def decimated(xs: Floats, ys: Floats, most_points: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """The same for a curve, or a stretch of one, that is there at once."""
    is_finite = np.isfinite(ys)
    xs, ys = xs[is_finite], ys[is_finite]
    if len(xs) <= most_points:
        return xs, ys
    starts = np.linspace(0, len(xs), most_points // 2, endpoint=False).astype(np.int64)
    ends = np.append(starts[1:], len(xs))
    lows = np.array([start + int(ys[start:end].argmin()) for start, end in zip(starts, ends, strict=True)])
    highs = np.array([start + int(ys[start:end].argmax()) for start, end in zip(starts, ends, strict=True)])
    return _interleaved(xs[lows], ys[lows], xs[highs], ys[highs])


class Smoother:
    """An exponential moving average, with the first values' bias taken out (Kingma and Ba 2015, section 3).

    `weight` from 0 (nothing) to below 1 is the share of the past. Values that are not finite are passed over.
    """

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self._mean = 0.0
        self._mass = 0.0

    def smoothed(self, values: Sequence[float]) -> array[float]:
        """The average after each of the next values."""
        result = array("d")
        weight, mean, mass = self.weight, self._mean, self._mass
        for value in values:
            if math.isfinite(value):
                mean = weight * mean + (1 - weight) * value
                mass = weight * mass + (1 - weight)
                result.append(mean / mass)
            else:
                result.append(math.nan)
        self._mean, self._mass = mean, mass
        return result
