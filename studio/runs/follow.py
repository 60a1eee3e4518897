"""Follow a run by its files, live or long after: the one reader behind the window, the terminal and the tests."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from studio.core.events import Ended, Event, Failed, MemorySampled, Started, Warned, event_from_line
from studio.core.runstate import RunState
from studio.core.text import tr
from studio.runs.folder import EVENTS_PATTERN, events_file
from studio.runs.host import process_is_alive

# A host beats every second; ten missed beats are more than a busy disk or a long step explains.
QUIET_SECONDS = 10.0
# Some 200 lines, about 10 ms of decoding, so that a window that polls between two frames stays smooth; who is in a
# hurry asks again while `is_behind`.
POLL_BYTES = 32 * 1024
_REPLAY_BYTES = 4 * 1024 * 1024
# A confusion matrix of 1,000 classes takes about 4 MB; anything far beyond is no event.
_LONGEST_LINE_BYTES = 32 * 1024 * 1024
_HOST_CHECK_SECONDS = 1.0

IsHostAlive = Callable[[Started | None], bool]


class LineTail:
    """The whole lines of a growing file, in bounded pieces; a torn last line is kept until the rest arrives."""

    def __init__(self, path: Path, longest_bytes: int = _LONGEST_LINE_BYTES) -> None:
        self._path = path
        self._longest_bytes = longest_bytes
        self._offset = 0
        self._rest = bytearray()
        self._is_too_long = False
        self.behind_bytes = 0

    def read(self, limit_bytes: int) -> list[str]:
        """The next whole lines, reading at most `limit_bytes`; none where the file is missing or unreadable.

        A file that became shorter was begun anew and is read from its start.
        """
        try:
            with self._path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._offset:
                    self._offset, self._is_too_long = 0, False
                    self._rest.clear()
                file.seek(self._offset)
                chunk = file.read(min(limit_bytes, size - self._offset))
        except OSError:
            self.behind_bytes = 0
            return []
        self._offset += len(chunk)
        self.behind_bytes = size - self._offset
        return self._lines(chunk)

    def _lines(self, chunk: bytes) -> list[str]:
        *whole, rest = chunk.split(b"\n")
        lines = []
        for piece in whole:
            self._keep(piece)
            line = bytes(self._rest).strip()
            if self._is_too_long:
                lines.append("...")
            elif line:
                lines.append(line.decode("utf-8", "replace"))
            self._rest.clear()
            self._is_too_long = False
        self._keep(rest)
        return lines

    def _keep(self, piece: bytes) -> None:
        if self._is_too_long:
            return
        self._rest += piece
        if len(self._rest) > self._longest_bytes:
            self._rest.clear()
            self._is_too_long = True


class Follower:
    """The events of one run from byte 0 on, a bounded piece per `poll`.

    Rank 0 tells the story; of other ranks only failures, warnings and memory are passed on. When the host process is
    gone without an `Ended`, one is made up with the outcome "died". `is_host_alive` lets a launcher, which knows its
    run from before the first event, answer for the process; by default the process named by `Started` is looked up.
    """

    def __init__(
        self,
        run_folder: Path,
        *,
        is_host_alive: IsHostAlive | None = None,
        check_seconds: float = _HOST_CHECK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = run_folder
        self._is_host_alive = is_host_alive or _started_process_is_alive
        self._check_seconds = check_seconds
        self._clock = clock
        self._next_check = clock()
        self._story = LineTail(events_file(run_folder))
        self._others: dict[Path, LineTail] = {}
        self._next_look = clock()
        self._started: Started | None = None
        self._is_over = False
        self._last_time = 0.0

    def poll(self, limit_bytes: int = POLL_BYTES) -> list[Event]:
        """The events since the last call, oldest first; reads at most `limit_bytes` of each rank's file."""
        events = self._read(limit_bytes)
        if not self._is_over and not self.is_behind and self._host_is_gone():
            # The last words may have been written between reading and looking.
            events += self._read(limit_bytes)
            if not self._is_over and not self.is_behind:
                self._is_over = True
                events.append(self._death())
        return events

    @property
    def is_behind(self) -> bool:
        """Whether more can be read at once."""
        return self._story.behind_bytes > 0 or any(tail.behind_bytes > 0 for tail in self._others.values())

    def is_quiet(self, now: float) -> bool:
        """Whether a run that should beat has said nothing for a while; `now` in seconds since the epoch."""
        return self._started is not None and not self._is_over and now - self._last_time > QUIET_SECONDS

    def _read(self, limit_bytes: int) -> list[Event]:
        events = [event_from_line(line) for line in self._story.read(limit_bytes)]
        for event in events:
            self._last_time = max(self._last_time, event.time)
            if isinstance(event, Started):
                self._started, self._is_over = event, False
            elif isinstance(event, Ended):
                self._is_over = True
        self._look_for_ranks()
        for tail in self._others.values():
            told = (event_from_line(line) for line in tail.read(limit_bytes))
            events += [event for event in told if isinstance(event, (Failed, Warned, MemorySampled))]
        return events

    def _look_for_ranks(self) -> None:
        if self._clock() < self._next_look:
            return
        self._next_look = self._clock() + self._check_seconds
        for path in sorted(self._folder.glob(EVENTS_PATTERN)):
            if path != events_file(self._folder) and re.fullmatch(r"events\.r\d+\.jsonl", path.name):
                self._others.setdefault(path, LineTail(path))

    def _host_is_gone(self) -> bool:
        if self._clock() < self._next_check:
            return False
        self._next_check = self._clock() + self._check_seconds
        return not self._is_host_alive(self._started)

    def _death(self) -> Ended:
        began = self._started.time if self._started else self._last_time
        return Ended(
            time=self._last_time,
            outcome="died",
            reason=tr("The process that trained is gone without a word: it was killed, or it crashed."),
            seconds=max(0.0, self._last_time - began),
            forecast_bytes=self._started.forecast_bytes if self._started else None,
        )


def _started_process_is_alive(started: Started | None) -> bool:
    """Before `Started` nothing is known of the host, which then counts as alive."""
    return started is None or process_is_alive(started.pid, started.process_started)


def replay(run_folder: Path) -> RunState:
    """Where a run stands by its record so far; the same as following it from its first byte."""
    follower = Follower(run_folder)
    state = RunState()
    while True:
        for event in follower.poll(_REPLAY_BYTES):
            state = state.after(event)
        if not follower.is_behind:
            return state
