"""The run on the screen: started, commanded and followed. Every number about a run reaches the window through here."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from studio.core.commands import Command, Pause, Resume, SaveCheckpoint, Stop, TakeSnapshot
from studio.core.events import Ended, Event
from studio.core.files import Folders
from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.runstate import RunState
from studio.core.text import problem_message, tr
from studio.runs.command import send
from studio.runs.folder import RunsUnwritable, create_run
from studio.runs.follow import Follower
from studio.runs.launchers import Launcher, RunHandle

POLL_MS = 50
STOP_GRACE_SECONDS = 2.0


class Training(QObject):
    """The run that is shown: one that goes on, or one opened from its record.

    `arrived(list[Event])` is the only road from a run to the screen; `changed(old, new)` gives the `RunState` before
    and after. `started()` and `ended()` mark a run of this window. `trouble(Problem)` says why none could be started.
    """

    arrived = Signal(list)
    changed = Signal(object, object)
    started = Signal()
    ended = Signal()
    trouble = Signal(object)

    def __init__(self, folders: Folders, launchers: dict[str, Launcher]) -> None:
        super().__init__()
        self._folders = folders
        self._launchers = launchers
        self._handle: RunHandle | None = None
        self._follower: Follower | None = None
        self.state = RunState()
        self.run_folder: Path | None = None
        self.project: Project | None = None
        self.is_stopping = False
        self._launcher = ""
        self._launched_at = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self.poll)

    @property
    def is_active(self) -> bool:
        """Whether a run of this window goes on."""
        return self._handle is not None

    @property
    def is_waking(self) -> bool:
        """Whether this window's run has a host that has not spoken yet; a resumed run shows its old end till then."""
        ended = self.state.ended
        is_old_end = ended is not None and ended.time < self._launched_at
        return self._handle is not None and (self.state.first_time is None or is_old_end)

    @property
    def outlives_window(self) -> bool:
        """Whether the run that goes on has a host that can finish it without this window."""
        return self._handle is not None and self._launcher == "process"

    @property
    def is_quiet(self) -> bool:
        """Whether the run has not been heard of for too long."""
        return self._follower is not None and self._follower.is_quiet(time.time())

    def start(self, project: Project, launcher: str) -> None:
        """Make a run folder for `project` and train it there."""
        if self.is_active:
            return
        try:
            folder = create_run(project, self._folders.runs)
        except RunsUnwritable as error:
            self.trouble.emit(error.problem)
            return
        self._launch(folder, project, launcher, resume=False)

    def go_on(self, run_folder: Path, project: Project, launcher: str) -> None:
        """Resume an ended run from its last checkpoint."""
        if not self.is_active:
            self._launch(run_folder, project, launcher, resume=True)

    def _launch(self, folder: Path, project: Project, launcher: str, *, resume: bool) -> None:
        self.open(folder, project)
        self._launcher, self._launched_at = launcher, time.time()
        self._handle = self._launchers[launcher].start(folder, resume=resume)
        self._timer.start()
        self.started.emit()

    def open(self, run_folder: Path, project: Project | None = None) -> None:
        """Show the run in `run_folder` from its first event on, whether it goes on or is long over."""
        self.run_folder, self.project = run_folder, project
        self.is_stopping = False
        self._follower = Follower(run_folder)
        old, self.state = self.state, RunState()
        self.changed.emit(old, self.state)
        self.poll()
        if self._follower.is_behind or self.state.is_running:
            self._timer.start()

    def command(self, command: Command) -> None:
        if self.run_folder is not None:
            problem = send(self.run_folder, command)
            if problem is not None:
                self.trouble.emit(problem)

    def pause(self) -> None:
        self.command(Pause(time.time()))

    def resume(self) -> None:
        self.command(Resume(time.time()))

    def save_checkpoint(self) -> None:
        self.command(SaveCheckpoint(time.time()))

    def take_snapshot(self) -> None:
        self.command(TakeSnapshot(time.time()))

    def stop(self) -> None:
        """Ask the run to end; it is gone within three seconds, by force if need be."""
        if self.run_folder is None or self.is_stopping:
            return
        self.is_stopping = True
        if self._handle is not None:
            self._handle.stop(STOP_GRACE_SECONDS)
        else:
            self.command(Stop(time.time()))
        self.changed.emit(self.state, self.state)

    def join(self, timeout_seconds: float) -> bool:
        """Wait for the end of this window's run; whether it has ended."""
        ended = self._handle is None or self._handle.wait(timeout_seconds)
        self.poll()
        return ended

    def poll(self) -> None:
        """Take in what the run has said since the last time."""
        if self._follower is None:
            return
        if self._handle is not None:
            self._handle.poll()
        is_gone = self._handle is None or not self._handle.is_alive()
        events = self._follower.poll()
        if events:
            self._take_in(events)
        if is_gone and not events and not self._follower.is_behind:
            self._conclude_without_a_start()
        if self.state.ended is not None and is_gone and not self._follower.is_behind:
            self._finish()

    def _conclude_without_a_start(self) -> None:
        """A host that went before the run began writes no end; the follower knows no process that it could miss."""
        if self._handle is None or self.state.started is not None or self.state.ended is not None:
            return
        problem = self._handle.problem
        if problem is not None:
            self.trouble.emit(problem)
        reason = problem_message(problem) if problem else tr("The run's host ended before the run began.")
        self._take_in([Ended(time.time(), "died", reason)])

    def close(self) -> None:
        """Show no run any more, unless one of this window goes on."""
        if self.run_folder is None or self.is_active:
            return
        self.detach()
        self.run_folder = self.project = None
        self.is_stopping = False
        old, self.state = self.state, RunState()
        self.changed.emit(old, self.state)

    def detach(self) -> None:
        """Follow no run any more; one that goes on is left to its host."""
        self._timer.stop()
        self._handle = self._follower = None

    def _take_in(self, events: list[Event]) -> None:
        old = self.state
        if self.is_stopping:
            events = [_as_wanted(event) for event in events]
        for event in events:
            self.state = self.state.after(event)
        self.arrived.emit(events)
        self.changed.emit(old, self.state)

    def _finish(self) -> None:
        self._timer.stop()
        problem = self._handle.problem if self._handle is not None and self.is_waking else None
        if problem is not None:
            self.trouble.emit(problem)  # a resumed run's old end would be shown as if nothing had been tried
        was_active, self._handle = self.is_active, None
        self.is_stopping = False
        if was_active:
            self.changed.emit(self.state, self.state)
            self.ended.emit()

    def say(self, problem: Problem) -> None:
        """Show trouble that is not a run's own."""
        self.trouble.emit(problem)


def _as_wanted(event: Event) -> Event:
    """A host that was ended by force because it did not heed a stop is no accident."""
    if isinstance(event, Ended) and event.outcome == "died":
        reason = tr("It did not answer and was ended by force. Its checkpoints are kept.")
        return replace(event, outcome="stopped", reason=reason)
    return event
