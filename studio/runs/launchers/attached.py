"""A run that another program, or an earlier life of this one, began: stopped and watched by its folder and its pid."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from studio.core.events import Started
from studio.core.problem import Problem
from studio.runs.host import process_is_alive
from studio.runs.launchers.child import wait_for
from studio.runs.launchers.escalation import Escalation


class AttachedRun:
    """The handle of a run whose process is not a child of ours; `started` is its newest `Started`."""

    def __init__(self, run_folder: Path, started: Started) -> None:
        self._run_folder = run_folder
        self._started = started
        self._escalation: Escalation | None = None

    @property
    def run_folder(self) -> Path:
        return self._run_folder

    @property
    def problem(self) -> Problem | None:
        return None

    def is_alive(self) -> bool:
        return process_is_alive(self._started.pid, self._started.process_started)

    def stop(self, grace_seconds: float = 2.0) -> None:
        end = self._end if self._may_end else None
        if self._escalation is None:
            self._escalation = Escalation(self._run_folder, grace_seconds, end)

    @property
    def _may_end(self) -> bool:
        """Whether the process may be ended from here, or only asked.

        A host that is another program's thread would take that whole program along; and a record without its process's
        creation time (written by hand, brought along from elsewhere) proves nothing about the process of that number.
        """
        started = self._started
        return started.launcher == "process" and started.process_started > 0 and started.pid != os.getpid()

    def kill(self) -> None:
        if self._may_end:
            self._end(True)
        else:
            self.stop()

    def poll(self) -> bool:
        alive = self.is_alive()
        if alive and self._escalation is not None:
            self._escalation.step()
        return alive

    def wait(self, timeout_seconds: float) -> bool:
        return wait_for(lambda: not self.poll(), timeout_seconds, pause_seconds=0.1)

    def _end(self, is_hard: bool) -> None:
        if self.is_alive():
            with suppress(OSError):
                os.kill(self._started.pid, getattr(signal, "SIGKILL", signal.SIGTERM) if is_hard else signal.SIGTERM)
