"""Ready networks are those that their names promise, and train."""

from __future__ import annotations

import pytest

from studio.core.check import check
from studio.core.project import Data, Preprocessing, Project, Recipe
from studio.core.templates import templates

pytest.importorskip("torch")

import torch
from torch.nn import functional

from studio.engine.build import build, build_on_meta
from studio.engine.learner import Learner

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("resnet18", "resnet18"),
        ("resnet34", "resnet34"),
        ("resnet50", "resnet50"),
        ("mobilenet_small", "mobilenet_v3_small"),
    ],
)
def test_that_a_network_of_torchvision_has_its_parameters_buffers_and_work(name: str, theirs: str) -> None:
    models = pytest.importorskip("torchvision.models")
    from torch.utils.flop_counter import FlopCounterMode

    ours = build_on_meta(templates()[name].network, (3, 224, 224), 10).eval()
    with torch.device("meta"):
        built = getattr(models, theirs)(num_classes=10).eval()
    for kind in ("parameters", "buffers"):
        assert sum(v.numel() for v in getattr(ours, kind)()) == sum(v.numel() for v in getattr(built, kind)())
    counts = []
    for net in (ours, built):
        with FlopCounterMode(display=False) as counter:
            net(torch.empty(1, 3, 224, 224, device="meta"))
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1]
    data, size = Data("folder", classes=tuple("0123456789")), Preprocessing(height=224, width=224)
    report = check(Project("p", data, size, templates()[name].network))
    assert report.parameters == sum(p.numel() for p in built.parameters())
    assert 2 * report.multiply_adds == counts[0]


@pytest.mark.parametrize("name", [name for name in templates() if name not in ("resnet34", "resnet50")])
def test_that_each_template_trains_two_steps(name: str) -> None:
    net = build(templates()[name].network, (1, 28, 28), 10, seed=1)
    learner = Learner(net, Recipe(learning_rate=1e-4), torch.device("cpu"))
    net.train()
    x = torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 3])
    losses = []
    for _ in range(2):
        loss = functional.cross_entropy(net(x), labels)
        learner.optimiser.zero_grad()
        torch.autograd.backward(loss)
        assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in net.parameters())
        learner.optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[0] != losses[1]
