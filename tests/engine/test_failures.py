"""Runs that cannot go on say why, in words and facts, and leave a whole record."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from studio.core.events import Ended, Event, Failed, Started, Stepped, Warned
from studio.core.frozen import FrozenMap
from studio.core.problem import Severity
from studio.core.project import Block, Network, save_project

pytest.importorskip("torch")

import torch

from studio.engine import assemble
from studio.engine import train as module
from studio.engine.build import MAKERS, build
from studio.engine.train import run
from tests.engine.making import CLASSES, events_of, make_pictures, make_project, make_run, obey_laws, only

pytestmark = pytest.mark.torch


def failure_of(folder: Path, cache: Path) -> tuple[Failed, list[Event]]:
    assert run(folder, cache, launcher="thread") == "failed"
    events = events_of(folder)
    obey_laws(events)
    return only(events, Failed)[0], events


def test_that_a_loss_that_is_not_a_number_ends_the_run_before_the_weights_are_touched(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without anything that bends or bounds the values, each step multiplies them.
    blocks = (Block("b1", "flatten"), *(Block(f"b{n}", "linear", FrozenMap(out_features=8)) for n in (2, 3)))
    network = Network((*blocks, Block("b4", "linear")))
    recipe = {"optimiser": "sgd", "learning_rate": 1e6, "momentum": 0.0}
    folder = make_run(tmp_path / "run", make_project(pictures, network, **recipe))
    weights: list[bool] = []
    refuse = module._refuse_non_finite

    def watched(run: Any, *more: Any) -> None:
        try:
            refuse(run, *more)
        except Exception:
            weights.append(all(bool(p.isfinite().all()) for p in run.net.parameters()))
            raise

    monkeypatch.setattr(module, "_refuse_non_finite", watched)
    failed, events = failure_of(folder, cache)
    assert failed.kind in ("loss_not_finite", "gradient_not_finite")
    assert failed.facts["learning_rate"] == 1e6
    assert failed.facts["failing_step"] == only(events, Stepped)[-1].step + 1
    assert weights == [True]
    warned = only(events, Warned)[-1].problem
    assert len(warned.files) == 8 and all((pictures / name).is_file() for name in warned.files)
    assert str(failed.facts["failing_step"]) in failed.message


def test_that_running_out_of_memory_is_explained(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures))

    class Greedy(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.empty(2**60, dtype=torch.uint8) if self.training and x.requires_grad else x

    monkeypatch.setitem(MAKERS._members, "relu", lambda *_: Greedy())
    failed, events = failure_of(folder, cache)
    assert failed.facts["asked_bytes"] == 2**60
    assert (failed.facts["phase"], failed.facts["part"], failed.facts["batch_size"]) == ("train", "forward", 8)
    assert failed.facts["step"] == 0
    assert only(events, Warned)[-1].problem.code == "out_of_memory"
    assert "Greedy" not in failed.message and "forward" in failed.trace


def test_that_refused_pictures_are_left_out_and_named(tmp_path: Path, cache: Path) -> None:
    data = make_pictures(tmp_path / "data", CLASSES[:2], 8)
    (data / CLASSES[0] / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnonsense")
    (data / CLASSES[1] / "empty.png").touch()
    folder = make_run(tmp_path / "run", make_project(data, epochs=1))
    assert run(folder, cache, launcher="thread") == "finished"
    events = events_of(folder)
    left_out = [warned.problem for warned in only(events, Warned) if warned.problem.code == "pictures_left_out"]
    assert len(left_out) == 1
    assert left_out[0].facts["count"] == 2
    assert set(left_out[0].files) == {f"{CLASSES[0]}/broken.png", f"{CLASSES[1]}/empty.png"}
    started = only(events, Started)[-1]
    assert started.train_count + started.validation_count == 16


def test_that_a_picture_deleted_during_the_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = make_pictures(tmp_path / "data", CLASSES[:2], 6)
    folder = make_run(tmp_path / "run", replace_normalise(make_project(data, epochs=1)))

    def build_late(*arguments: Any) -> Any:
        shutil.rmtree(data / CLASSES[0])
        return build(*arguments)

    monkeypatch.setattr(assemble, "build", build_late)
    failed, _ = failure_of(folder, tmp_path / "cache")
    assert failed.kind == "picture_missing"
    assert CLASSES[0] in str(failed.facts["place"])


def replace_normalise(project: Any) -> Any:
    """Without measuring, no picture is in the cache before training begins."""
    return replace(project, preprocessing=replace(project.preprocessing, normalise="none"))


@pytest.mark.parametrize(
    ("prepare_folder", "code"),
    [
        (lambda folder: None, "folder_missing"),
        (lambda folder: folder.mkdir(), "folder_empty"),
        (lambda folder: make_pictures(folder, CLASSES[:1], 3), "single_class"),
    ],
)
def test_that_a_folder_that_cannot_be_trained_on_ends_the_run_with_its_problem(
    tmp_path: Path, cache: Path, prepare_folder: Callable[[Path], object], code: str
) -> None:
    prepare_folder(tmp_path / "data")
    folder = make_run(tmp_path / "run", make_project(tmp_path / "data"))
    failed, events = failure_of(folder, cache)
    assert failed.kind == failed.facts["problem"] == code
    assert only(events, Warned)[-1].problem.code == code
    assert failed.message and failed.message != code and failed.trace == ""


def test_that_a_network_that_cannot_work_is_refused_by_its_block(tmp_path: Path, pictures: Path, cache: Path) -> None:
    blocks = (Block("b1", "conv2d", FrozenMap(kernel=99)), Block("b2", "flatten"), Block("b3", "linear"))
    folder = make_run(tmp_path / "run", make_project(pictures, Network(blocks)))
    failed, _ = failure_of(folder, cache)
    assert (failed.kind, failed.facts["place"]) == ("block.window_too_large", "b1")


def test_that_a_network_far_beyond_the_memory_is_refused_before_it_is_built(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(*_arguments: object) -> None:
        raise AssertionError("it was built")

    monkeypatch.setattr(assemble, "build", built)
    monkeypatch.setattr(assemble, "total_bytes", lambda _device: 200 * 1024**2)
    failed, events = failure_of(make_run(tmp_path / "run", make_project(pictures, batch_size=4096)), cache)
    assert failed.kind == "network.memory" and "200 MiB of this computer" in failed.message
    problem = only(events, Warned)[-1].problem
    assert problem.code == "network.memory" and problem.severity is Severity.ERROR


def test_that_a_missing_device_is_said(tmp_path: Path, pictures: Path, cache: Path) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, device="cuda:77"))
    failed, _ = failure_of(folder, cache)
    assert failed.kind == "device_missing" and "cpu" in failed.message


@pytest.mark.parametrize("content", [None, "{", '{"format": "else"}'])
def test_that_an_unreadable_project_is_said(tmp_path: Path, cache: Path, content: str | None) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    if content is not None:
        (folder / "project.json").write_text(content)
    failed, _ = failure_of(folder, cache)
    assert failed.kind == "project_unreadable" and "project.json" in failed.message


def test_that_other_classes_in_the_folder_are_told_and_used(tmp_path: Path, pictures: Path, cache: Path) -> None:
    project = make_project(pictures, epochs=1)
    project = replace(project, data=replace(project.data, classes=("x", "y")))
    folder = make_run(tmp_path / "run", project)
    assert run(folder, cache, launcher="thread") == "finished"
    events = events_of(folder)
    assert only(events, Warned)[0].problem.code == "classes_changed"
    assert only(events, Started)[-1].classes == tuple(sorted(CLASSES))


def test_that_a_checkpoint_of_another_network_is_refused(
    finished: Path, tmp_path: Path, pictures: Path, cache: Path
) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    blocks = (Block("b1", "flatten"), Block("b2", "linear"))
    save_project(make_project(pictures, Network(blocks), epochs=9), folder / "project.json")
    before = len(events_of(folder))
    assert run(folder, cache, launcher="thread", resume=True) == "failed"
    assert only(events_of(folder)[before:], Failed)[0].kind == "checkpoint_does_not_fit"


def test_that_an_unexpected_error_is_reported_with_its_trace(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures))

    def broken(*_: Any) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr(module, "_end_epoch", broken)
    failed, events = failure_of(folder, cache)
    assert (failed.kind, failed.message) == ("ZeroDivisionError", "surprise")
    assert "in broken" in failed.trace
    assert only(events, Ended)[0].reason == "ZeroDivisionError"


def test_that_a_model_that_cannot_be_written_fails_the_run_but_not_its_record(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path / "run", make_project(pictures, epochs=1))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "save_model", full)
    failed, _ = failure_of(folder, cache)
    assert failed.kind == "model_not_saved" and "No space left" in failed.message
