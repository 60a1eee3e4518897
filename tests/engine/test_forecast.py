"""What the forecast says is kept for the backward pass is what autograd keeps."""

from __future__ import annotations

from typing import cast

import pytest

from studio.core.blocks import BLOCKS
from studio.core.check import check
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Data, Network, Preprocessing, Project, Recipe
from studio.core.templates import templates

pytest.importorskip("torch")

import torch
from torch.nn import functional

from studio.engine.build import build
from studio.engine.learner import Learner
from tests.engine.test_blocks import network_around

pytestmark = pytest.mark.torch

BATCH = 3
# What these keep is the business of one large operation or of many small ones: their rules are measured ones.
RECURRENT = ("lstm_rows", "gru_rows")


def kept_by_torch(network: Network, side: int, batch: int = BATCH) -> int:
    """Bytes of all tensors that the graph of one step holds, but for weights, pictures and labels."""
    net = build(network, (3, side, side), 10, seed=0)
    Learner(net, Recipe(), torch.device("cpu"))
    net.train()
    x = torch.randn(batch, 3, side, side).to(memory_format=torch.channels_last)
    known = {x.untyped_storage().data_ptr()}
    known |= {tensor.untyped_storage().data_ptr() for tensor in (*net.parameters(), *net.buffers())}
    # The tensors themselves are held, so that no storage's address is used twice.
    held: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        held.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: cast(torch.Tensor, tensor)):
        logits = net(x)
    held.append(logits)
    functional.cross_entropy(logits, torch.zeros(batch, dtype=torch.int64))
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in held}
    return sum(size for place, size in storages.items() if place not in known)


def kept_by_forecast(network: Network, side: int, batch: int = BATCH) -> int:
    data, size = Data("folder", classes=tuple("0123456789")), Preprocessing(height=side, width=side)
    report = check(Project("p", data, size, network, Recipe(batch_size=batch)))
    assert report.forecast is not None
    return report.forecast.training.activations


@pytest.mark.parametrize("kind", [kind for kind in BLOCKS if kind not in RECURRENT])
def test_that_each_block_keeps_what_is_forecast(kind: str) -> None:
    network = network_around(kind)
    said, kept = kept_by_forecast(network, 12), kept_by_torch(network, 12)
    assert said == pytest.approx(kept, rel=0.03, abs=1024)


@pytest.mark.parametrize("name", [name for name in templates() if name not in ("resnet34", "resnet50", "lstm_rows")])
def test_that_each_template_keeps_what_is_forecast(name: str) -> None:
    network = templates()[name].network
    assert kept_by_forecast(network, 48) == pytest.approx(kept_by_torch(network, 48), rel=0.03)


@pytest.mark.parametrize("both", [False, True])
def test_that_a_gru_keeps_about_what_is_forecast_for_each_picture(both: bool) -> None:
    """Not the LSTM: it asks for a workspace of which it uses a part, and only that part takes memory."""
    block = Block("x", "gru_rows", FrozenMap(hidden=128, layers=2, bidirectional=both))
    network = Network((block, Block("head", "linear")))
    said, kept = (keeps(network, 48, 16) - keeps(network, 48, 8) for keeps in (kept_by_forecast, kept_by_torch))
    assert said == pytest.approx(kept, rel=0.2)
