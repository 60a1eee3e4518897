"""Whole runs on small pictures: what they say, what they leave, and how they stop, fail and go on."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from studio.core.commands import Pause, Resume, SaveCheckpoint, Stop, TakeSnapshot
from studio.core.events import (
    Beat,
    CheckpointSaved,
    Ended,
    EpochEnded,
    Evaluated,
    Event,
    Failed,
    MemorySampled,
    ModelSaved,
    Paused,
    Progressed,
    Resumed,
    Started,
    Stepped,
    Warned,
)
from studio.core.frozen import FrozenMap
from studio.core.runstate import RunState

pytest.importorskip("torch")

import torch

from studio.engine import assemble, prepared, session
from studio.engine import evaluate as evaluation
from studio.engine import train as module
from studio.engine.artefact import load_model
from studio.engine.checkpoint import latest
from studio.engine.learner import Position
from studio.engine.predict import predict
from studio.engine.train import run
from studio.engine.worker import start_training
from tests.engine.making import CLASSES, PER_CLASS, events_of, make_project, make_run, obey_laws, only, say

pytestmark = pytest.mark.torch


def weights_of(run_folder: Path) -> dict[str, torch.Tensor]:
    return load_model(run_folder).net.state_dict()


def losses_of(events: list[Event]) -> list[float]:
    return [loss for pack in only(events, Stepped) for loss in pack.losses]


def test_that_a_finished_run_told_everything(finished: Path) -> None:
    events = events_of(finished)
    obey_laws(events)
    started = only(events, Started)[-1]
    assert started.classes == tuple(sorted(CLASSES))
    assert started.train_count + started.validation_count == len(CLASSES) * PER_CLASS
    assert started.steps_per_epoch == -(-started.train_count // 8)
    assert (started.device, started.epochs, started.batch_size) == ("cpu", 3, 8)
    assert started.forecast_bytes is not None and started.parameters > 0
    assert len(losses_of(events)) == 3 * started.steps_per_epoch
    assert [epoch.epoch for epoch in only(events, EpochEnded)] == [1, 2, 3]
    assert [saved.epoch for saved in only(events, CheckpointSaved)] == [1, 2, 3]
    phases = list(dict.fromkeys(event.phase for event in only(events, Progressed)))
    assert phases == ["scan", "inspect", "build", "train", "evaluate"]


def test_that_the_pace_of_an_epoch_leaves_its_validation_out(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = evaluation.evaluate

    def slow(*given: Any, **more: Any) -> Any:
        time.sleep(0.5)
        return evaluate(*given, **more)

    monkeypatch.setattr(module, "evaluate", slow)
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=1))
    run(folder, cache, launcher="thread")
    epoch, ended = only(events_of(folder), EpochEnded)[0], only(events_of(folder), Ended)[0]
    assert epoch.images_per_second == pytest.approx(ended.images_per_second)
    assert epoch.images_per_second > 1.01 * epoch.train.count / epoch.seconds


def test_that_a_counter_that_fails_does_not_stop_the_heart(
    tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(pictures)
    folder = make_run(tmp_path / "run", project)

    def broken() -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr("studio.engine.emit.BEAT_SECONDS", 0.1)
    with session.Session(folder, "thread", resume=False) as talk:
        monkeypatch.setattr(talk.sampler, "tick", broken)
        talk.started(project, resumed_step=0)
        deadline = time.monotonic() + 20
        while len(only(events_of(folder), Beat)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
    assert len(only(events_of(folder), Beat)) >= 3


def test_that_it_learned_and_kept_its_best_epoch(finished: Path) -> None:
    events = events_of(finished)
    ended, evaluated, saved = only(events, Ended)[0], only(events, Evaluated)[0], only(events, ModelSaved)[0]
    validations = [epoch.validation for epoch in only(events, EpochEnded)]
    best = max(validation.accuracy for validation in validations if validation)
    assert best >= 0.9
    assert ended.best_validation_accuracy == saved.validation_accuracy == evaluated.metrics.accuracy == best
    assert sum(map(sum, evaluated.confusion)) == only(events, Started)[-1].validation_count
    assert ended.outcome == "finished"
    assert ended.peak_bytes is not None and ended.peak_bytes > 10 * 1024**2
    assert ended.images_per_second > 0


def test_that_its_memory_was_watched_by_role(finished: Path) -> None:
    counted = [sample for sample in only(events_of(finished), MemorySampled) if sample.tensors]
    assert counted
    by_role = {total.role: total.bytes for total in counted[0].tensors}
    parameters = sum(p.numel() for p in load_model(finished).net.parameters()) * 4
    assert by_role["gradients"] == parameters < by_role["weights"]
    assert by_role["optimiser"] > 2 * parameters
    assert by_role["activations"] > by_role["data"] > 0


def test_that_its_model_says_what_the_evaluation_counted(finished: Path, pictures: Path) -> None:
    model = load_model(finished)
    assert model.labels == tuple(sorted(CLASSES))
    assert len(model.preprocessing.mean) == 1
    paths = sorted(pictures.rglob("*.png"))
    found = predict(model, paths)
    right = sum(one.top[0][0] == path.parent.name for one, path in zip(found, paths, strict=True))
    assert right / len(paths) >= 0.9
    assert all(len(one.top) == 4 and abs(sum(p for _, p in one.top) - 1) < 1e-5 for one in found)


def test_that_repairs_reach_training(tmp_path: Path, pictures: Path, cache: Path) -> None:
    moved, gone = "left/000.png", "right/003.png"
    project = make_project(pictures, epochs=1)
    data = replace(
        project.data,
        left_out=(gone,),
        relabelled=FrozenMap({moved: "right", "left/999.png": "right"}),
    )
    folder = make_run(tmp_path / "run", replace(project, data=data))
    with session.Session(folder, "thread", resume=False) as talk:
        ready = prepared.prepare(replace(project, data=data), cache, talk)
    paths = ready.inspection.index.pictures.paths
    used = {paths[place]: int(ready.labels[place]) for place in (*ready.train, *ready.validation)}
    assert ready.project.data.classes[used[moved]] == "right"
    assert gone not in used
    warned = [event.problem for event in only(events_of(folder), Warned)]
    assert [(problem.code, problem.files) for problem in warned] == [("repairs_lost", ("left/999.png",))]


def test_that_the_reducer_understands_it(finished: Path) -> None:
    state = RunState()
    for event in events_of(finished):
        state = state.after(event)
    assert state.ended is not None and not state.is_running
    assert state.step == state.total_steps
    assert len(state.losses) == state.total_steps
    assert state.model is not None and state.evaluated is not None


def test_that_the_same_seed_gives_the_same_run(finished: Path, tmp_path: Path, pictures: Path, cache: Path) -> None:
    again = make_run(tmp_path / "run", make_project(pictures, epochs=3))
    run(again, cache, launcher="thread")
    assert losses_of(events_of(again)) == losses_of(events_of(finished))
    same = weights_of(finished)
    assert all(torch.equal(tensor, same[name]) for name, tensor in weights_of(again).items())


def when(monkeypatch: pytest.MonkeyPatch, step: int, action: Callable[[], None]) -> None:
    """Do `action` right after the optimiser step with this number, and let the inbox see it at once."""
    monkeypatch.setattr("studio.engine.inbox.POLL_SECONDS", 0.0)
    tell = module._tell_step

    def told(run: Any, *more: Any) -> None:
        tell(run, *more)
        if run.learner.position.step == step:
            action()

    monkeypatch.setattr(module, "_tell_step", told)


@pytest.mark.parametrize("step", [1, 4, 6, 8])
def test_that_a_stopped_run_resumed_equals_an_uninterrupted_one(
    finished: Path, tmp_path: Path, pictures: Path, cache: Path, step: int
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=3))
    with pytest.MonkeyPatch.context() as patch:
        when(patch, step, lambda: say(folder, Stop(time.time())))
        assert run(folder, cache, launcher="thread") == "stopped"
    first = events_of(folder)
    obey_laws(first)
    assert only(first, Stepped)[-1].step == step
    assert only(first, ModelSaved)
    found = latest(folder).checkpoint
    assert found is not None and found.step == step

    torch.manual_seed(12345)
    assert run(folder, cache, launcher="thread", resume=True) == "finished"
    second = events_of(folder)[len(first) :]
    obey_laws(second)
    assert only(second, Started)[0].resumed_step == step
    straight = events_of(finished)
    assert losses_of(first) + losses_of(second) == losses_of(straight)
    kept = [(epoch.epoch, epoch.train, epoch.validation) for epoch in only(straight, EpochEnded)]
    assert [(e.epoch, e.train, e.validation) for e in only([*first, *second], EpochEnded)] == kept
    expected = weights_of(finished)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in weights_of(folder).items())


def test_that_a_damaged_newest_checkpoint_costs_one_epoch_and_is_told(
    finished: Path, tmp_path: Path, pictures: Path, cache: Path
) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    newest = latest(folder).path
    assert newest is not None
    newest.write_bytes(newest.read_bytes()[:-9])
    before = len(events_of(folder))
    assert run(folder, cache, launcher="thread", resume=True) == "finished"
    again = events_of(folder)[before:]
    assert only(again, Warned)[0].problem.code == "checkpoint_damaged"
    assert [epoch.epoch for epoch in only(again, EpochEnded)] == [3]
    expected = weights_of(finished)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in weights_of(folder).items())


def test_that_resuming_without_a_checkpoint_starts_anew(tmp_path: Path, pictures: Path, cache: Path) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=1))
    say(folder, Stop(1.0))
    assert run(folder, cache, launcher="thread", resume=True) == "finished"
    assert only(events_of(folder), Warned)[0].problem.code == "checkpoint_missing"


def test_that_a_pause_holds_training_until_it_is_resumed(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=1))
    seen_while_paused: list[int] = []

    def resume_later() -> None:
        deadline = time.monotonic() + 20
        while not only(events_of(folder), Paused) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        seen_while_paused.append(sum(len(pack.losses) for pack in only(events_of(folder), Stepped)))
        say(folder, Resume(time.time()))

    waiting = threading.Thread(target=resume_later)

    def pause() -> None:
        say(folder, Pause(time.time()), SaveCheckpoint(time.time()))
        waiting.start()

    when(monkeypatch, 2, pause)
    assert run(folder, cache, launcher="thread") == "finished"
    waiting.join()
    events = events_of(folder)
    obey_laws(events)
    assert [paused.step for paused in only(events, Paused)] == [2]
    assert [resumed.step for resumed in only(events, Resumed)] == [2]
    assert seen_while_paused == [2]
    assert only(events, CheckpointSaved)[0].step == 2


def test_that_a_paused_run_can_be_stopped(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=50))
    when(monkeypatch, 1, lambda: say(folder, Pause(time.time()), TakeSnapshot(time.time()), Stop(time.time())))
    assert run(folder, cache, launcher="thread") == "stopped"
    assert only(events_of(folder), Stepped)[-1].step == 1


PHASES: dict[str, tuple[Any, str]] = {
    "scan": (prepared, "scan"),
    "inspect": (prepared, "inspect"),
    "build": (assemble, "with_statistics"),
    "train": (module, "_train"),
    "evaluate": (module, "evaluate"),
}


@pytest.mark.parametrize("phase", list(PHASES))
def test_that_a_stop_ends_every_phase(
    phase: str, tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Stop arrives when the phase's own work begins; nothing after that phase may happen."""
    monkeypatch.setattr("studio.engine.inbox.POLL_SECONDS", 0.0)
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=1))
    place, name = PHASES[phase]
    work = getattr(place, name)

    def stopped_work(*arguments: Any, **more: Any) -> Any:
        in_phase = only(events_of(folder), Progressed)[-1].phase == phase
        if in_phase:
            say(folder, Stop(time.time()))
        return work(*arguments, **more)

    monkeypatch.setattr(place, name, stopped_work)
    assert run(folder, tmp_path / "cache", launcher="thread") == "stopped"
    events = events_of(folder)
    obey_laws(events)
    assert only(events, Progressed)[-1].phase == phase
    assert not only(events, Failed) and not only(events, Evaluated)
    assert bool(only(events, ModelSaved)) == (phase == "evaluate")


def test_that_the_worker_thread_runs_it_and_can_be_stopped(tmp_path: Path, pictures: Path, cache: Path) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=100_000))
    handle = start_training(folder, cache, "thread")
    assert not handle.daemon
    deadline = time.monotonic() + 30
    while not only(events_of(folder), Stepped) and time.monotonic() < deadline:
        time.sleep(0.05)
    handle.stop()
    handle.join(30)
    assert not handle.is_alive()
    assert handle.outcome == "stopped"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("lantern")]


def test_that_a_run_stops_while_its_disk_takes_nothing_and_tells_its_handle(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=100_000))
    handle = start_training(folder, cache, "thread")
    deadline = time.monotonic() + 30
    while not only(events_of(folder), Stepped) and time.monotonic() < deadline:
        time.sleep(0.05)
    write = os.write

    def full(file: int, data: bytes) -> int:
        if threading.current_thread().name.startswith("lantern"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    handle.stop()
    handle.join(30)
    assert not handle.is_alive()
    assert isinstance(handle.error, OSError) and handle.error.errno == errno.ENOSPC


def test_that_a_run_folder_that_cannot_be_written_is_an_error_of_the_handle(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "file").touch()
    handle = start_training(tmp_path / "file" / "run", cache, "thread")
    handle.join(30)
    assert isinstance(handle.error, OSError) and handle.outcome is None


def test_that_the_names_of_a_run_folders_parts_are_those_of_the_design() -> None:
    assert (session.EVENTS, session.COMMANDS, module.PROJECT, module.MODEL) == (
        "events.r0.jsonl",
        "commands.jsonl",
        "project.json",
        "model",
    )


def test_that_a_model_without_its_best_weights_is_not_said_to_be_the_best(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    is_best = Position.is_best
    monkeypatch.setattr("studio.engine.checkpoint.write_checkpoint", full)
    monkeypatch.setattr(Position, "is_best", lambda self, metrics: self.epoch == 0 and is_best(self, metrics))
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=3))
    assert run(folder, cache, launcher="thread") == "finished"
    events = events_of(folder)
    codes = [event.problem.code for event in only(events, Warned)]
    assert codes == ["checkpoint_not_saved", "best_not_kept"]
    assert only(events, ModelSaved)[0].validation_accuracy is None
