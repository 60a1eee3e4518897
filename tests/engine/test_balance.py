"""Classes of unequal size count alike, in the loss or in what an epoch draws; a resumed run goes on with the same."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.events import Event, Stepped
from tests.engine.making import events_of, make_project, make_run, only

pytest.importorskip("torch")

import torch
from torch.nn import functional

from studio.engine import train
from studio.engine.balance import balanced_draws, balanced_weights, loss_of
from studio.engine.batches import Batches, Bytes, Places
from studio.engine.checkpoint import latest
from studio.engine.train import run

pytestmark = pytest.mark.torch


def test_that_weights_are_those_of_the_cited_formula() -> None:
    labels = np.array([0] * 6 + [1] * 3 + [3])
    assert balanced_weights(labels, 4) == pytest.approx((10 / 18, 10 / 9, 0.0, 10 / 3))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_that_with_weights_each_class_has_the_same_share_of_the_loss(labels: list[int]) -> None:
    counts = np.bincount(labels, minlength=5)
    shares = np.array(balanced_weights(np.array(labels), 5)) * counts
    assert shares[counts > 0] == pytest.approx(len(labels) / (counts > 0).sum())
    assert shares.sum() == pytest.approx(len(labels))


def a_batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    labels = torch.tensor([0, 0, 1, 2, 2, 2])
    return torch.randn(6, 3, generator=generator), labels, torch.tensor([0.5, 2.0, 0.75])


def test_that_the_weighted_loss_is_the_mean_over_the_weights_also_of_shares_of_classes() -> None:
    logits, labels, weights = a_batch()
    own = functional.cross_entropy(logits, labels, reduction="none")
    by_hand = (own * weights[labels]).sum() / weights[labels].sum()
    assert torch.allclose(loss_of(logits, labels, weights), by_hand)
    one_hot = functional.one_hot(labels, 3).float()
    assert torch.allclose(loss_of(logits, one_hot, weights), by_hand)
    mixed = torch.lerp(one_hot, one_hot.flip(0), 0.3)
    terms = -(mixed * logits.log_softmax(1) * weights)
    assert torch.allclose(loss_of(logits, mixed, weights), terms.sum() / (mixed * weights).sum())


def test_that_without_weights_the_loss_is_torchs_and_equal_weights_change_nothing() -> None:
    logits, labels, _ = a_batch()
    shares = functional.one_hot(labels, 3).float()
    for targets in (labels, shares):
        plain = functional.cross_entropy(logits, targets)
        assert torch.equal(loss_of(logits, targets, None), plain)
        assert torch.allclose(loss_of(logits, targets, torch.full((3,), 0.25)), plain)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=50), st.integers(0, 9), st.integers(0, 9))
def test_that_draws_are_as_many_as_there_are_and_repeat_only_with_seed_and_epoch(
    labels: list[int], seed: int, epoch: int
) -> None:
    drawn = balanced_draws(np.array(labels), seed, epoch)
    assert len(drawn) == len(labels) and drawn.min() >= 0 and drawn.max() < len(labels)
    assert drawn.tolist() == balanced_draws(np.array(labels), seed, epoch).tolist()


def test_that_a_class_of_one_in_a_hundred_is_drawn_as_often_as_the_other() -> None:
    labels = np.array([0] * 990 + [1] * 10)
    drawn = labels[balanced_draws(labels, 0, 0)]
    # Ten times the standard deviation of a fair coin's 1,000 throws is 158.
    assert abs(int(drawn.sum()) - 500) < 158
    assert balanced_draws(labels, 0, 0).tolist() != balanced_draws(labels, 0, 1).tolist()
    assert balanced_draws(labels, 0, 0).tolist() != balanced_draws(labels, 1, 0).tolist()


class Places255:
    """Pictures whose only pixel is their place."""

    def get(self, indices: Places) -> Bytes:
        return indices.astype(np.uint8).reshape(-1, 1, 1, 1)


def test_that_balanced_batches_draw_from_their_own_places_only() -> None:
    labels = np.array([9, 0, 9, 1, 0, 0, 9])
    places = np.array([1, 3, 4, 5])
    batches = Batches(Places255(), places, labels, 3, seed=1, balanced=True)
    seen = [(place, label) for b in batches.of_epoch(2) for place, label in zip(b.places, b.labels, strict=True)]
    assert len(seen) == 4
    assert all(place in places and labels[place] == label for place, label in seen)


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory, pictures: Path) -> Path:
    """The pictures with most of two classes taken out."""
    folder = shutil.copytree(pictures, tmp_path_factory.mktemp("uneven") / "shapes")
    for name in ("left", "top"):
        for path in sorted((folder / name).iterdir())[4:]:
            path.unlink()
    return folder


def losses(events: list[Event]) -> list[float]:
    return [loss for pack in only(events, Stepped) for loss in pack.losses]


@pytest.mark.parametrize("changes", [{"class_weights": "balanced"}, {"sampler": "balanced"}])
def test_that_a_resumed_run_goes_on_exactly(
    changes: dict[str, Any], tmp_path: Path, uneven: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(uneven, epochs=2, batch_size=4, **changes)
    project = replace(project, augmentation=replace(project.augmentation, mixup=0.4))
    straight, broken = make_run(tmp_path / "straight", project), make_run(tmp_path / "broken", project)
    assert run(straight, cache, launcher="thread") == "finished"
    told, asked = train._tell_step, list[bool]()

    def telling(current: Any, *more: Any) -> None:
        told(current, *more)
        if current.learner.position.step == 3:
            asked.append(True)

    monkeypatch.setattr(train, "_tell_step", telling)
    assert run(broken, cache, launcher="thread", host_stops=lambda: bool(asked)) == "stopped"
    monkeypatch.undo()
    step = only(events_of(broken), Stepped)[-1].step
    assert step == 3 < only(events_of(straight), Stepped)[-1].step
    torch.manual_seed(5)
    assert run(broken, cache, launcher="thread", resume=True) == "finished"
    assert losses(events_of(broken)) == losses(events_of(straight))


def test_that_the_weights_of_a_run_are_kept_and_gone_on_with(tmp_path: Path, uneven: Path, cache: Path) -> None:
    folder = make_run(tmp_path / "run", make_project(uneven, epochs=1, class_weights="balanced"))
    assert run(folder, cache, launcher="thread") == "finished"
    kept = latest(folder).checkpoint
    assert kept is not None
    weights = dict(zip(kept.facts["classes"], kept.facts["class_weights"], strict=True))
    assert weights["left"] > 1 > weights["right"]
