"""Training that goes on from a checkpoint equals training that was never interrupted, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from studio.core.events import Metrics
from studio.core.project import Recipe

pytest.importorskip("torch")

import torch
from torch.nn import functional

from studio.engine.build import build
from studio.engine.checkpoint import read_checkpoint, write_checkpoint
from studio.engine.learner import Learner, Position
from studio.engine.optimisers import OPTIMISERS, gradient_norm
from tests.engine.making import NETWORK

pytestmark = pytest.mark.torch

CPU = torch.device("cpu")


def learner(recipe: Recipe, seed: int = 0) -> Learner:
    made = Learner(build(NETWORK, (1, 16, 16), 4, seed), recipe, CPU)
    made.net.train()
    return made


def train(one: Learner, first: int, last: int) -> list[float]:
    losses = []
    for step in range(first, last):
        drawn = torch.Generator().manual_seed(step)
        inputs, labels = torch.rand((8, 1, 16, 16), generator=drawn), torch.randint(4, (8,), generator=drawn)
        loss = functional.cross_entropy(one.net(inputs), labels)
        one.optimiser.zero_grad()
        torch.autograd.backward(loss)
        one.optimiser.step()
        one.position.count(loss.item(), 3, 8)
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("optimiser", list(OPTIMISERS))
def test_that_a_restored_run_equals_an_uninterrupted_one(tmp_path: Path, optimiser: Any) -> None:
    recipe = replace(Recipe(), optimiser=optimiser, weight_decay=0.01)
    straight = learner(recipe)
    losses = train(straight, 0, 8)

    stopped = learner(recipe)
    assert train(stopped, 0, 4) == losses[:4]
    path = tmp_path / "c.safetensors"
    write_checkpoint(path, stopped.captured({}))

    resumed = learner(recipe, seed=99)
    resumed.restored(read_checkpoint(path))
    assert resumed.position == stopped.position
    assert train(resumed, 4, 8) == losses[4:]
    ends = [one.captured({}) for one in (straight, resumed)]
    assert ends[0].facts == ends[1].facts
    assert ends[0].tensors.keys() == ends[1].tensors.keys()
    assert all(torch.equal(ends[0].tensors[name], ends[1].tensors[name]) for name in ends[0].tensors)


def test_that_a_captured_state_does_not_change_with_training() -> None:
    one = learner(Recipe())
    train(one, 0, 2)
    captured = one.captured({})
    before = {name: tensor.clone() for name, tensor in captured.tensors.items()}
    train(one, 2, 4)
    assert all(torch.equal(before[name], tensor) for name, tensor in captured.tensors.items())
    assert captured.facts["position"]["step"] == captured.step == 2


def test_that_the_best_has_more_right_answers_or_as_many_at_a_lower_loss() -> None:
    position = Position(step=5)
    assert position.is_best(Metrics(1.0, 0.5, 10))
    assert not position.is_best(Metrics(1.0, 0.5, 10))
    assert not position.is_best(Metrics(0.1, 0.4, 10))
    position.step = 9
    assert position.is_best(Metrics(0.9, 0.5, 10))
    assert (position.best_accuracy, position.best_loss, position.best_step) == (0.5, 0.9, 9)


def test_that_a_validation_loss_that_is_not_a_number_is_never_the_better_one() -> None:
    position = Position(step=1)
    assert position.is_best(Metrics(1.0, 0.5, 10))
    assert not position.is_best(Metrics(float("nan"), 0.5, 10))
    assert position.is_best(Metrics(float("nan"), 0.6, 10))
    assert position.is_best(Metrics(2.0, 0.6, 10))


def test_that_epoch_metrics_weigh_batches_by_their_pictures() -> None:
    position = Position()
    position.count(1.0, 3, 4)
    position.count(4.0, 0, 2)
    assert position.train_metrics == Metrics(2.0, 0.5, 6)
    position.begin_next_epoch()
    assert (position.step, position.epoch, position.batch, position.seen) == (2, 1, 0, 0)


def test_that_the_gradient_norm_is_that_of_all_weights_together() -> None:
    one = learner(Recipe())
    torch.autograd.backward(one.net(torch.rand(4, 1, 16, 16)).square().sum())
    expected = torch.cat([p.grad.reshape(-1) for p in one.net.parameters() if p.grad is not None]).norm()
    torch.testing.assert_close(gradient_norm(one.net.parameters()), expected)
    next(p for p in one.net.parameters() if p.grad is not None).grad.fill_(float("inf"))  # type: ignore[union-attr]
    assert not gradient_norm(one.net.parameters()).isfinite()
