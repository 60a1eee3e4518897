from __future__ import annotations

import dataclasses
import errno
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from studio import runs as runs_package
from studio.core.augmentation import Augmentation
from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.registry import resolve
from studio.core.text import problem_message
from studio.runs.answers import Guess, Prediction
from studio.runs.catalogue import summarise
from studio.runs.folder import commands_file, create_run, events_file
from studio.runs.follow import replay
from studio.runs.launchers import DEFAULT, LAUNCHERS, RunHandle
from studio.runs.launchers.attached import AttachedRun
from studio.runs.launchers.child import engine_command, engine_environment
from studio.runs.launchers.escalation import Escalation
from studio.runs.launchers.process import EngineProcess, ProcessLauncher
from studio.runs.launchers.thread import ThreadLauncher
from tests.runs.records import alive, started, written

SCRIPT = Path(__file__).with_name("fake_engine.py")
WAIT_SECONDS = 20.0

MakeEngine = Callable[[str], EngineProcess]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[MakeEngine]:
    made: list[EngineProcess] = []

    def make(behaviour: str) -> EngineProcess:
        made.append(EngineProcess(tmp_path / "cache", [sys.executable, str(SCRIPT), behaviour]))
        return made[-1]

    threads = set(threading.enumerate())
    yield make
    for one in made:
        one.close(grace_seconds=5.0)
    assert set(threading.enumerate()) <= threads


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    return create_run(Project("a"), tmp_path / "runs")


def test_that_every_launcher_resolves_to_something_that_starts_runs(tmp_path: Path) -> None:
    assert DEFAULT in LAUNCHERS
    for name in LAUNCHERS:
        spec = LAUNCHERS[name]
        launcher = spec.make(tmp_path)
        assert callable(launcher.start)
        launcher.close()
        assert resolve(spec.target) is type(launcher)


def test_that_the_engine_says_what_it_is_when_it_is_warm(engine: MakeEngine) -> None:
    one = engine("hasty")
    assert one.state == "off"
    one.warm()
    assert one.wait_ready(WAIT_SECONDS)
    assert one.facts["torch"] == "0.0"
    assert one.problem is None


def test_that_a_preview_is_of_the_projects_augmentation(engine: MakeEngine) -> None:
    one = engine("hasty")
    project = Project("a", augmentation=Augmentation(rotation=30))
    assert one.augment_preview(project, Path("a.png"), 3, turn=2).result(WAIT_SECONDS) == (b"30 2",) * 3
    refused = one.augment_preview(project, Path("broken.png")).result(WAIT_SECONDS)
    assert isinstance(refused, Problem) and "broken" in problem_message(refused)


def test_that_predictions_come_in_the_order_of_the_paths(engine: MakeEngine, tmp_path: Path) -> None:
    answer = engine("hasty").predict(tmp_path, [Path("a.png"), Path("broken.png")], top=1).result(WAIT_SECONDS)
    assert answer == (
        Prediction("a.png", (Guess("cat", 0.75),)),
        Prediction("broken.png", (), "broken"),
    )


def test_that_a_refused_request_is_a_problem_with_the_engines_sentence(engine: MakeEngine) -> None:
    answer = engine("hasty").predict(Path("/absent"), [Path("a.png")]).result(WAIT_SECONDS)
    assert isinstance(answer, Problem)
    assert problem_message(answer) == "/absent does not exist."


def test_that_devices_and_proof_are_answered(engine: MakeEngine) -> None:
    one = engine("hasty")
    devices, proof = one.devices().result(WAIT_SECONDS), one.proof().result(WAIT_SECONDS)
    assert not isinstance(devices, Problem)
    assert devices["items"] == [{"name": "cpu"}]
    assert not isinstance(proof, Problem)
    assert proof["devices"] == [{"kind": "cpu", "ok": True}]


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ("broken", "engine_broken", "libtorch.so is missing"),
        ("torchless", "torch_missing", "PyTorch is not installed"),
        ("silent", "engine_broken", "Illegal instruction"),
    ],
)
def test_that_a_broken_engine_is_a_problem_that_says_why(
    engine: MakeEngine, behaviour: str, code: str, words: str
) -> None:
    one = engine(behaviour)
    answer = one.proof().result(WAIT_SECONDS)
    assert isinstance(answer, Problem)
    assert answer.code == code
    assert words in problem_message(answer)
    assert one.state == "broken"


def test_that_the_child_finds_this_very_package_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    code = "import json, studio.runs; print(studio.runs.__file__)"
    done = subprocess.run(
        [*engine_command()[:2], "-c", code], env=engine_environment(), capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()) == Path(runs_package.__file__ or "")


def test_that_an_engine_that_cannot_be_started_at_all_is_a_problem(tmp_path: Path) -> None:
    one = EngineProcess(tmp_path, [str(tmp_path / "no such program")])
    answer = one.devices().result(WAIT_SECONDS)
    assert isinstance(answer, Problem)
    assert answer.code == "engine_broken"
    one.close()


def test_that_a_run_ends_by_itself(engine: MakeEngine, run_folder: Path) -> None:
    handle = engine("hasty").train(run_folder)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is None
    assert '"finished"' in events_file(run_folder).read_text()


def test_that_a_run_stops_when_it_is_asked_to(engine: MakeEngine, run_folder: Path) -> None:
    one = engine("polite")
    assert one.wait_ready(WAIT_SECONDS)
    handle = one.train(run_folder)
    assert not handle.wait(0.2)
    handle.stop(grace_seconds=WAIT_SECONDS)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is None
    assert '"stopped"' in events_file(run_folder).read_text()


def test_that_a_run_whose_engine_has_not_begun_is_ended_at_once(engine: MakeEngine, run_folder: Path) -> None:
    handle = engine("slow").train(run_folder)
    handle.stop(grace_seconds=10 * WAIT_SECONDS)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is not None and handle.problem.code == "ended_by_force"


def test_that_a_run_that_does_not_listen_is_killed(engine: MakeEngine, run_folder: Path) -> None:
    one = engine("deaf")
    assert one.wait_ready(WAIT_SECONDS)
    handle = one.train(run_folder)
    handle.stop(grace_seconds=0.1)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is not None
    assert handle.problem.facts["exit"] == "SIGKILL"


def test_that_a_run_that_was_killed_on_demand_is_not_said_to_have_crashed(engine: MakeEngine, run_folder: Path) -> None:
    one = engine("deaf")
    assert one.wait_ready(WAIT_SECONDS)
    handle = one.train(run_folder)
    handle.kill()
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is not None and handle.problem.code == "ended_by_force"


def test_that_the_engine_comes_back_after_a_crash(engine: MakeEngine, run_folder: Path, tmp_path: Path) -> None:
    one = engine("crashes")
    handle = one.train(run_folder)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is not None
    assert handle.problem.code == "engine_gone"
    assert "the heap is corrupt" in problem_message(handle.problem)
    assert "the heap is corrupt" in one.stderr_tail()
    assert not isinstance(one.predict(tmp_path, [Path("a.png")]).result(WAIT_SECONDS), Problem)


def test_that_closing_ends_the_child_and_its_log(
    engine: MakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    one = engine("hasty")
    assert one.wait_ready(WAIT_SECONDS)
    pid = one.pid
    assert pid is not None
    if os.name == "posix":
        assert not list((tmp_path / "temporary").iterdir()), "nothing is left even if we are killed now"
    one.close(grace_seconds=5.0)
    assert not list((tmp_path / "temporary").iterdir())
    assert not psutil.pid_exists(pid)
    assert one.state == "off"


def test_that_requests_pending_at_the_close_are_answered_with_a_problem(engine: MakeEngine, run_folder: Path) -> None:
    one = engine("deaf")
    handle = one.train(run_folder)
    one.close(grace_seconds=0.0)
    assert not handle.is_alive()
    assert isinstance(handle.problem, Problem)


def test_that_the_process_launcher_shares_the_engine_that_it_is_given(
    engine: MakeEngine, run_folder: Path, tmp_path: Path
) -> None:
    one = engine("hasty")
    launcher = ProcessLauncher(tmp_path, one)
    assert launcher.start(run_folder).wait(WAIT_SECONDS)
    assert one.pid is not None


class FakeHost:
    """Stands for the engine's thread."""

    error: Exception | None = None

    def __init__(self, run_folder: Path, cache_folder: Path, *, launcher: str, resume: bool) -> None:
        assert launcher == "thread"
        self._folder = run_folder
        self._is_to_stop = threading.Event()

    def stop(self) -> None:
        self._is_to_stop.set()

    def join(self) -> None:
        assert self._is_to_stop.wait(WAIT_SECONDS)


class HostOnFullDisk(FakeHost):
    def join(self) -> None:
        super().join()
        self.error = OSError(errno.ENOSPC, "No space left on device")


def broken_host(*_arguments: Any, **_more: Any) -> None:
    raise OSError("c10.dll cannot be loaded")


def test_that_a_run_in_this_program_stops_when_it_is_asked_to(run_folder: Path, tmp_path: Path) -> None:
    handle = ThreadLauncher(tmp_path, f"{__name__}:FakeHost").start(run_folder)
    assert not handle.wait(0.1)
    handle.stop()
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is None
    assert '"Stop"' in commands_file(run_folder).read_text()


def test_that_a_run_stops_and_says_so_while_its_folder_takes_no_word(run_folder: Path, tmp_path: Path) -> None:
    commands_file(run_folder).unlink()
    commands_file(run_folder).mkdir()
    handle = ThreadLauncher(tmp_path, f"{__name__}:HostOnFullDisk").start(run_folder)
    handle.stop()
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is not None
    assert handle.problem.code == "record_not_written"
    assert "No space left on device" in problem_message(handle.problem)


def test_that_the_engine_is_told_to_stop_while_its_folder_takes_no_word(engine: MakeEngine, run_folder: Path) -> None:
    commands_file(run_folder).unlink()
    commands_file(run_folder).mkdir()
    one = engine("hears")
    assert one.wait_ready(WAIT_SECONDS)
    handle = one.train(run_folder)
    handle.stop(grace_seconds=WAIT_SECONDS)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is None


def test_that_an_engine_that_cannot_be_imported_here_is_a_problem(run_folder: Path, tmp_path: Path) -> None:
    handle = ThreadLauncher(tmp_path, f"{__name__}:broken_host").start(run_folder)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is not None
    assert "c10.dll" in problem_message(handle.problem)


class ConfusedHost(FakeHost):
    """Fails outside the run's own care, and its record takes no word."""

    def join(self) -> None:
        self.error = TypeError("run() got nonsense")


def test_that_an_error_that_keeps_a_run_from_beginning_is_its_handles_and_its_records(
    engine: MakeEngine, run_folder: Path, tmp_path: Path
) -> None:
    other_folder = create_run(Project("b"), tmp_path / "runs")
    handles: dict[Path, RunHandle] = {
        run_folder: engine("confused").train(run_folder),
        other_folder: ThreadLauncher(tmp_path, f"{__name__}:ConfusedHost").start(other_folder),
    }
    for folder, handle in handles.items():
        assert handle.wait(WAIT_SECONDS)
        assert handle.problem is not None
        assert problem_message(handle.problem) == "TypeError: run() got nonsense"
        state = replay(folder)
        assert state.ended is not None and state.ended.outcome == "failed"
        assert state.failed is not None and state.failed.message == "TypeError: run() got nonsense"
        assert state.failed.trace
        assert summarise(folder).outcome == "failed"


def test_that_an_engine_that_does_not_start_is_in_the_records_of_its_runs(engine: MakeEngine, run_folder: Path) -> None:
    assert engine("silent").train(run_folder).wait(WAIT_SECONDS)
    failed = replay(run_folder).failed
    assert failed is not None and failed.kind == "engine_broken" and "Illegal instruction" in failed.trace


def test_that_a_record_that_has_begun_is_its_writers_alone(engine: MakeEngine, run_folder: Path) -> None:
    events_file(run_folder).write_bytes(written([alive()]))
    before = events_file(run_folder).read_bytes()
    handle = engine("confused").train(run_folder, resume=True)
    assert handle.wait(WAIT_SECONDS)
    assert handle.problem is not None
    assert events_file(run_folder).read_bytes() == before


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_that_a_stop_goes_from_asking_to_terminating_to_killing_within_three_seconds(run_folder: Path) -> None:
    clock, ends = Clock(), list[tuple[float, bool]]()
    escalation = Escalation(run_folder, 2.0, lambda is_hard: ends.append((clock.now, is_hard)), clock)
    while clock.now < 3.0:
        clock.now = round(clock.now + 0.1, 1)
        escalation.step()
    assert ends[0] == (2.0, False)
    assert (2.5, True) in ends
    assert commands_file(run_folder).read_text().count('"Stop"') >= 4


def test_that_a_host_that_cannot_be_ended_is_asked_again_and_again(run_folder: Path) -> None:
    clock = Clock()
    escalation = Escalation(run_folder, 0.0, None, clock)
    for now in (0.2, 0.6, 1.2):
        clock.now = now
        escalation.step()
    assert commands_file(run_folder).read_text().count('"Stop"') == 3


def test_that_a_thread_of_another_program_is_asked_and_not_ended(run_folder: Path) -> None:
    handle = AttachedRun(run_folder, dataclasses.replace(alive(), launcher="thread"))
    handle.kill()
    handle.stop(grace_seconds=0.0)
    assert handle.poll()
    assert '"Stop"' in commands_file(run_folder).read_text()


def test_that_a_record_that_only_names_a_number_ends_no_process(run_folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        handle = AttachedRun(run_folder, started(pid=child.pid, process_started=0.0))
        handle.stop(grace_seconds=0.0)
        handle.kill()
        assert not handle.wait(0.8)
        assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_that_a_process_left_by_another_program_is_ended(run_folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        created = psutil.Process(child.pid).create_time()
        handle = AttachedRun(run_folder, started(pid=child.pid, process_started=created))
        handle.stop(grace_seconds=0.0)
        assert handle.wait(WAIT_SECONDS)
    finally:
        child.kill()
        child.wait()
