"""From a network value to a torch module: one maker per block kind, and the module that runs them in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn

from studio.core.blocks import BLOCKS, Shape
from studio.core.fields import Value
from studio.core.project import Block, Network
from studio.core.registry import Registry

Settings = Mapping[str, Value]
Maker = Callable[[Settings, tuple[Shape, ...]], nn.Module]


class CannotBuild(Exception):
    """A network that torch cannot run; says which block and why. `core.check` reports the same before any run."""

    def __init__(self, block: str, reason: str) -> None:
        super().__init__(f"block {block}: {reason}" if block else reason)
        self.block = block


class GlobalPool(nn.Module):
    """The mean of each channel: (N, C, H, W) to (N, C)."""

    def forward(self, x_nchw: torch.Tensor) -> torch.Tensor:
        return x_nchw.mean((2, 3))


class Add(nn.Module):
    """The element-wise sum of its inputs."""

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        total = inputs[0] + inputs[1]
        for more in inputs[2:]:
            total = total + more
        return total


class Concat(nn.Module):
    """Its inputs' channels one after the other."""

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return torch.cat(inputs, 1)


def _whole(settings: Settings, name: str) -> int:
    return cast(int, settings[name])


def _picture(inputs: tuple[Shape, ...]) -> int:
    """The channels of a feature map."""
    if len(inputs[0]) != 3:
        raise ValueError(f"needs a picture (channels, height, width), but {inputs[0]} arrives")
    return inputs[0][0]


def _conv2d(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    return nn.Conv2d(
        _picture(inputs),
        _whole(settings, "out_channels"),
        _whole(settings, "kernel"),
        stride=_whole(settings, "stride"),
        padding=_whole(settings, "padding"),
        dilation=_whole(settings, "dilation"),
        groups=_whole(settings, "groups"),
        bias=bool(settings["bias"]),
    )


def _max_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    return nn.MaxPool2d(_whole(settings, "kernel"), _pool_stride(settings), _whole(settings, "padding"))


def _avg_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    return nn.AvgPool2d(_whole(settings, "kernel"), _pool_stride(settings), _whole(settings, "padding"))


def _pool_stride(settings: Settings) -> int:
    return _whole(settings, "kernel") if settings["stride"] is None else _whole(settings, "stride")


def _global_pool(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    _picture(inputs)
    return GlobalPool()


def _batch_norm(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    return nn.BatchNorm2d(inputs[0][0]) if len(inputs[0]) == 3 else nn.BatchNorm1d(inputs[0][0])


def _linear(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    # torch's linear would take a feature map too and work along its width, which nobody means.
    if len(inputs[0]) != 1:
        raise ValueError(f"needs a flat vector, but {inputs[0]} arrives")
    if _whole(settings, "out_features") < 1:
        raise ValueError("needs at least one output")
    return nn.Linear(inputs[0][0], _whole(settings, "out_features"), bias=bool(settings["bias"]))


def _add(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    # torch would stretch a smaller input over a larger one, which nobody means.
    if len(inputs) < 2 or len(set(inputs)) != 1:
        raise ValueError(f"needs two or more inputs of one shape, but {', '.join(map(str, inputs))} arrive")
    return Add()


def _concat(settings: Settings, inputs: tuple[Shape, ...]) -> nn.Module:
    if len(inputs) < 2:
        raise ValueError("needs two or more inputs")
    return Concat()


MAKERS: Registry[Maker] = Registry(
    "block maker",
    {
        "conv2d": _conv2d,
        "max_pool": _max_pool,
        "avg_pool": _avg_pool,
        "global_pool": _global_pool,
        "batch_norm": _batch_norm,
        "relu": lambda _settings, _inputs: nn.ReLU(),
        "gelu": lambda _settings, _inputs: nn.GELU(),
        "silu": lambda _settings, _inputs: nn.SiLU(),
        "leaky_relu": lambda settings, _inputs: nn.LeakyReLU(cast(float, settings["slope"])),
        "elu": lambda _settings, _inputs: nn.ELU(),
        "tanh": lambda _settings, _inputs: nn.Tanh(),
        "sigmoid": lambda _settings, _inputs: nn.Sigmoid(),
        "dropout": lambda settings, _inputs: nn.Dropout(cast(float, settings["rate"])),
        "flatten": lambda _settings, _inputs: nn.Flatten(),
        "linear": _linear,
        "add": _add,
        "concat": _concat,
    },
    "studio.block_makers",
)


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


def build_on_meta(network: Network, input_shape: Shape, class_count: int) -> GraphNet:
    """The same module without any memory for its weights, for shapes, counts and checks of stored weights."""
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
        shapes[block.id] = before = _output_shape(block, modules[block.id], inputs)
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
    """The order of work: as the network lists it, but a max pool goes before the ReLU that feeds only it.

    The two give the same values and bit-equal gradients either way round (the maximum of a window passes or is set
    to 0 as a whole), and the ReLU then works on a quarter of the values or less.
    """
    named = {name for block in network.blocks for name in block.inputs}
    order = list(network.blocks)
    for place in range(len(order) - 1):
        first, second = order[place], order[place + 1]
        plain = not second.inputs and first.id not in named and second.id not in named
        if first.kind == "relu" and second.kind == "max_pool" and plain and not first.inputs:
            order[place], order[place + 1] = second, first
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
