"""Whether memory grows without end: judged on the lower envelope of windows, in both halves, after the warm-up.

A sawtooth of every epoch, a cache that fills, a warm-up and an allocator that creeps are not endless growth: their
lower envelope is level, or its slope dies away. Growth says nothing of its cause; naming an owner is another matter.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

GrowthKind = Literal["too_short", "level", "settling", "growing"]

# The first fifth of a run holds lazy imports, autotuning and caches that fill.
_WARM_UP_SHARE = 0.2
# Twelve windows give each half six minima: enough for a slope that one odd window cannot turn.
_WINDOWS = 12
_SAMPLES_PER_WINDOW = 3
# An endless leak rises as fast late as early. A logarithmic creep over these halves has a ratio of 0.46 and a ring
# that fills at three quarters of the run about one half, so 0.6 tells both from a straight line.
_LATE_TO_EARLY = 0.6
# Allocators hand out whole pages and arenas: less than this in the whole run cannot be told from their steps.
_LEAST_RISE_BYTES = 1024**2
_LEAST_RISE_SHARE = 0.005
# A staircase of one step an epoch stands still in between: with six epochs, 5 of the 11 windows rise.
_LEAST_RISING_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Growth:
    """A judgement of one curve. Slopes are bytes per unit of x; `early` and `late` are those of the halves."""

    kind: GrowthKind
    slope: float = 0.0
    early: float = 0.0
    late: float = 0.0
    rise_bytes: float = 0.0
    windows: tuple[tuple[float, float], ...] = ()


def judge(xs: Sequence[float], values: Sequence[float]) -> Growth:
    """Whether `values` (bytes) grow along `xs` (steps or seconds, not falling) with no end in sight."""
    windows = lower_envelope(xs, values)
    if len(windows) < _WINDOWS:
        return Growth("too_short", windows=windows)
    half = len(windows) // 2
    slope, early, late = (_slope(part) for part in (windows, windows[:half], windows[half:]))
    lows = [low for _x, low in windows]
    rise = statistics.median(lows[-3:]) - statistics.median(lows[:3])
    rising = sum(after > before for before, after in pairwise(lows)) / (len(lows) - 1)
    is_large = rise >= max(_LEAST_RISE_BYTES, _LEAST_RISE_SHARE * statistics.median(lows))
    kind: GrowthKind
    if not is_large or slope <= 0:
        kind = "level"
    elif _goes_on(early, late) and _last_third_rises(windows, slope) and rising >= _LEAST_RISING_SHARE:
        kind = "growing"
    else:
        kind = "settling"
    return Growth(kind, slope, early, late, rise, windows)


def lower_envelope(xs: Sequence[float], values: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """The lowest point of each of twelve equal stretches of x after the warm-up; fewer where samples are missing."""
    if len(xs) < 2 or xs[-1] <= xs[0]:
        return ()
    begin = xs[0] + _WARM_UP_SHARE * (xs[-1] - xs[0])
    width = (xs[-1] - begin) / _WINDOWS
    held: list[list[tuple[float, float]]] = [[] for _ in range(_WINDOWS)]
    for x, value in zip(xs, values, strict=True):
        if x >= begin:
            held[min(_WINDOWS - 1, int((x - begin) / width))].append((x, value))
    return tuple(min(points, key=lambda point: point[1]) for points in held if len(points) >= _SAMPLES_PER_WINDOW)


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes of all pairs (Theil 1950, Sen 1968): one odd point in four does not turn it."""
    slopes = [(y2 - y1) / (x2 - x1) for n, (x1, y1) in enumerate(points) for x2, y2 in points[n + 1 :] if x2 > x1]
    return statistics.median(slopes) if slopes else 0.0


def _goes_on(early: float, late: float) -> bool:
    return early > 0 and late >= _LATE_TO_EARLY * early


def _last_third_rises(windows: Sequence[tuple[float, float]], slope: float) -> bool:
    """Whether the end still rises at about the pace of the whole: a ring that filled late is level there."""
    return _slope(windows[-len(windows) // 3 :]) >= 0.5 * slope
