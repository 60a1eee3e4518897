"""What a block declares about itself, and the values that its rules speak in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import gcd, prod
from typing import cast

from studio.core.blocks.tape import Plan, Shape, window_reach
from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap
from studio.core.project import Block

Resolved = Mapping[str, Value]
"""A block's settings with defaults filled in and "as many as classes" replaced by their number."""


class Group(StrEnum):
    """The shelves of the palette."""

    CONVOLUTION = "convolution"
    POOLING = "pooling"
    NORMALISATION = "normalisation"
    ACTIVATION = "activation"
    DENSE = "dense"
    COMPOSITE = "composite"
    RECURRENT = "recurrent"
    ATTENTION = "attention"
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


PlanRule = Callable[[Resolved, tuple[Shape, ...]], Plan | Mismatch]


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """One kind of block. `label` and `help` are English source texts.

    Attributes:
        plan: from the settings and the input shapes to the block's operations, or the reason why it cannot work.
        inputs: how many inputs it takes, (least, most).
    """

    kind: str
    label: str
    help: str
    group: Group
    plan: PlanRule
    fields: tuple[Field, ...] = ()
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


def whole_or_none(settings: Resolved, name: str) -> int | None:
    """A whole number, or None where its field allows that."""
    return None if settings[name] is None else whole(settings, name)


def number(settings: Resolved, name: str) -> float:
    """A setting that its field guarantees to be a number."""
    return float(cast(float, settings[name]))


def switched(settings: Resolved, name: str) -> bool:
    """A setting that its field guarantees to be true or false."""
    return bool(settings[name])


def element_count(shape: Shape) -> int:
    return prod(shape)


def shape_text(shape: Shape) -> str:
    """`32 x 14 x 14` or `18,432`, as the window and error sentences show it."""
    return " x ".join(f"{size:,}" for size in shape)


def arrives(shape: Shape) -> FrozenMap[Value]:
    """The fact that most mismatches tell."""
    return FrozenMap(arrives=shape_text(shape))


def needs_picture(shape: Shape) -> Mismatch | None:
    """What a block that works on feature maps says to a flat vector or to tokens."""
    match len(shape):
        case 3:
            return None
        case 2:
            return Mismatch("block.needs_picture_not_tokens", FrozenMap(tokens=shape[0], width=shape[1]))
    return Mismatch("block.needs_picture", arrives(shape))


def needs_tokens(shape: Shape) -> Mismatch | None:
    """What a block that works on tokens says to anything else."""
    match len(shape):
        case 2:
            return None
        case 3:
            return Mismatch("block.needs_tokens", arrives(shape), insert="patch_embedding")
    return Mismatch("block.needs_tokens_not_vector", arrives(shape))


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


def nearest_divisor(wanted: int, *numbers: int) -> int:
    """The number nearest to `wanted` that divides all of `numbers`; of two as near, the smaller."""
    common = gcd(*numbers)
    return min((n for n in range(1, common + 1) if common % n == 0), key=lambda n: (abs(n - wanted), n))
