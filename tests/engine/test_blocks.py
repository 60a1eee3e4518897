"""Laws that every block obeys in torch: it builds, starts whole, trains and keeps its shape in training."""

from __future__ import annotations

import pytest

from studio.core.blocks import BLOCKS, Shape
from studio.core.check import measure
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Network, Recipe

pytest.importorskip("torch")

import torch
from torch.nn import functional

from studio.engine.build import build
from studio.engine.learner import Learner

pytestmark = pytest.mark.torch

PICTURE: Shape = (3, 12, 12)
SETTINGS: dict[str, dict[str, Value]] = {
    "group_norm": {"groups": 3},
    "spatial_dropout": {"rate": 0.5},
    "inverted_residual": {"squeeze_excite": True, "activation": "hardswish", "out_channels": 3},
    "bottleneck_residual": {"out_channels": 16, "stride": 2},
    "residual": {"out_channels": 3},
    "lstm_rows": {"hidden": 8, "bidirectional": True, "layers": 2},
    "gru_rows": {"hidden": 8, "bidirectional": True, "layers": 2},
    "patch_embedding": {"patch": 4, "width": 12},
    "transformer_encoder": {"heads": 4, "depth": 2, "rate": 0.1},
}
TOKENS = Block("t1", "patch_embedding", FrozenMap(patch=4, width=12))
FLAT = Block("t1", "flatten")


def network_around(kind: str) -> Network:
    """A small network that uses the block, between what it needs and a head."""
    used = Block("x", kind, FrozenMap(SETTINGS.get(kind, {})))
    if kind in ("transformer_encoder", "token_pool"):
        blocks = [TOKENS, used]
    elif kind == "linear":
        blocks = [FLAT, used]
    elif BLOCKS[kind].inputs != (1, 1):
        blocks = [Block("c1", "conv2d"), Block("c2", "conv2d"), Block("x", kind, inputs=("c1", "c2"))]
    else:
        blocks = [used]
    shape = measure(Network(tuple(blocks)), PICTURE, 3)[-1].output_shape
    assert shape is not None
    if len(shape) == 2:
        blocks.append(Block("p", "token_pool"))
    if len(shape) == 3:
        blocks.append(Block("f", "flatten"))
    return Network((*blocks, Block("head", "linear")))


@pytest.mark.parametrize("kind", list(BLOCKS))
def test_that_each_block_trains_two_steps(kind: str) -> None:
    net = build(network_around(kind), PICTURE, 3, seed=1)
    learner = Learner(net, Recipe(optimiser="sgd", learning_rate=0.05), torch.device("cpu"))
    net.train()
    x = torch.randn(4, *PICTURE, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 0])
    before = {name: value.clone() for name, value in net.state_dict().items()}
    for _ in range(2):
        loss = functional.cross_entropy(net(x), labels)
        assert torch.isfinite(loss)
        learner.optimiser.zero_grad()
        torch.autograd.backward(loss)
        for name, parameter in net.named_parameters():
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
        learner.optimiser.step()
    changed = [name for name, value in net.state_dict().items() if not torch.equal(value, before[name])]
    trained = {name for name, _ in net.named_parameters()}
    # The biases of what a norm or a softmax takes out again have no effect, and so no gradient worth a step.
    assert trained - set(changed) <= {name for name in trained if name.endswith("bias")}


@pytest.mark.parametrize("kind", list(BLOCKS))
def test_that_the_seed_alone_decides_how_a_block_starts(kind: str) -> None:
    network = network_around(kind)
    one, other = (build(network, PICTURE, 3, seed=7).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert all(torch.isfinite(value).all() and value.abs().max() < 100 for value in one.values())


@pytest.mark.parametrize("kind", list(BLOCKS))
def test_that_a_frozen_block_changes_nothing(kind: str) -> None:
    network = network_around(kind)
    blocks = tuple(Block(b.id, b.kind, b.settings, b.inputs, frozen=b.id == "x") for b in network.blocks)
    net = build(Network(blocks), PICTURE, 3, seed=1)
    learner = Learner(net, Recipe(), torch.device("cpu"))
    net.train()
    before = {name: value.clone() for name, value in net.get_submodule("x").state_dict().items()}
    torch.autograd.backward(net(torch.randn(4, *PICTURE)).sum())
    learner.optimiser.step()
    after = net.get_submodule("x").state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (2, 1), (3, 1), (4, 3), (5, 2), (2, 2)])
def test_that_keeping_the_size_is_torchs_same_padding(kernel: int, dilation: int) -> None:
    settings: FrozenMap[Value] = FrozenMap(kernel=kernel, dilation=dilation, padding=None, out_channels=2)
    net = build(Network((Block("x", "conv2d", settings),)), PICTURE, 3, seed=3)
    layer = net.get_submodule("x")
    x = torch.randn(2, *PICTURE)
    weight, bias = (layer.get_parameter(name) for name in ("weight", "bias"))
    total = dilation * (kernel - 1)
    padded = functional.pad(x, (total // 2, total - total // 2) * 2)
    expected = functional.conv2d(padded, weight, bias, dilation=dilation)
    assert net(x).shape == (2, 2, 12, 12)
    assert torch.allclose(net(x), expected, atol=1e-6)


@pytest.mark.parametrize(("stride", "padding"), [(2, 0), (3, 1), (4, 2)])
def test_that_a_strided_1x1_convolution_of_few_channels_equals_torchs(stride: int, padding: int) -> None:
    """And does not corrupt the heap, as torch's own does in the backward pass."""
    settings: FrozenMap[Value] = FrozenMap(kernel=1, stride=stride, padding=padding, out_channels=4)
    net = build(Network((Block("x", "conv2d", settings),)), PICTURE, 3, seed=3).to(memory_format=torch.channels_last)
    layer = net.get_submodule("x")
    x = torch.randn(2, *PICTURE)
    weight, bias = (layer.get_parameter(name) for name in ("weight", "bias"))
    with torch.no_grad():
        expected = functional.conv2d(x, weight, bias, stride=stride, padding=padding)
    y = net(x)
    assert torch.allclose(y, expected, atol=1e-6)
    for _ in range(3):
        torch.autograd.backward(net(x).sum())


def test_that_a_bidirectional_reader_ends_at_both_ends() -> None:
    settings: FrozenMap[Value] = FrozenMap(hidden=5, bidirectional=True)
    net = build(Network((Block("x", "gru_rows", settings),)), PICTURE, 3, seed=3)
    x = torch.randn(2, *PICTURE)
    outputs, _ = net.get_submodule("x.layer")(x.permute(0, 2, 1, 3).flatten(2))
    assert torch.allclose(net(x), torch.cat((outputs[:, -1, :5], outputs[:, 0, 5:]), 1))


def test_that_a_transformer_counts_as_torchvisions() -> None:
    vision = pytest.importorskip("torchvision.models.vision_transformer")
    theirs = vision.VisionTransformer(
        image_size=12, patch_size=4, num_layers=2, num_heads=4, hidden_dim=12, mlp_dim=48, num_classes=3
    )
    blocks = (TOKENS, Block("x", "transformer_encoder", FrozenMap(heads=4, depth=2)))
    pool = Block("p", "token_pool", FrozenMap(takes="class"))
    ours = build(Network((*blocks, pool, Block("h", "linear"))), PICTURE, 3)
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())
