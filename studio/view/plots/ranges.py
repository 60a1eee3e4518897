"""Ranges that grow in steps, and round ticks for numbers, counts, bytes and durations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, assert_never

Unit = Literal["number", "whole", "bytes", "seconds"]

_DECIMAL = (1.0, 2.0, 5.0)
# One tick more than asked for is better than half of them.
_NEARLY = 0.95
# Round durations in seconds: up to a day; beyond that, days.
_DURATIONS = (
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1800.0,
    3600.0,
    7200.0,
    21600.0,
    43200.0,
)
_DAY_SECONDS = 86400.0
# Fine enough that a curve fills at least four fifths of its range, coarse enough to stand still most of the time.
_STEPS = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_up(value: float) -> float:
    """The next round number that is not below `value`; 1 for what is not a positive number."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((step * power for step in _STEPS if step * power >= value * (1 - 1e-12)), 10.0 * power)


def round_up_bytes(value: float) -> float:
    """The same for bytes: a round number of KiB, MiB, ..."""
    unit = 1024.0 ** max(0, math.floor(math.log(value, 1024))) if math.isfinite(value) and value >= 1 else 1.0
    return round_up(value / unit) * unit


def round_down(value: float) -> float:
    """The next round number that is not above `value`; for the lower end of a logarithmic range."""
    if not math.isfinite(value) or value <= 0:
        return 1e-6
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in _STEPS if step * power <= value * (1 + 1e-12))


def tick_step(span: float, most: int, unit: Unit) -> float:
    """The distance between ticks that gives at most `most` of them over `span`."""
    least = span / max(1, most)
    if not math.isfinite(least) or least <= 0:
        return 1.0
    match unit:
        case "number":
            return _decimal_step(least)
        case "whole":
            return max(1.0, _decimal_step(least))
        case "bytes":
            scale = 1024.0 ** max(0, math.floor(math.log(least, 1024))) if least >= 1 else 1.0
            step = _decimal_step(least / scale)
            # 1000 KiB is no round number of MiB.
            return 1024.0 * scale if step > 512 else step * scale
        case "seconds":
            fitting = next((step for step in _DURATIONS if step >= least), None)
            if least < 1:
                return _decimal_step(least)
            return fitting if fitting is not None else _decimal_step(least / _DAY_SECONDS) * _DAY_SECONDS
    assert_never(unit)


def _decimal_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next((step * power for step in _DECIMAL if step * power >= least * _NEARLY), 10.0 * power)


def ticks(low: float, high: float, most: int, unit: Unit) -> list[float]:
    """Round values from `low` to `high`."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    step = tick_step(high - low, most, unit)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


class Reach:
    """The upper end of an axis: it moves only in round steps, and only when the data has outgrown it."""

    def __init__(self, rounded: Callable[[float], float] = round_up, least: float = 0.0) -> None:
        self._rounded = rounded
        self._least = least
        self.value = least

    def cover(self, highest: float, most: float | None = None) -> float:
        """Grow to hold `highest`, at most to `most` where the end is known; shrink when most of it is empty."""
        wanted = max(highest, self._least)
        if not math.isfinite(wanted) or wanted <= 0:
            return self.value or 1.0
        if wanted > self.value or wanted < 0.3 * self.value:
            self.value = self._rounded(wanted)
        if most is not None and most >= highest:
            self.value = min(self.value, most)
        return self.value


def clock_text(seconds: float) -> str:
    """A time on an axis, short: `0:45`, `12:30`, `1:05:00`; tenths below ten seconds where they are needed."""
    if seconds < 10 and abs(seconds - round(seconds)) > 1e-6:
        return f"0:{seconds:04.1f}"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
