"""Stand-ins at the window's seams: an engine and launchers that do only what a test tells them to."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from studio.core.events import Event, Started, event_to_line
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project
from studio.runs.answers import Guess, Prediction
from studio.runs.folder import events_file


def png(colour: tuple[int, int, int]) -> bytes:
    """A picture of one colour."""
    stream = io.BytesIO()
    Image.new("RGB", (20, 20), colour).save(stream, "PNG")
    return stream.getvalue()


def say(run_folder: Path, *events: Event) -> None:
    """Let the run in `run_folder` say these events; the window hears them at its next poll."""
    with events_file(run_folder).open("a", encoding="utf-8") as file:
        file.writelines(event_to_line(event) + "\n" for event in events)


def started(**changes: Any) -> Started:
    """A `Started` of a small run on the CPU whose host process, this one, is alive."""
    values: dict[str, Any] = {
        "time": time.time(),
        "name": "digits",
        "launcher": "process",
        "pid": os.getpid(),
        "process_started": 0.0,
        "device": "cpu",
        "device_name": "CPU",
        "world_size": 1,
        "versions": FrozenMap(torch="2.14.1"),
        "seed": 0,
        "classes": ("cat", "dog"),
        "train_count": 80,
        "validation_count": 20,
        "batch_size": 8,
        "steps_per_epoch": 10,
        "epochs": 2,
        "parameters": 1000,
    }
    return Started(**{**values, **changes})


@dataclass
class FakeHandle:
    """The handle of a run that lives until the test ends it with `end()`. `stops` and `kills` count the requests."""

    run_folder: Path
    resume: bool = False
    problem: Problem | None = None
    is_over: bool = False
    stops: int = 0
    kills: int = 0
    ends_when_stopped: bool = True

    def is_alive(self) -> bool:
        return not self.is_over

    def stop(self, grace_seconds: float = 2.0) -> None:
        self.stops += 1
        self.is_over = self.is_over or self.ends_when_stopped

    def kill(self) -> None:
        self.kills += 1
        self.is_over = True

    def poll(self) -> bool:
        return self.is_alive()

    def wait(self, timeout_seconds: float) -> bool:
        return self.is_over

    def say(self, *events: Event) -> None:
        say(self.run_folder, *events)

    def end(self, problem: Problem | None = None) -> None:
        self.problem, self.is_over = problem, True


@dataclass
class FakeLauncher:
    """Remembers the handles of the runs it was asked to start, newest last."""

    handles: list[FakeHandle] = field(default_factory=list)
    is_closed: bool = False

    def start(self, run_folder: Path, resume: bool = False) -> FakeHandle:
        self.handles.append(FakeHandle(run_folder, resume))
        return self.handles[-1]

    def close(self) -> None:
        self.is_closed = True


class FakeEngine:
    """Answers at once with what `answers` holds under "devices", "proof", "predict", "augment_preview".

    `questions` keeps what was asked: ("predict", model, paths, top), ("devices",), ...
    """

    def __init__(self) -> None:
        self.state = "ready"
        self.problem: Problem | None = None
        self.facts: Mapping[str, Any] = {"torch": "2.14.1"}
        self.pid: int | None = os.getpid()
        self.is_closed = False
        self.questions: list[tuple[Any, ...]] = []
        self.answers: dict[str, Any] = {
            "devices": {"type": "devices", "devices": [{"name": "cpu", "label": "CPU"}]},
            "proof": {"type": "proof", "threads": 2, "devices": [{"kind": "cpu", "ok": True}]},
            "predict": None,
            "augment_preview": tuple(png((20 * number, 90, 200)) for number in range(8)),
        }

    def warm(self) -> None:
        self.questions.append(("warm",))

    def wait_ready(self, timeout_seconds: float) -> bool:
        return self.problem is None

    def devices(self) -> Future[Any]:
        return self._answer("devices")

    def proof(self) -> Future[Any]:
        return self._answer("proof")

    def predict(self, model: Path, paths: Sequence[Path], top: int = 5) -> Future[Any]:
        if self.answers["predict"] is None:
            guesses = (Guess("dog", 0.9), Guess("cat", 0.1))
            self.answers["predict"] = tuple(Prediction(str(path), guesses[:top]) for path in paths)
        return self._answer("predict", model, tuple(paths), top)

    def augment_preview(self, project: Project, path: Path, count: int = 8, turn: int = 0) -> Future[Any]:
        return self._answer("augment_preview", project, path, count, turn)

    def stderr_tail(self) -> str:
        return ""

    def close(self, grace_seconds: float = 1.0) -> None:
        self.is_closed = True

    def _answer(self, question: str, *arguments: Any) -> Future[Any]:
        self.questions.append((question, *arguments))
        future: Future[Any] = Future()
        future.set_result(self.answers[question])
        return future
