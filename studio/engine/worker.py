"""Hosts a run in a worker thread: of the engine process, or of the window's own."""

from __future__ import annotations

import threading
from pathlib import Path

from studio.core.events import Outcome
from studio.engine import train
from studio.engine.allocator import return_freed_memory
from studio.engine.lastwords import record_failure, record_size


class TrainingThread(threading.Thread):
    """One run. Not a daemon: a program that ends waits for it, so stop it first.

    `outcome` and `error` are set when it is over; `error` only where the run's record could not say what happened.
    """

    def __init__(self, run_folder: Path, cache_folder: Path, launcher: str, *, resume: bool = False) -> None:
        super().__init__(name=f"lantern-training-{run_folder.name}", daemon=False)
        self.run_folder, self.cache_folder, self.launcher, self.resume = run_folder, cache_folder, launcher, resume
        self.outcome: Outcome | None = None
        self.error: Exception | None = None
        self._is_to_stop = False

    def run(self) -> None:
        size_before = record_size(self.run_folder)
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
        except Exception as error:  # noqa: BLE001 - whoever waits for this run must learn what became of it
            self.outcome = "failed"
            if not record_failure(self.run_folder, error, size_before):
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
