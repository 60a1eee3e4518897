"""A home of its own for every test, small folders of pictures, and a launcher that only tells a story."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from studio.cli import app
from studio.core.events import Ended, Event, Failed
from studio.core.problem import Problem
from studio.core.text import set_language
from studio.runs.folder import commands_file, events_file, model_folder
from studio.runs.launchers import LAUNCHERS, LauncherSpec
from studio.runs.launchers import process as process_launcher
from tests.runs.records import alive, epoch_ended, sampled, stepped, written

FAKE_ENGINE = Path(__file__).parent.parent / "runs" / "fake_engine.py"


@dataclass(frozen=True)
class Result:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Studio = Callable[..., Result]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("LANTERN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LANG", "C")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "home"
    set_language("en")


@pytest.fixture
def studio() -> Studio:
    def run(*arguments: object, text: str | None = None) -> Result:
        result = CliRunner().invoke(app, [str(one) for one in arguments], input=text)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Result(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Two classes of six colour pictures of 20 x 16 px."""
    folder = tmp_path / "colours"
    for name, colour in (("green", (30, 200, 60)), ("red", (200, 40, 50))):
        (folder / name).mkdir(parents=True)
        for number in range(6):
            Image.new("RGB", (20, 16), (*colour[:2], colour[2] + number)).save(folder / name / f"{number}.png")
    return folder


@dataclass
class Script:
    """What the next run does."""

    events: Callable[[], list[Event]]
    until_stopped: bool = False
    is_deaf: bool = False
    interrupts: int = 0
    problem: Problem | None = None
    resumes: list[bool] = field(default_factory=list)


def good_story() -> list[Event]:
    steps: list[Event] = []
    for step in range(1, 5):
        steps += [stepped(step), sampled(step)]
    end = Ended(110.0, "finished", "", 0.9, 9.0, 210.0, 2000, 1000)
    return [alive(), *steps, epoch_ended(1, 0.9), end]


def failing_story() -> list[Event]:
    message = "mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)"
    return [alive(), Failed(101.0, "RuntimeError", message, "Traceback"), Ended(102.0, "failed", "RuntimeError")]


class StoryRun:
    """Writes its script's events and ends."""

    def __init__(self, run_folder: Path, script: Script) -> None:
        self.run_folder = run_folder
        self.problem = script.problem
        self._script = script
        self._is_killed = False
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        events = self._script.events()
        with events_file(self.run_folder).open("ab") as file:
            file.write(written(event for event in events if not isinstance(event, Ended)))
        for _ in range(self._script.interrupts):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)
        while self._script.until_stopped and not self._is_killed and not self._hears():
            time.sleep(0.01)
        with events_file(self.run_folder).open("ab") as file:
            file.write(written(event for event in events if isinstance(event, Ended)))
        if any(isinstance(event, Ended) and event.outcome == "finished" for event in events):
            model_folder(self.run_folder).mkdir(exist_ok=True)
            (model_folder(self.run_folder) / "weights.safetensors").touch()

    def _hears(self) -> bool:
        return not self._script.is_deaf and "Stop" in commands_file(self.run_folder).read_text()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, grace_seconds: float = 2.0) -> None:
        with commands_file(self.run_folder).open("a") as file:
            file.write('{"type":"Stop","time":1}\n')

    def kill(self) -> None:
        self._is_killed = True

    def poll(self) -> bool:
        return self.is_alive()

    def wait(self, timeout_seconds: float) -> bool:
        self._thread.join(timeout_seconds)
        return not self.is_alive()


class StoryLauncher:
    """Hosts made-up runs; `script` is what they do."""

    script = Script(good_story)

    def __init__(self, cache_folder: Path) -> None:
        self.cache_folder = cache_folder

    def start(self, run_folder: Path, resume: bool = False) -> StoryRun:
        self.script.resumes.append(resume)
        return StoryRun(run_folder, self.script)

    def close(self) -> None:
        pass


@pytest.fixture
def story() -> Iterator[Callable[[Script], Script]]:
    undo = LAUNCHERS.add("story", LauncherSpec("Story", "For tests.", f"{__name__}:StoryLauncher"))

    def tell(script: Script) -> Script:
        StoryLauncher.script = script
        return script

    yield tell
    undo()


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts the fake engine in the real one's place, with this behaviour."""

    def use(behaviour: str) -> None:
        command = [sys.executable, str(FAKE_ENGINE), behaviour]
        monkeypatch.setattr(process_launcher, "engine_command", lambda: command)

    return use
