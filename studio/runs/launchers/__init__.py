"""Where a run may be hosted, as a table; each launcher's module is imported only when it is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from studio.core.problem import Problem
from studio.core.registry import Registry, resolve


class RunHandle(Protocol):
    """A run that was started here. Nothing but `wait` ever blocks."""

    @property
    def run_folder(self) -> Path: ...

    @property
    def problem(self) -> Problem | None:
        """Why the run could not be hosted; None while all is well. What fails inside a run is in its events."""
        ...

    def is_alive(self) -> bool:
        """Whether the host still works on this run."""
        ...

    def stop(self, grace_seconds: float = 2.0) -> None:
        """Ask the run to stop; `poll` goes from asking to terminating to killing once the grace is over."""
        ...

    def kill(self) -> None:
        """End the host at once, where it can be; its record stays and the run can be resumed."""
        ...

    def poll(self) -> bool:
        """Move a stop along; whether the run still lives. Call it every so often while stopping."""
        ...

    def wait(self, timeout_seconds: float) -> bool:
        """Poll until the run is over or the time is up; whether it is over."""
        ...


class Launcher(Protocol):
    """Hosts runs."""

    def start(self, run_folder: Path, resume: bool = False) -> RunHandle:
        """Begin the run in `run_folder`, or go on from its newest whole checkpoint. Trouble is in the handle."""
        ...

    def close(self) -> None:
        """Let go of the host; a run that still goes on there is left to finish where the host can do that."""
        ...


@dataclass(frozen=True, slots=True)
class LauncherSpec:
    """A launcher to choose; `label` and `help` are English source texts. `target` makes it from the cache folder."""

    label: str
    help: str
    target: str

    def make(self, cache_folder: Path) -> Launcher:
        return cast(Callable[[Path], Launcher], resolve(self.target))(cache_folder)


DEFAULT = "process"

LAUNCHERS: Registry[LauncherSpec] = Registry(
    "launcher",
    {
        "process": LauncherSpec(
            "Engine process",
            "Training runs in a process of its own: a crash there leaves everything else alive, and its memory goes "
            "back to the system.",
            "studio.runs.launchers.process:ProcessLauncher",
        ),
        "thread": LauncherSpec(
            "This program",
            "Training runs in a thread of this program: one process only, but a crash of the training ends both.",
            "studio.runs.launchers.thread:ThreadLauncher",
        ),
    },
    group="lantern_studio.launchers",
)
