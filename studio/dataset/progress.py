"""How long tasks say how far they are, and how they are asked to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

# Ten reports a second look continuous to a person and cost nothing measurable.
SHORTEST_INTERVAL_SECONDS = 0.1


class Cancelled(Exception):
    """A long task was asked to stop and did. Never an error, never shown as one."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a task is.

    Attributes:
        phase: "scan", "inspect" or "cache".
        done: how many files or pictures are finished.
        total: how many there are; None while that is not known.
    """

    phase: str
    done: int
    total: int | None = None


ReportProgress = Callable[[Progress], None]
IsCancelled = Callable[[], bool]


def unreported(progress: Progress) -> None:
    """For callers that show no progress."""


def never() -> bool:
    """For callers that cannot cancel."""
    return False


class Pace:
    """Passes progress on at a bounded rate and turns a request to stop into `Cancelled`."""

    def __init__(self, phase: str, total: int | None, report: ReportProgress, cancelled: IsCancelled) -> None:
        self._phase, self._total, self._report, self._cancelled = phase, total, report, cancelled
        self._last_seconds = time.monotonic()
        report(Progress(phase, 0, total))

    def check(self) -> None:
        """Raise `Cancelled` when the task was asked to stop."""
        if self._cancelled():
            raise Cancelled

    def at(self, done: int) -> None:
        """`done` are finished; raises `Cancelled` when the task was asked to stop."""
        self.check()
        now_seconds = time.monotonic()
        if now_seconds - self._last_seconds >= SHORTEST_INTERVAL_SECONDS:
            self._last_seconds = now_seconds
            self._report(Progress(self._phase, done, self._total))

    def finish(self, done: int) -> None:
        """The last report, which always comes."""
        self._report(Progress(self._phase, done, done))
