"""Hosts a run in a worker thread: of the engine process, or of the window's own."""

from __future__ import annotations

import threading
from pathlib import Path

from studio.core.events import Outcome
from studio.engine import train
from studio.engine.allocator import return_freed_memory


class TrainingThread(threading.Thread):
    """One run. Not a daemon: a program that ends waits for it, so stop it first.

    `outcome` and `error` are set when it is over; `error` only where the run's record could not be written.
    """

    def __init__(self, run_folder: Path, cache_folder: Path, launcher: str, *, resume: bool = False) -> None:
        super().__init__(name=f"lantern-training-{run_folder.name}", daemon=False)
        self.run_folder, self.cache_folder, self.launcher, self.resume = run_folder, cache_folder, launcher, resume
        self.outcome: Outcome | None = None
        self.error: OSError | None = None
        self._is_to_stop = False

    def run(self) -> None:
        try:
            self.outcome = train.run(
                self.run_folder,
                self.cache_folder,
                launcher=self.launcher,
                resume=self.resume,
                host_stops=lambda: self._is_to_stop,
            )
        except OSError as error:
            self.error = error
        finally:
            return_freed_memory()

    def stop(self) -> None:
        """Ask the run to stop; works also from a signal handler and while the disk is full, so nothing is written."""
        self._is_to_stop = True


def start_training(run_folder: Path, cache_folder: Path, launcher: str, resume: bool = False) -> TrainingThread:
    """Start the run of `run_folder` in a thread; the handle has `join(timeout)`, `is_alive()` and `stop()`."""
    thread = TrainingThread(Path(run_folder), Path(cache_folder), launcher, resume=resume)
    thread.start()
    return thread
