"""Writes a run's events to its file: whole lines, paced, never lost silently, with a beat while nothing else happens.

Budget of ordinary lines: ten packed `Stepped`, five `Progressed`, four `MemorySampled` and one `Beat` a second make the
twenty that a follower is promised at most. Everything else is written at once, after what was packed before it.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from studio.core.events import Beat, Ended, Event, MemorySampled, Progressed, Stepped, Warned, event_to_line
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.engine.claim import claim

STEPPED_SECONDS = 0.1
PROGRESSED_SECONDS = 0.2
BEAT_SECONDS = 0.9
# A single line says little: the first of an epoch is one step with the start of everything.
PACE_SECONDS = 1.0
TICK_SECONDS = 0.25
# What is kept for a disk that is full; a training day of packed steps is about this much.
BACKLOG_BYTES = 32 * 1024**2


@dataclass(slots=True)
class _Pack:
    """Steps that were not written yet."""

    step: int = 0
    epoch: int = 0
    learning_rate: float = 0.0
    losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    pictures: int = 0
    ended: float = 0.0


class Emitter:
    """The single writer of one events file, which it claims. Safe to call from several threads.

    `clock` stamps events; `ticks`, which nobody can set, paces them.
    """

    def __init__(
        self, path: Path, clock: Callable[[], float] = time.time, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._ticks = clock, ticks
        self._lock = threading.RLock()
        path.parent.mkdir(parents=True, exist_ok=True)
        # Read and write: the last byte is looked at, since a killed run may have left half a line.
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        try:
            claim(self._file)
            self._backlog = bytearray(b"\n" if self._ends_torn() else b"")
        except OSError:
            os.close(self._file)
            raise
        self._dropped = 0
        self._failing_since: float | None = None
        self._refusal: OSError | None = None
        self._pack = _Pack()
        self._progress: Progressed | None = None
        self._is_over = False
        self._stepped_at = self._progressed_at = self._written_at = float("-inf")
        self._pack_began = ticks()
        self._paces: deque[tuple[int, float]] = deque()
        self._waits: FrozenMap[float] = FrozenMap()

    def _ends_torn(self) -> bool:
        size = os.fstat(self._file).st_size
        if not size:
            return False
        os.lseek(self._file, size - 1, os.SEEK_SET)
        return os.read(self._file, 1) != b"\n"

    @property
    def now(self) -> float:
        """Seconds since the epoch, as events carry them."""
        return self._clock()

    @property
    def is_failing(self) -> bool:
        """Whether the file cannot be written at the moment."""
        return self._failing_since is not None

    def emit(self, event: Event) -> None:
        """Write `event` now, after everything that came before it; after an `Ended` nothing is written any more."""
        with self._lock:
            self._flush_ordinary(event.time)
            self._write(event)
            self._is_over = self._is_over or isinstance(event, Ended)

    def sampled(self, event: MemorySampled) -> None:
        """Write a memory sample now, without hurrying what is being packed; the caller keeps the pace."""
        with self._lock:
            self._write(event)

    def progressed(self, event: Progressed) -> None:
        """Write how far a phase is, the newest at most five times a second."""
        with self._lock:
            is_new_phase = self._progress is not None and self._progress.phase != event.phase
            if is_new_phase:
                self._flush_ordinary()
            self._progress = event
            if is_new_phase or self._ticks() - self._progressed_at >= PROGRESSED_SECONDS:
                self._flush_progress()

    def stepped(
        self, step: int, epoch: int, *, loss: float, accuracy: float, pictures: int, learning_rate: float
    ) -> None:
        """Note one step; several are packed into one line."""
        now = self._ticks()
        with self._lock:
            pack = self._pack
            if pack.losses and (pack.epoch != epoch or pack.learning_rate != learning_rate):
                self._flush_ordinary()
                pack = self._pack
            pack.step, pack.epoch, pack.learning_rate = step, epoch, learning_rate
            pack.losses.append(loss)
            pack.accuracies.append(accuracy)
            pack.pictures += pictures
            pack.ended = now
            if now - self._stepped_at >= STEPPED_SECONDS:
                self._flush_steps()

    def pace_from_here(self) -> None:
        """Count images per second from now: training begins, or goes on after something else."""
        with self._lock:
            self._flush_ordinary()
            self._pack_began = self._ticks()

    def measured_waits(self, waits: FrozenMap[float]) -> None:
        """The newest shares of a step's time, for the next packed line."""
        with self._lock:
            self._waits = waits

    def tick(self) -> None:
        """Write what has waited long enough, and a beat where nothing else was written; called by the heartbeat."""
        now = self._ticks()
        with self._lock:
            if now - self._stepped_at >= STEPPED_SECONDS:
                self._flush_steps()
            if now - self._progressed_at >= PROGRESSED_SECONDS:
                self._flush_progress()
            if now - self._written_at >= BEAT_SECONDS:
                self._write(Beat(self._clock()))

    def close(self) -> OSError | None:
        """Write what is left and close; what kept the file from being whole, else None."""
        with self._lock:
            self._flush_ordinary()
            self._drain()
            os.close(self._file)
            return self._refusal if self._backlog or self._dropped else None

    def _flush_ordinary(self, before: float | None = None) -> None:
        self._flush_progress()
        self._flush_steps(before)

    def _flush_progress(self) -> None:
        if self._progress is not None:
            event, self._progress, self._progressed_at = self._progress, None, self._ticks()
            self._write(event)

    def _flush_steps(self, before: float | None = None) -> None:
        # What is written because a later event comes must not carry a later time than that.
        stamp, pack = self._clock() if before is None else before, self._pack
        if pack.losses:
            self._pack, self._stepped_at = _Pack(), self._ticks()
            pace = self._pace_with(pack)
            self._write(
                Stepped(
                    stamp,
                    pack.step,
                    pack.epoch,
                    tuple(pack.losses),
                    tuple(pack.accuracies),
                    pack.learning_rate,
                    pace,
                    self._waits,
                )
            )
            self._waits = FrozenMap()

    def _pace_with(self, pack: _Pack) -> float:
        """Images per second over the newest second or so of training, which `pack` ends."""
        self._paces.append((pack.pictures, pack.ended - self._pack_began))
        self._pack_began = pack.ended
        while sum(seconds for _, seconds in self._paces) - self._paces[0][1] >= PACE_SECONDS:
            self._paces.popleft()
        seconds = sum(seconds for _, seconds in self._paces)
        return sum(pictures for pictures, _ in self._paces) / max(seconds, 1e-6)

    def _write(self, event: Event) -> None:
        if self._is_over:
            return
        # Undecodable file names hold lone surrogates; inside a JSON string a backslash escape is what they are.
        line = (event_to_line(event) + "\n").encode("utf-8", "backslashreplace")
        if self._failing_since is not None:
            self._drain()
        if self._failing_since is not None and len(self._backlog) + len(line) > BACKLOG_BYTES:
            self._dropped += 1
            return
        self._backlog += line
        self._written_at = self._ticks()
        self._drain()

    def _drain(self) -> None:
        """Hand the backlog to the system; what a full disk refuses stays for the next try."""
        try:
            while self._backlog:
                written = os.write(self._file, self._backlog)
                del self._backlog[:written]
        except OSError as error:
            self._failing_since, self._refusal = self._failing_since or self._clock(), error
            return
        if self._failing_since is not None:
            facts: FrozenMap[Value] = FrozenMap(
                seconds=round(self._clock() - self._failing_since, 1), dropped=self._dropped
            )
            self._failing_since, self._dropped = None, 0
            self._write(Warned(self._clock(), Problem("events_delayed", Severity.WARNING, facts=facts)))


class Heartbeat:
    """Calls functions four times a second from a thread of its own, until it is stopped and joined."""

    def __init__(self, *calls: Callable[[], None]) -> None:
        self._calls = calls
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="lantern-heartbeat")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No call comes after this; also where it was never started."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            for call in self._calls:
                call()
