from __future__ import annotations

import io
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pytest
from rich.console import Console

from studio.cli.narrator import Narrator
from studio.cli.training import _interrupts
from studio.core.events import Ended, Event, Failed, Warned, event_from_line
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import load_project
from studio.core.runstate import RunState
from studio.runs.folder import commands_file
from studio.runs.follow import replay
from tests.cli.conftest import Script, Studio, failing_story, good_story
from tests.runs.records import alive, sampled, stepped

Tell = Callable[[Script], Script]

SUMMARY = {
    "outcome", "best_validation_accuracy", "seconds", "images_per_second", "peak_bytes", "forecast_bytes", "run",
}  # fmt: skip


def test_that_the_stream_is_events_with_the_summary_last(studio: Studio, story: Tell, pictures: Path) -> None:
    story(Script(good_story))
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert result.code == 0
    *events, summary = result.out.splitlines()
    assert [event_from_line(line) for line in events] == good_story()
    plain = json.loads(summary)
    assert set(plain) >= SUMMARY
    assert plain["outcome"] == "finished"
    assert plain["best_validation_accuracy"] == 0.9
    assert (plain["peak_bytes"], plain["forecast_bytes"]) == (2000, 1000)
    assert Path(plain["run"]).is_dir()
    assert result.err == ""


def test_that_people_read_the_accuracy_the_places_and_the_next_command(
    studio: Studio, story: Tell, pictures: Path, home: Path
) -> None:
    story(Script(good_story))
    result = studio("train", pictures, "--launcher", "story")
    assert result.code == 0
    assert "Epoch 1/3" in result.out
    assert "Validation accuracy 90.0%" in result.out
    assert str(home / "runs") in result.out
    assert "predict" in result.out
    assert "colours/green/0.png" in result.out


def test_that_settings_of_the_command_line_reach_the_run(studio: Studio, story: Tell, pictures: Path) -> None:
    story(Script(good_story))
    changes = ("--set", "recipe.epochs=3", "--set", "recipe.optimiser=sgd", "--set", "data.limit_per_class=none")
    more = ("--set", "network.b1.out_channels=8", "--device", "cpu")
    result = studio("train", pictures, "--launcher", "story", "--json", *changes, *more)
    project = load_project(Path(result.lines[-1]["run"]) / "project.json")
    assert (project.recipe.epochs, project.recipe.optimiser, project.recipe.device) == (3, "sgd", "cpu")
    assert project.data.limit_per_class is None
    assert project.network.blocks[0].settings["out_channels"] == 8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("recipe.epoch=3", "recipe.epochs"),
        ("epochs", "NAME=VALUE"),
        ("recipe.epochs=many", "a whole number"),
        ("recipe.epochs=0", "from 1"),
        ("recipe.optimiser=magic", "adamw"),
        ("recipe.learning_rate=nan", "a number"),
        ("network.b99.kernel=3", "network.b1.kernel"),
    ],
)
def test_that_a_wrong_setting_is_wrong_use_and_says_what_is_possible(
    studio: Studio, story: Tell, pictures: Path, change: str, words: str
) -> None:
    story(Script(good_story))
    result = studio("train", pictures, "--launcher", "story", "--set", change)
    assert result.code == 2
    assert words in result.err.replace("\n", " ")


def test_that_a_failed_run_ends_with_its_hint(studio: Studio, story: Tell, pictures: Path) -> None:
    story(Script(failing_story))
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert result.code == 1
    assert result.lines[-1]["outcome"] == "failed"
    assert "mat1 and mat2" in result.lines[-1]["reason"]
    assert "512 values arrive, 256 are expected" in result.err


def test_that_a_host_that_does_not_start_is_a_sentence_and_not_a_trace(
    studio: Studio, story: Tell, pictures: Path
) -> None:
    problem = Problem("torch_missing", facts=FrozenMap({"detail": "", "exit": ""}))
    story(Script(list, problem=problem))
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert result.code == 1
    assert "PyTorch is not installed" in result.err
    assert result.lines[-1]["outcome"] in {"died", "failed"}


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_that_an_error_of_the_engine_before_the_run_began_is_told_and_what_to_do(
    studio: Studio, fake_engine: Callable[[str], None], pictures: Path, home: Path, form: tuple[str, ...]
) -> None:
    fake_engine("confused")
    result = studio("train", pictures, *form)
    assert result.code == 1
    assert "The run failed. TypeError: run() got nonsense" in result.err
    run = next((home / "runs").iterdir())
    failed = replay(run).failed
    assert failed is not None and failed.trace == "in train.py, line 1"


def test_that_a_failure_that_nothing_explains_comes_with_the_next_steps(
    studio: Studio, story: Tell, pictures: Path
) -> None:
    failed = Failed(101.0, "ZeroDivisionError", "modulo by zero", "Traceback")
    story(Script(lambda: [alive(), failed, Ended(102.0, "failed")]))
    result = studio("train", pictures, "--launcher", "story")
    assert "The run failed. ZeroDivisionError: modulo by zero" in result.err
    assert "events.r0.jsonl" in result.err and "doctor" in result.err


def test_that_ctrl_c_stops_the_run_and_still_prints_the_summary(studio: Studio, story: Tell, pictures: Path) -> None:
    story(Script(lambda: [alive(), stepped(1), Ended(103.0, "stopped")], until_stopped=True, interrupts=1))
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert result.code == 1
    assert result.lines[-1]["outcome"] == "stopped"
    assert "Stopping" in result.err
    assert "Stop" in commands_file(Path(result.lines[-1]["run"])).read_text()


def test_that_a_second_ctrl_c_ends_a_run_that_does_not_listen(studio: Studio, story: Tell, pictures: Path) -> None:
    story(Script(lambda: [alive(), stepped(1)], until_stopped=True, is_deaf=True, interrupts=2))
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert result.code == 1
    assert result.lines[-1]["outcome"] == "died"


def test_that_an_expected_failure_is_told_in_the_users_language(
    studio: Studio, story: Tell, pictures: Path, home: Path
) -> None:
    facts: FrozenMap[Value] = FrozenMap({"device": "cuda", "present": "cpu"})
    warned = Warned(100.5, Problem("device_missing", place="cuda", facts=facts))
    failed = Failed(101.0, "device_missing", "There is no device cuda", "")
    story(Script(lambda: [alive(), warned, failed, Ended(102.0, "failed")]))
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.json").write_text('{"language": "zh_CN"}')
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert "设备" in result.lines[-1]["reason"]


def test_that_a_stop_before_the_engine_began_is_no_failure(studio: Studio, story: Tell, pictures: Path) -> None:
    story(Script(lambda: [], interrupts=2, problem=Problem("ended_by_force")))
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert result.code == 1
    assert (result.lines[-1]["outcome"], result.lines[-1]["reason"]) == ("stopped", "")
    assert "doctor" not in result.err


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminal hangs up here")
def test_that_a_closed_terminal_stops_the_run_unless_it_is_to_be_ignored() -> None:
    before = signal.getsignal(signal.SIGHUP)
    try:
        for handler, count in ((signal.SIG_DFL, 1), (signal.SIG_IGN, 0)):
            signal.signal(signal.SIGHUP, handler)
            with _interrupts() as interrupts:
                os.kill(os.getpid(), signal.SIGHUP)
                assert interrupts.count == count
            assert signal.getsignal(signal.SIGHUP) is handler
    finally:
        signal.signal(signal.SIGHUP, before)


def test_that_a_run_killed_without_a_word_is_told_as_died(studio: Studio, story: Tell, pictures: Path) -> None:
    story(Script(lambda: [alive(), stepped(1)]))
    result = studio("train", pictures, "--launcher", "story", "--json")
    assert result.code == 1
    assert result.lines[-1]["outcome"] == "died"
    assert event_from_line(result.out.splitlines()[-2]) != Ended(0.0, "died")


def test_that_resuming_tells_only_what_is_new(studio: Studio, story: Tell, pictures: Path) -> None:
    script = story(Script(lambda: [alive(), stepped(1), Ended(103.0, "stopped")]))
    first = studio("train", pictures, "--launcher", "story", "--json").lines[-1]["run"]
    (Path(first) / "checkpoints" / "step-1").touch()
    script = story(Script(good_story))
    result = studio("train", "--resume", Path(first).name, "--launcher", "story", "--json")
    assert result.code == 0
    assert script.resumes == [True]
    assert [event_from_line(line) for line in result.out.splitlines()[:-1]] == good_story()
    assert result.lines[-1]["run"] == first


def test_that_what_cannot_be_resumed_is_said(studio: Studio, story: Tell, pictures: Path, tmp_path: Path) -> None:
    story(Script(lambda: [alive(), Ended(103.0, "stopped")]))
    run = studio("train", pictures, "--launcher", "story", "--json").lines[-1]["run"]
    no_checkpoint = studio("train", "--resume", run)
    assert no_checkpoint.code == 1
    assert "no checkpoint" in no_checkpoint.err
    assert studio("train", "--resume", tmp_path).code == 2
    both = studio("train", "--resume", run, "--set", "recipe.epochs=9")
    assert both.code == 2
    assert "--set" in both.err


def test_that_a_folder_that_cannot_be_trained_on_still_ends_the_stream_with_its_summary(
    studio: Studio, tmp_path: Path
) -> None:
    (tmp_path / "nothing").mkdir()
    result = studio("train", tmp_path / "nothing", "--json")
    assert result.code == 1
    assert result.lines[-1]["outcome"] == "failed"
    assert result.lines[-1]["run"] is None
    assert result.lines[-1]["reason"] in result.err.replace("\n", " ")


def test_that_ctrl_c_before_any_run_ends_the_stream_too(
    studio: Studio, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("studio.cli.training.proposed_project", interrupted)
    result = studio("train", pictures, "--json")
    assert result.code == 1
    assert (result.lines[-1]["outcome"], result.lines[-1]["run"]) == ("stopped", None)


def test_that_train_wants_exactly_one_thing_to_train(studio: Studio, pictures: Path) -> None:
    assert studio("train").code == 2
    assert studio("train", pictures, "--sample").code == 2
    assert studio("train", pictures, "--launcher", "rocket").code == 2


def test_that_a_project_with_errors_is_refused_before_any_run(
    studio: Studio, story: Tell, pictures: Path, tmp_path: Path, home: Path
) -> None:
    story(Script(good_story))
    path = tmp_path / "p.studio.json"
    studio("new", pictures, "-o", path)
    plain = json.loads(path.read_text())
    plain["network"]["blocks"] = []
    path.write_text(json.dumps(plain))
    result = studio("train", path, "--launcher", "story", "--json")
    assert result.code == 1
    assert result.document["outcome"] == "failed"
    assert result.document["problems"]
    assert not (home / "runs").exists()


def test_that_a_relative_data_folder_is_found_beside_its_project(
    studio: Studio, story: Tell, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story(Script(good_story))
    path = tmp_path / "p.studio.json"
    studio("new", pictures, "-o", path)
    plain = json.loads(path.read_text())
    plain["data"] |= {"folder": "colours", "classes": []}
    path.write_text(json.dumps(plain))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    result = studio("train", path, "--launcher", "story", "--json")
    assert result.code == 0
    project = load_project(Path(result.lines[-1]["run"]) / "project.json")
    assert project.data.folder == str(pictures)
    assert project.data.classes == ("green", "red")


def test_that_the_sample_comes_with_a_picture_to_try(studio: Studio, story: Tell) -> None:
    story(Script(good_story))
    result = studio("train", "--sample", "--launcher", "story")
    assert result.code == 0
    assert str(Path("home", "data", "sample", "try_these")) in result.out


@pytest.mark.parametrize("width", [60, 80, 200])
def test_that_the_bar_keeps_its_numbers_whole_in_any_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=width, color_system=None, legacy_windows=False)
    steps = (stepped(step) for step in range(1, 512))
    events: list[Event] = [replace(alive(), steps_per_epoch=510), *steps, sampled(511)]
    state = reduce(RunState.after, events, RunState())
    monkeypatch.setattr(time, "time", lambda: state.last_time)
    with Narrator(console) as narrator:
        narrator.show(state)
    last = next(line for line in reversed(stream.getvalue().splitlines()) if "1530" in line)
    assert "511/1530" in last and "loss 0.500" in last
    assert ("memory" in last) is (width == 200)
