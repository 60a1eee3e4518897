"""From a network value to a torch module that runs its blocks in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn

from studio.core.blocks import BLOCKS, Shape
from studio.core.order import work_order
from studio.core.project import Block, Network
from studio.engine.makers import MAKERS as MAKERS


class CannotBuild(Exception):
    """A network that torch cannot run; says which block and why. `core.check` reports the same before any run."""

    def __init__(self, block: str, reason: str) -> None:
        super().__init__(f"block {block}: {reason}" if block else reason)
        self.block = block


@dataclass(frozen=True, slots=True)
class Step:
    """One block at its place: where its inputs come from (empty = the step before), and what may be let go after it."""

    id: str
    inputs: tuple[str, ...]
    keep: bool = False
    release: tuple[str, ...] = ()


class GraphNet(nn.Module):
    """The blocks of a network in order. State dict keys are `<block id>.<name>`. Frozen blocks stay in evaluation."""

    def __init__(self, steps: Sequence[Step], modules: Mapping[str, nn.Module], frozen: frozenset[str]) -> None:
        super().__init__()
        self.steps = tuple(steps)
        self.frozen = frozen
        for name, module in modules.items():
            # Not `add_module`, which refuses ids such as "forward" that a person may well give.
            self._modules[name] = module
            module.requires_grad_(name not in frozen)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits (N, classes) of pictures (N, C, H, W)."""
        kept: dict[str, torch.Tensor] = {}
        for step in self.steps:
            module = cast(nn.Module, self._modules[step.id])
            x = module(*[kept[name] for name in step.inputs]) if step.inputs else module(x)
            if step.keep:
                kept[step.id] = x
            for name in step.release:
                del kept[name]
        return x

    def train(self, mode: bool = True) -> GraphNet:
        super().train(mode)
        for name in self.frozen:
            cast(nn.Module, self._modules[name]).eval()
        return self


def build(network: Network, input_shape: Shape, class_count: int, seed: int | None = None) -> GraphNet:
    """The module of `network` for pictures of `input_shape` (C, H, W), freshly initialised on the CPU.

    With a `seed`, torch's global generator is seeded first, so that the same seed gives the same weights.

    Raises:
        CannotBuild: a block that torch cannot run on what arrives.
    """
    net = build_on_meta(network, input_shape, class_count)
    if seed is not None:
        torch.manual_seed(seed)
    net.to_empty(device="cpu")
    for module in net.modules():
        reset = getattr(module, "reset_parameters", None)
        if reset is not None:
            reset()
    return net


def build_on_meta(
    network: Network, input_shape: Shape, class_count: int, known_shapes: Mapping[str, Shape] | None = None
) -> GraphNet:
    """The same module without any memory for its weights, for shapes, counts and checks of stored weights.

    With `known_shapes`, the output of each block as `core.check` has it, torch is not asked for them: the first shape
    that it computes without numbers makes it import its compiler, which takes as long as importing torch.
    """
    if not network.blocks:
        raise CannotBuild("", "the network has no blocks")
    modules: dict[str, nn.Module] = {}
    shapes: dict[str, Shape] = {}
    before = input_shape
    for block in network.blocks:
        if not block.id or "." in block.id or block.id in modules:
            raise CannotBuild(block.id, "its id is empty, has a dot or is used twice")
        unknown = [name for name in block.inputs if name not in shapes]
        if unknown:
            raise CannotBuild(block.id, f"it takes the output of {', '.join(unknown)}, which does not come before it")
        inputs = tuple(shapes[name] for name in block.inputs) if block.inputs else (before,)
        modules[block.id] = _made(block, inputs, class_count)
        if known_shapes is None:
            shapes[block.id] = before = _output_shape(block, modules[block.id], inputs)
        else:
            shapes[block.id] = before = known_shapes[block.id]
    frozen = frozenset(block.id for block in network.blocks if block.frozen)
    return GraphNet(_steps(network), modules, frozen)


def _made(block: Block, inputs: tuple[Shape, ...], class_count: int) -> nn.Module:
    if block.kind not in MAKERS or block.kind not in BLOCKS:
        raise CannotBuild(block.id, f"blocks of the kind {block.kind!r} are not known here")
    try:
        with torch.device("meta"):
            return MAKERS[block.kind](BLOCKS[block.kind].resolve(block, class_count), inputs)
    except (ValueError, TypeError, RuntimeError, KeyError, ArithmeticError) as error:
        raise CannotBuild(block.id, str(error)) from None


def _output_shape(block: Block, module: nn.Module, inputs: tuple[Shape, ...]) -> Shape:
    """The shape that torch itself computes, on the meta device, where nothing is calculated."""
    try:
        with torch.no_grad():
            pictures = [torch.empty((2, *shape), device="meta") for shape in inputs]
            return tuple(module.eval()(*pictures).shape[1:])
    except (ValueError, TypeError, RuntimeError, IndexError, ArithmeticError) as error:
        raise CannotBuild(block.id, str(error).split("\n")[0]) from None


def _steps(network: Network) -> list[Step]:
    """The blocks in the order of work, each with what may be let go after it."""
    named = {name for block in network.blocks for name in block.inputs}
    order = work_order(network)
    last_use = {name: place for place, block in enumerate(order) for name in block.inputs}
    return [
        Step(
            block.id,
            block.inputs,
            keep=block.id in named,
            release=tuple(dict.fromkeys(name for name in block.inputs if last_use[name] == place)),
        )
        for place, block in enumerate(order)
    ]
