"""A run's side of the conversation: what it says in events, what it hears in commands, and how it ends."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import psutil
import torch

from studio import __version__
from studio.core.commands import Pause, Resume, SaveCheckpoint, Stop, TakeSnapshot
from studio.core.events import (
    Ended,
    Failed,
    Outcome,
    Paused,
    Phase,
    Progressed,
    Resumed,
    Started,
    Warned,
)
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.text import problem_message
from studio.dataset.progress import Progress
from studio.engine.allocator import return_freed_memory
from studio.engine.device import device_text, release_cache
from studio.engine.emit import Emitter, Heartbeat
from studio.engine.failure import Place, explain
from studio.engine.inbox import POLL_SECONDS, Inbox
from studio.engine.probes.gpu import GpuProbe
from studio.engine.probes.sampler import Sampler
from studio.engine.trouble import Stopped

EVENTS = "events.r0.jsonl"
COMMANDS = "commands.jsonl"
_CPU = torch.device("cpu")


class Session:
    """Opened for one run; from `started` until it is closed, a heartbeat says that the host lives.

    A Stop comes by the commands file or, where that cannot be written, from the host by `host_stops`.
    """

    def __init__(
        self, run_folder: Path, launcher: str, *, resume: bool, host_stops: Callable[[], bool] = lambda: False
    ) -> None:
        self.run_folder, self.launcher = run_folder, launcher
        self.emitter = Emitter(run_folder / EVENTS)
        self.inbox = Inbox(run_folder / COMMANDS, skip_old=resume)
        self._host_stops = host_stops
        self.device = _CPU
        self.sampler = Sampler(self.emitter, GpuProbe(_CPU))
        self.place = Place()
        self.best_accuracy: float | None = None
        self.forecast_bytes: int | None = None
        self.trained_pictures = 0
        self.steps_done = 0
        self.training_seconds = 0.0
        self._gpu = GpuProbe(_CPU)
        self._heartbeat = Heartbeat(self.emitter.tick, self._sample)
        self._began = time.monotonic()
        self._is_started = False

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.stop()
        self._gpu.close()
        refused = self.emitter.close()
        if refused is not None and error is None:
            raise refused

    def _sample(self) -> None:
        # A counter that fails (a device in trouble) must not end the heartbeat: the run would be taken for hung.
        with suppress(OSError, RuntimeError, psutil.Error):
            self.sampler.tick()

    # What the run says.

    def use(self, device: torch.device) -> None:
        """The device is known: memory is watched from here on."""
        self.device = device
        self._gpu = GpuProbe(device)
        self.sampler = Sampler(self.emitter, self._gpu)

    def started(
        self,
        project: Project,
        *,
        resumed_step: int,
        train_count: int = 0,
        validation_count: int = 0,
        steps_per_epoch: int = 0,
        parameters: int = 0,
    ) -> None:
        """Say that the run begins; said again when the pictures are known, with their counts."""
        host = psutil.Process()
        versions = FrozenMap(studio=__version__, torch=torch.__version__, python=_python_version())
        is_first, self._is_started = not self._is_started, True
        self.emitter.emit(
            Started(
                self.emitter.now,
                project.name or self.run_folder.name,
                self.launcher,
                host.pid,
                host.create_time(),
                str(self.device),
                device_text(self.device),
                1,
                versions,
                project.recipe.seed,
                project.data.classes,
                train_count,
                validation_count,
                project.recipe.batch_size,
                steps_per_epoch,
                project.recipe.epochs,
                parameters,
                self.forecast_bytes,
                resumed_step,
            )
        )
        if is_first:
            self._heartbeat.start()  # not before: `Started` is the first line of a record

    def enter(self, phase: Phase) -> None:
        """A phase begins; a Stop that arrived before it ends the run here."""
        self.place.phase = phase
        self.emitter.emit(Progressed(self.emitter.now, phase))
        if self.stop_asked():
            raise Stopped

    def progress(self, done: int, total: int | None) -> None:
        """The phase goes on."""
        self.emitter.progressed(Progressed(self.emitter.now, self.place.phase, done, total))

    def dataset_progress(self, progress: Progress) -> None:
        """The same, as tasks of `studio.dataset` say it."""
        self.progress(progress.done, progress.total)

    def warn(self, problem: Problem) -> None:
        self.emitter.emit(Warned(self.emitter.now, problem))

    def refused(self, problem: Problem) -> None:
        """The run ends because of a problem that was expected: said once with its fixes, once as the reason."""
        self._be_started()
        self.warn(problem)
        facts: dict[str, Value] = {"problem": problem.code, "place": problem.place, **problem.facts}
        self._failed(problem.code, problem_message(problem), "", {**self.place.facts(), **facts})

    def failed(self, error: Exception) -> None:
        """The run ends because of an exception."""
        explained = explain(error, self.place, self.device)
        self._be_started()
        if explained.problem is not None:
            self.warn(explained.problem)
        self._failed(explained.kind, explained.message, explained.trace, explained.facts)

    def _failed(self, kind: str, message: str, trace: str, facts: dict[str, Value]) -> None:
        self.emitter.emit(Failed(self.emitter.now, kind, message, trace, FrozenMap(facts)))

    def _be_started(self) -> None:
        """A record begins with `Started`, also where not even the project could be read."""
        if not self._is_started:
            self.started(Project(name=self.run_folder.name), resumed_step=0)

    def ended(self, outcome: Outcome, reason: str = "") -> None:
        """The last word: whoever still samples or beats is through before it."""
        self._heartbeat.stop()
        pace = self.trained_pictures / self.training_seconds if self.training_seconds else 0.0
        self.emitter.emit(
            Ended(
                self.emitter.now,
                outcome,
                reason,
                self.best_accuracy,
                time.monotonic() - self._began,
                pace,
                self.sampler.peak_bytes(),
                self.forecast_bytes,
            )
        )

    # What the run hears.

    def stop_asked(self) -> bool:
        return self._host_stops() or self.inbox.stop_asked

    def obey(self, save_checkpoint: Callable[[], None]) -> float:
        """Do what was asked, at a step border; returns the seconds spent waiting in a pause.

        Raises:
            Stopped: a Stop came.
        """
        commands = self.inbox.take()
        paused_at: float | None = None
        waited = 0.0
        while True:
            for command in commands:
                match command:
                    case Stop():
                        raise Stopped
                    case Pause():
                        paused_at = self._paused() if paused_at is None else paused_at
                    case Resume():
                        if paused_at is not None:
                            waited, paused_at = waited + time.monotonic() - paused_at, None
                            self.emitter.emit(Resumed(self.emitter.now, self.place.step))
                            self.emitter.pace_from_here()
                    case SaveCheckpoint():
                        save_checkpoint()
                    case TakeSnapshot():
                        self.sampler.want_census()
            if self._host_stops():
                raise Stopped
            if paused_at is None:
                return waited
            time.sleep(POLL_SECONDS)
            commands = self.inbox.take()

    def _paused(self) -> float:
        release_cache(self.device)
        return_freed_memory()
        self.emitter.emit(Paused(self.emitter.now, self.place.step))
        return time.monotonic()


def _python_version() -> str:
    return platform.python_version()
