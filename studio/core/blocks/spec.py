"""What a block declares about itself, and the values that its rules speak in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import cast

from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap
from studio.core.project import Block

Shape = tuple[int, ...]
"""The shape of one picture's tensor, without the batch: (channels, height, width) or (features,)."""

Resolved = Mapping[str, Value]
"""A block's settings with defaults filled in and "as many as classes" replaced by their number."""


class Group(StrEnum):
    """The shelves of the palette."""

    CONVOLUTION = "convolution"
    POOLING = "pooling"
    NORMALISATION = "normalisation"
    ACTIVATION = "activation"
    DENSE = "dense"
    MERGING = "merging"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A setting with the nearest value that works."""

    field: str
    value: Value


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a block cannot take what arrives: a problem code with its facts, and what would work, nearest first.

    `insert` is the kind of a block that mends it when put before this one.
    """

    code: str
    facts: FrozenMap[Value] = FrozenMap()
    suggestions: tuple[Suggestion, ...] = ()
    insert: str = ""


ShapeRule = Callable[[Resolved, tuple[Shape, ...]], Shape | Mismatch]
CountRule = Callable[[Resolved, tuple[Shape, ...], Shape], int]


def _no_count(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """One kind of block. `label` and `help` are English source texts.

    Attributes:
        output_shape: from the settings and the input shapes to the output's shape or the reason why there is none.
        parameters: trained numbers. For all count rules the output shape is known.
        buffers: untrained numbers that belong to the weights file (running statistics).
        multiply_adds: multiply-add pairs for one picture.
        saved_bytes: for one picture, bytes that the backward pass needs beyond the block's own output.
        in_place: the output takes no memory of its own (a view of the input).
        inputs: how many inputs it takes, (least, most).
    """

    kind: str
    label: str
    help: str
    group: Group
    output_shape: ShapeRule
    fields: tuple[Field, ...] = ()
    parameters: CountRule = _no_count
    buffers: CountRule = _no_count
    multiply_adds: CountRule = _no_count
    saved_bytes: CountRule = _no_count
    in_place: bool = False
    inputs: tuple[int, int] = (1, 1)

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)

    def resolve(self, block: Block, class_count: int) -> Resolved:
        """The settings that count: defaults where none is given, the number of classes where it is followed."""
        settings: dict[str, Value] = {}
        for field in self.fields:
            value = block.settings.get(field.name, field.default)
            if value is None and field.name == "out_features":
                value = class_count
            settings[field.name] = value
        return settings


def whole(settings: Resolved, name: str) -> int:
    """A setting that its field guarantees to be a whole number."""
    return int(cast(int, settings[name]))


def switched(settings: Resolved, name: str) -> bool:
    """A setting that its field guarantees to be true or false."""
    return bool(settings[name])


def element_count(shape: Shape) -> int:
    return prod(shape)


def shape_text(shape: Shape) -> str:
    """`32 x 14 x 14`, as the window and error sentences show it."""
    return " x ".join(map(str, shape))


def same_shape(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    """The rule of blocks that change values only."""
    return inputs[0]


def needs_picture(shape: Shape) -> Mismatch | None:
    """What a block that works on feature maps says to a flat vector."""
    if len(shape) == 3:
        return None
    return Mismatch("block.needs_picture", FrozenMap(arrives=shape_text(shape)))


def window_reach(kernel: int, dilation: int) -> int:
    """How many pixels a window spans: dilation * (kernel - 1) + 1."""
    return dilation * (kernel - 1) + 1


def slid_length(length: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """Output length of a sliding window: floor((length + 2*padding - dilation*(kernel-1) - 1) / stride) + 1.

    Source: torch.nn.Conv2d, "Shape". Below 1 there is no output.
    """
    return (length + 2 * padding - window_reach(kernel, dilation)) // stride + 1


def window_too_large(
    shape: Shape, kernel: int, padding: int, dilation: int, largest_padding: int | None = None
) -> Mismatch:
    """A window that does not fit into the smaller side, with the nearest kernel, padding and dilation that do."""
    side = min(shape[1:])
    padded = side + 2 * padding
    suggestions = []
    kernel_that_fits = (padded - 1) // dilation + 1
    if kernel_that_fits >= 1 and padding <= (kernel_that_fits // 2 if largest_padding is not None else padding):
        suggestions.append(Suggestion("kernel", kernel_that_fits))
    needed = (window_reach(kernel, dilation) - side + 1) // 2
    if largest_padding is None or needed <= largest_padding:
        suggestions.append(Suggestion("padding", needed))
    if dilation > 1 and kernel > 1 and (padded - 1) // (kernel - 1) >= 1:
        suggestions.append(Suggestion("dilation", (padded - 1) // (kernel - 1)))
    facts: FrozenMap[Value] = FrozenMap(
        kernel=kernel, reach=window_reach(kernel, dilation), height=shape[1], width=shape[2], padding=padding
    )
    return Mismatch("block.window_too_large", facts, tuple(suggestions))
