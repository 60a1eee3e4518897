"""Networks become torch modules exactly as the core says they will."""

from __future__ import annotations

from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.blocks import BLOCKS
from studio.core.check import check
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Data, Network, Preprocessing, Project
from tests.core.drawing import networks

pytest.importorskip("torch")

import torch
from torch.utils.flop_counter import FlopCounterMode

from studio.engine.build import MAKERS, CannotBuild, GraphNet, build, build_on_meta

pytestmark = pytest.mark.torch

CLASSES = ("a", "b", "c")


@st.composite
def projects(draw: st.DrawFn) -> Project:
    size = st.integers(1, 12)
    channels = draw(st.sampled_from(("grey", "colour")))
    preprocessing = Preprocessing(height=draw(size), width=draw(size), channels=channels)  # type: ignore[arg-type]
    network = draw(networks(preprocessing.shape, len(CLASSES)))
    return Project("p", Data("folder", classes=CLASSES), preprocessing, network)


def test_that_every_block_kind_has_a_maker_and_no_other() -> None:
    assert set(MAKERS) == set(BLOCKS)


@settings(max_examples=200, deadline=None)
@given(projects())
def test_that_shapes_and_counts_equal_the_cores_and_both_refuse_the_same(project: Project) -> None:
    """Multiply-adds are half of what torch's flop counter counts: convolutions and matrix products, without biases."""
    shape = project.preprocessing.shape
    for number, report in enumerate(check(project).blocks):
        so_far = Network(project.network.blocks[: number + 1])
        if report.output_shape is None:
            with pytest.raises(CannotBuild, match=report.id):
                build_on_meta(so_far, shape, len(CLASSES))
            return
        module = build_on_meta(so_far, shape, len(CLASSES)).get_submodule(report.id).eval()
        with FlopCounterMode(display=False) as counter:
            output = module(*[torch.empty((2, *one), device="meta") for one in report.input_shapes])
        assert tuple(output.shape) == (2, *report.output_shape)
        assert sum(p.numel() for p in module.parameters()) == report.parameters
        assert sum(b.numel() for b in module.buffers()) == report.buffers
        assert counter.get_total_flops() == 2 * 2 * report.multiply_adds, report.kind


def residual(second: str = "b1") -> Network:
    return Network(
        (
            Block("b1", "conv2d", FrozenMap(out_channels=4)),
            Block("b2", "relu"),
            Block("b3", "conv2d", FrozenMap(out_channels=4)),
            Block("b4", "add", inputs=(second, "b3")),
            Block("b5", "concat", inputs=("b4", "b1")),
            Block("b6", "global_pool"),
            Block("b7", "linear"),
        )
    )


def test_that_named_inputs_reach_their_blocks() -> None:
    net = build(residual(), (3, 8, 8), 2, seed=1)
    x = torch.rand(2, 3, 8, 8)
    one = net.get_submodule("b1")(x)
    added = one + net.get_submodule("b3")(one.relu())
    expected = net.get_submodule("b7")(torch.cat((added, one), 1).mean((2, 3)))
    assert torch.equal(net(x), expected)


@pytest.mark.parametrize(
    ("network", "block"),
    [
        (residual("b9"), "b4"),
        (Network((Block("b1", "flatten"), Block("b2", "conv2d"))), "b2"),
        (Network((Block("b1", "conv2d"), Block("b2", "linear"))), "b2"),
        (Network((Block("b1", "nonsense"),)), "b1"),
        (Network((Block("a.b", "relu"),)), "a.b"),
        (Network((Block("b1", "relu"), Block("b1", "relu"))), "b1"),
        (Network((Block("b1", "global_pool"), Block("b2", "flatten"), Block("b3", "add", inputs=("b1",)))), "b3"),
        (Network((Block("b1", "conv2d"), Block("b2", "global_pool"), Block("b3", "add", inputs=("b1", "b2")))), "b3"),
        (Network(), ""),
    ],
)
def test_that_a_network_that_cannot_work_is_refused_by_its_block(network: Network, block: str) -> None:
    with pytest.raises(CannotBuild) as caught:
        build(network, (3, 8, 8), 2)
    assert caught.value.block == block


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 3), st.integers(1, 3), st.integers(0, 1), st.integers(0, 999))
def test_that_pooling_before_relu_changes_no_bit(kernel: int, stride: int, padding: int, seed: int) -> None:
    pool = FrozenMap(kernel=kernel, stride=stride, padding=padding)
    network = Network(
        (
            Block("b1", "conv2d", FrozenMap(out_channels=3)),
            Block("b2", "relu"),
            Block("b3", "max_pool", pool),
            Block("b4", "flatten"),
            Block("b5", "linear"),
        )
    )
    net = build(network, (1, 9, 9), 2, seed=seed)
    assert [step.id for step in net.steps] == ["b1", "b3", "b2", "b4", "b5"]
    x = torch.randint(-2, 3, (4, 1, 9, 9), generator=torch.Generator().manual_seed(seed)).float()
    results = []
    for order in (["b1", "b3", "b2", "b4", "b5"], ["b1", "b2", "b3", "b4", "b5"]):
        net.zero_grad()
        y = x
        for name in order:
            y = net.get_submodule(name)(y)
        torch.autograd.backward(y.square().sum())
        results.append([y.detach(), *[cast(torch.Tensor, p.grad).clone() for p in net.parameters()]])
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
    assert torch.equal(net(x), results[0][0])


def test_that_a_relu_whose_output_is_used_elsewhere_stays_where_it_is() -> None:
    blocks = (
        Block("b1", "conv2d"),
        Block("b2", "relu"),
        Block("b3", "max_pool"),
        Block("b4", "max_pool", inputs=("b2",)),
        Block("b5", "concat", inputs=("b3", "b4")),
    )
    assert [step.id for step in build_on_meta(Network(blocks), (1, 8, 8), 2).steps] == ["b1", "b2", "b3", "b4", "b5"]


def weights(net: GraphNet) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


def test_that_the_seed_decides_the_weights() -> None:
    one, same, other = (weights(build(residual(), (3, 8, 8), 2, seed)) for seed in (5, 5, 6))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_that_frozen_blocks_are_not_trained_and_keep_their_statistics() -> None:
    blocks = (
        Block("b1", "conv2d", frozen=True),
        Block("b2", "batch_norm", frozen=True),
        Block("b3", "global_pool"),
        Block("b4", "linear"),
    )
    net = build(Network(blocks), (1, 4, 4), 2, seed=0).train()
    before = weights(net)
    torch.autograd.backward(net(torch.rand(4, 1, 4, 4)).sum())
    assert {name for name, p in net.named_parameters() if p.requires_grad} == {"b4.weight", "b4.bias"}
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())


def test_that_a_block_may_have_any_id_without_a_dot() -> None:
    blocks = (Block("forward", "flatten"), Block("training", "linear"))
    assert set(build(Network(blocks), (1, 2, 2), 2).state_dict()) == {"training.weight", "training.bias"}
