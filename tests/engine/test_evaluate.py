"""Evaluation counts what the network says, and leaves the network as it was."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch.nn import functional

from studio.engine.batches import Batches, Bytes, Normaliser, Places
from studio.engine.build import build
from studio.engine.evaluate import evaluate
from studio.engine.trouble import Stopped
from tests.engine.making import NETWORK

pytestmark = pytest.mark.torch

CPU = torch.device("cpu")
PICTURES = np.random.default_rng(1).integers(0, 256, (23, 1, 16, 16), np.uint8)
LABELS = np.random.default_rng(2).integers(0, 4, 23).astype(np.int64)


class Array:
    def get(self, indices: Places) -> Bytes:
        return PICTURES[indices]


def test_that_metrics_and_confusion_equal_a_plain_count() -> None:
    net = build(NETWORK, (1, 16, 16), 4, seed=0).train()
    normaliser = Normaliser((0.5,), (0.25,), CPU)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    told: list[tuple[int, int]] = []
    found = evaluate(
        net,
        Batches(Array(), np.arange(23), LABELS, 5),
        normaliser,
        4,
        progress=lambda done, total: told.append((done, total)),
    )
    assert net.training
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())
    with torch.no_grad():
        logits = net.eval()(normaliser(torch.from_numpy(PICTURES)))
    said = logits.argmax(1).numpy()
    expected = np.zeros((4, 4), int)
    np.add.at(expected, (LABELS, said), 1)
    assert found.confusion == tuple(map(tuple, expected.tolist()))
    assert found.metrics.accuracy == pytest.approx((said == LABELS).mean())
    loss = functional.cross_entropy(logits, torch.from_numpy(LABELS)).item()
    assert found.metrics.loss == pytest.approx(loss, rel=1e-5)
    assert told[-1] == (23, 23) and found.metrics.count == 23


def test_that_a_stop_ends_it_between_batches_and_the_network_trains_on() -> None:
    net = build(NETWORK, (1, 16, 16), 4, seed=0).train()
    asked = iter([False, True])
    batches = Batches(Array(), np.arange(23), LABELS, 5)
    with pytest.raises(Stopped):
        evaluate(net, batches, Normaliser((0.5,), (0.25,), CPU), 4, stop_asked=lambda: next(asked))
    assert net.training
