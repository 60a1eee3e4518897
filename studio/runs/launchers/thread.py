"""A run in a worker thread of this very program; the engine, and torch with it, is imported only when one starts."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import Any

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.registry import resolve
from studio.runs.lastwords import record_refusal
from studio.runs.launchers.child import wait_for
from studio.runs.launchers.escalation import Escalation

ENGINE = "studio.engine.worker:start_training"


class ThreadRun:
    """A run in a thread of this program. It can be asked to stop, not ended from outside."""

    def __init__(self, run_folder: Path, cache_folder: Path, resume: bool, engine: str) -> None:
        self._run_folder = run_folder
        self._cache_folder = cache_folder
        self._resume = resume
        self._engine = engine
        self._escalation: Escalation | None = None
        self._problem: Problem | None = None
        self._training: Any = None
        # Importing torch takes seconds: off the caller's thread.
        self._thread = threading.Thread(target=self._work, name="run-host")
        self._thread.start()

    @property
    def run_folder(self) -> Path:
        return self._run_folder

    @property
    def problem(self) -> Problem | None:
        return self._problem

    def _work(self) -> None:
        try:
            start: Any = resolve(self._engine)
            training = start(self._run_folder, self._cache_folder, launcher="thread", resume=self._resume)
            self._training = training
            training.join()
            if training.error is not None:
                self._problem = untold(self._run_folder, training.error)
        except Exception as error:  # noqa: BLE001 - a broken torch raises anything at import
            missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
            facts = FrozenMap({"detail": str(error), "exit": "", "trace": traceback.format_exc()})
            self._problem = Problem("torch_missing" if missing else "engine_broken", facts=facts)
        if self._problem is not None:
            record_refusal(self._run_folder, self._problem)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, grace_seconds: float = 2.0) -> None:
        if self._escalation is None and self.is_alive():
            self._escalation = Escalation(self._run_folder, grace_seconds, end=None)

    def kill(self) -> None:
        """A thread cannot be ended from outside: the stop is asked for, and that is all."""
        self.stop()

    def poll(self) -> bool:
        if self.is_alive() and self._escalation is not None:
            self._escalation.step()
            if self._training is not None:
                self._training.stop()  # by word of mouth: a full disk takes no commands
        return self.is_alive()

    def wait(self, timeout_seconds: float) -> bool:
        return wait_for(lambda: not self.poll(), timeout_seconds)


def untold(run_folder: Path, error: Exception) -> Problem:
    """Why the run's own events do not tell what became of it."""
    if not isinstance(error, OSError):
        trace = "".join(traceback.format_exception(error))
        facts = FrozenMap({"detail": f"{type(error).__name__}: {error}", "trace": trace})
        return Problem("request_refused", facts=facts)
    facts = FrozenMap({"folder": str(run_folder), "reason": error.strerror or str(error)})
    return Problem("record_not_written", place=str(run_folder), facts=facts)


class ThreadLauncher:
    """Hosts runs in this program."""

    def __init__(self, cache_folder: Path, engine: str = ENGINE) -> None:
        self._cache_folder = cache_folder
        self._engine = engine

    def start(self, run_folder: Path, resume: bool = False) -> ThreadRun:
        return ThreadRun(run_folder, self._cache_folder, resume, self._engine)

    def close(self) -> None:
        """Nothing is kept between runs."""
