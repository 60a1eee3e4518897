"""Checkpoints are whole, or passed over."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch
from safetensors import SafetensorError

from studio.engine import checkpoint as module
from studio.engine.checkpoint import (
    Checkpoint,
    CheckpointDamaged,
    CheckpointWriter,
    Saved,
    best,
    latest,
    read_checkpoint,
    write_checkpoint,
)

pytestmark = pytest.mark.torch

TENSORS = {
    "weights.a": torch.arange(6, dtype=torch.float32).reshape(2, 3),
    "weights.half": torch.tensor([1.5, -2.0], dtype=torch.bfloat16),
    "optimiser.0.step": torch.tensor(7.0),
    "random.cpu": torch.arange(9, dtype=torch.uint8),
}


def checkpoint(step: int) -> Checkpoint:
    return Checkpoint(step, 1, {"position": {"loss_sum": 0.1 + 0.2}, "name": "Grün"}, TENSORS)


def test_that_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    assert write_checkpoint(path, checkpoint(4)) == path.stat().st_size
    back = read_checkpoint(path)
    assert (back.step, back.epoch, back.facts["position"]["loss_sum"]) == (4, 1, 0.1 + 0.2)
    assert back.tensors.keys() == TENSORS.keys()
    assert all(torch.equal(back.tensors[name], TENSORS[name]) for name in TENSORS)
    assert set(back.part("weights")) == {"a", "half"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
def test_that_a_changed_byte_is_noticed(tmp_path: Path, place: float, change: int) -> None:
    path = tmp_path / "c.safetensors"
    write_checkpoint(path, checkpoint(4))
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= change
    path.write_bytes(content)
    try:
        back = read_checkpoint(path)
    except CheckpointDamaged as error:
        assert str(path) in str(error)
        return
    # Only bytes without meaning (spaces that fill the header) may differ.
    assert back.facts == {**checkpoint(4).facts, "format": module.FORMAT, "version": 1, "step": 4, "epoch": 1}
    assert all(torch.equal(back.tensors[name], TENSORS[name]) for name in TENSORS)


@pytest.mark.parametrize("keep", [0, 5, 100, -1])
def test_that_a_truncated_file_is_noticed(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "c.safetensors"
    write_checkpoint(path, checkpoint(4))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CheckpointDamaged):
        read_checkpoint(path)


def writer(run: Path, saved: list[Saved], failed: list[OSError]) -> CheckpointWriter:
    return CheckpointWriter(run, saved.append, failed.append)


def test_that_the_last_two_and_the_best_are_kept(tmp_path: Path) -> None:
    saved: list[Saved] = []
    keeper = writer(tmp_path, saved, [])
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / ".step-0000000001.safetensors.12345678.tmp").touch()
    for step in (1, 2, 3, 4):
        keeper.save(checkpoint(step), is_best=step == 2)
    keeper.close()
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["best.safetensors", "step-0000000003.safetensors", "step-0000000004.safetensors"]
    found = best(tmp_path)
    assert found is not None and found.step == 2
    assert [(one.step, one.is_best) for one in saved] == [(1, False), (2, True), (3, False), (4, False)]
    assert (tmp_path / saved[-1].path).stat().st_size == saved[-1].bytes


def test_that_the_newest_whole_checkpoint_is_found_and_damaged_ones_are_named(tmp_path: Path) -> None:
    keeper = writer(tmp_path, [], [])
    keeper.save(checkpoint(3), is_best=False)
    keeper.save(checkpoint(4), is_best=False)
    keeper.close()
    newest = tmp_path / "checkpoints" / "step-0000000004.safetensors"
    newest.write_bytes(newest.read_bytes()[:-3])
    found = latest(tmp_path)
    assert found.checkpoint is not None and found.checkpoint.step == 3
    assert found.damaged == ("checkpoints/step-0000000004.safetensors",)


def test_that_a_damaged_later_file_is_gone_once_the_run_went_on(tmp_path: Path) -> None:
    keeper = writer(tmp_path, [], [])
    keeper.save(checkpoint(9), is_best=False)
    keeper.save(checkpoint(4), is_best=False)
    keeper.close()
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-0000000004.safetensors"]


def test_that_a_run_without_checkpoints_has_none(tmp_path: Path) -> None:
    assert latest(tmp_path) == module.Latest()
    assert best(tmp_path) is None


@pytest.mark.parametrize("raised", [SafetensorError("No space left on device"), OSError(errno.ENOSPC, "full")])
def test_that_a_full_disk_is_told_and_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    failed: list[OSError] = []
    keeper = writer(tmp_path, [], failed)
    keeper.save(checkpoint(1), is_best=True)
    keeper.wait()

    def refuse(tensors: Any, path: Path, metadata: Any) -> None:
        Path(path).write_bytes(b"half")
        raise raised

    monkeypatch.setattr(module, "save_file", refuse)
    keeper.save(checkpoint(2), is_best=True)
    keeper.save(checkpoint(3), is_best=False)
    keeper.close()
    assert len(failed) == 1, "said once, not again at each epoch"
    found = latest(tmp_path)
    assert found.checkpoint is not None and found.checkpoint.step == 1
    assert not list((tmp_path / "checkpoints").glob(".*"))


def test_that_the_best_is_a_copy_where_the_disk_has_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_link)
    keeper = writer(tmp_path, [], [])
    keeper.save(checkpoint(5), is_best=True)
    keeper.close()
    found = best(tmp_path)
    assert found is not None and found.step == 5


def test_that_loading_runs_no_code(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    class Hostile:
        def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
            return Path.touch, (ran,)

    path = tmp_path / "c.safetensors"
    torch.save({"weights": Hostile()}, path)
    with pytest.raises(CheckpointDamaged):
        read_checkpoint(path)
    assert not ran.exists()
