"""How a run is stopped: ask, ask again, terminate, kill; each stage only when the one before did not help."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from studio.core.commands import Stop
from studio.runs.command import send

# A host reads commands only once its run has begun, so one asked too early is asked again.
_ASK_AGAIN_SECONDS = 0.5
# Together with the grace of 2 s this keeps the promise that a stop takes at most 3 s.
_TERMINATE_SECONDS = 0.5


class Escalation:
    """The stages of one stop, moved along by `step`; `end` is None for a host that cannot be ended from outside."""

    def __init__(
        self,
        run_folder: Path,
        grace_seconds: float,
        end: Callable[[bool], None] | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = run_folder
        self._end = end
        self._clock = clock
        self._terminate_at = clock() + grace_seconds
        self._kill_at = self._terminate_at + _TERMINATE_SECONDS
        self._ask_at = clock()
        self._has_terminated = False
        self.step()

    def step(self) -> None:
        """Do what is due now. `end(False)` terminates, `end(True)` kills."""
        now = self._clock()
        if now >= self._ask_at and not self._has_terminated:
            self._ask_at = now + _ASK_AGAIN_SECONDS
            send(self._folder, Stop(time.time()))
        if self._end is None:
            return
        if now >= self._kill_at:
            self._end(True)
        elif now >= self._terminate_at and not self._has_terminated:
            self._has_terminated = True
            self._end(False)
