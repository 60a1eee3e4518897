"""Where a step's time goes, measured on one step in eight: only those wait for the device."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from studio.core.frozen import FrozenMap

Part = Literal["data", "transfer", "forward", "backward", "optimiser"]
EVERY = 8
# How much of the shown share comes from the newest measured step.
_NEWEST_SHARE = 0.25


class StepClock:
    """`begin` before a step, `lap` at the end of each part, `end` after the step."""

    def __init__(self, synchronise: Callable[[], None], clock: Callable[[], float] = time.perf_counter) -> None:
        self._synchronise, self._clock = synchronise, clock
        self._is_on = False
        self._mark = 0.0
        self._laps: dict[Part, float] = {}
        self._shares: dict[str, float] = {}

    def begin(self, step: int) -> None:
        """The step with this number begins with waiting for its pictures."""
        self._is_on = step % EVERY == 0
        self._laps = {}
        self.skip()

    def skip(self) -> None:
        """What passed since the last lap belongs to no part (a pause)."""
        if self._is_on:
            self._synchronise()
            self._mark = self._clock()

    def lap(self, part: Part) -> None:
        """`part` is over."""
        if self._is_on:
            self._synchronise()
            now = self._clock()
            self._laps[part] = self._laps.get(part, 0.0) + now - self._mark
            self._mark = now

    def end(self) -> FrozenMap[float] | None:
        """The shares of each part, smoothed over the measured steps; None where this step was not measured."""
        total = sum(self._laps.values())
        if not self._is_on or total <= 0:
            return None
        for part, seconds in self._laps.items():
            before = self._shares.get(part, seconds / total)
            self._shares[part] = before + _NEWEST_SHARE * (seconds / total - before)
        whole = sum(self._shares.values())
        return FrozenMap({part: share / whole for part, share in self._shares.items()})
