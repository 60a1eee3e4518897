"""Reads what a person tells the run from `commands.jsonl`; cheap enough to be asked at every step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from studio.core.commands import Command, Stop, command_from_line

# Twenty looks a second: a person feels no delay, and a step pays one clock reading.
POLL_SECONDS = 0.05
# A command takes some 50 bytes; what is far longer is none, and a file of garbage is passed over piece by piece.
_LONGEST_BYTES = 64 * 1024


class Inbox:
    """New commands of one run, in order. Safe to ask from several threads.

    A fresh run's file holds only what is meant for it; a resumed run passes over what was said before (`skip_old`).
    """

    def __init__(self, path: Path, *, skip_old: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock = path, clock
        self._lock = threading.Lock()
        self._position = self._size() if skip_old else 0
        self._polled_at = float("-inf")
        self._waiting: list[Command] = []
        self._stop = False

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    @property
    def stop_asked(self) -> bool:
        """Whether a Stop has arrived; it stays asked."""
        self._poll()
        return self._stop

    def take(self) -> list[Command]:
        """The commands that arrived since the last call."""
        self._poll()
        if not self._waiting:
            return []
        with self._lock:
            taken, self._waiting = self._waiting, []
        return taken

    def _poll(self) -> None:
        now = self._clock()
        if now - self._polled_at < POLL_SECONDS:
            return
        with self._lock:
            self._polled_at = now
            size = self._size()
            if size < self._position:
                self._position = 0  # the file was deleted or begun anew: what is said from here on is new
            if size > self._position:
                self._read()

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                data = file.read(_LONGEST_BYTES)
        except OSError:
            return
        whole = data.rfind(b"\n") + 1  # a line that is still being written is read when it is whole
        if not whole and len(data) == _LONGEST_BYTES:
            whole = len(data)
        self._position += whole
        for line in data[:whole].decode("utf-8", "replace").splitlines():
            command = command_from_line(line)
            if command is not None:
                self._waiting.append(command)
                self._stop = self._stop or isinstance(command, Stop)
