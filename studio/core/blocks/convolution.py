"""Convolution over feature maps."""

from __future__ import annotations

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Shape,
    Suggestion,
    needs_picture,
    slid_length,
    switched,
    whole,
    window_too_large,
)
from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap


def _shape(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    channels, height, width = inputs[0]
    out, groups = whole(settings, "out_channels"), whole(settings, "groups")
    if channels % groups or out % groups:
        return _groups_mismatch(channels, out, groups)
    kernel, padding, dilation = (whole(settings, name) for name in ("kernel", "padding", "dilation"))
    high, wide = (slid_length(side, kernel, whole(settings, "stride"), padding, dilation) for side in (height, width))
    if high < 1 or wide < 1:
        return window_too_large(inputs[0], kernel, padding, dilation)
    return (out, high, wide)


def _groups_mismatch(channels: int, out: int, groups: int) -> Mismatch:
    """Groups must divide both channel counts; offer the nearest divisor, then the nearest number of channels."""
    divisors = [n for n in range(1, channels + 1) if channels % n == 0 and out % n == 0]
    nearest = min(divisors, key=lambda n: (abs(n - groups), n))
    suggestions = [Suggestion("groups", nearest)]
    if channels % groups == 0:
        suggestions.append(Suggestion("out_channels", max(groups, round(out / groups) * groups)))
    facts: FrozenMap[Value] = FrozenMap(groups=groups, channels=channels, out_channels=out)
    return Mismatch("block.groups_mismatch", facts, tuple(suggestions))


def _weights(settings: Resolved, inputs: tuple[Shape, ...]) -> int:
    per_output = inputs[0][0] // whole(settings, "groups") * whole(settings, "kernel") ** 2
    return per_output * whole(settings, "out_channels")


def _parameters(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    return _weights(settings, inputs) + (output[0] if switched(settings, "bias") else 0)


def _multiply_adds(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    return _weights(settings, inputs) * output[1] * output[2]


CONV2D = BlockSpec(
    "conv2d",
    "Convolution",
    "Slides small learned filters over the picture and marks where their pattern appears. The main block for pictures.",
    Group.CONVOLUTION,
    _shape,
    (
        Field(
            "out_channels",
            "Filters",
            "How many patterns it learns; each gives one output channel.",
            "int",
            16,
            1,
            65_536,
        ),
        Field(
            "kernel",
            "Kernel",
            "Side of the square window a filter looks through.",
            "int",
            3,
            1,
            1024,
            unit="px",
        ),
        Field(
            "stride",
            "Stride",
            "How far the window moves each time; 2 halves the picture.",
            "int",
            1,
            1,
            1024,
            unit="px",
        ),
        Field(
            "padding",
            "Padding",
            "Zeros added on each side; half the kernel keeps the size.",
            "int",
            1,
            0,
            4096,
            unit="px",
        ),
        Field(
            "dilation",
            "Dilation",
            "Gaps inside the window, to see further with the same number of weights.",
            "int",
            1,
            1,
            1024,
            advanced=True,
        ),
        Field(
            "groups",
            "Groups",
            "Splits the channels into groups that do not see each other; fewer weights.",
            "int",
            1,
            1,
            65_536,
            advanced=True,
        ),
        Field(
            "bias",
            "Bias",
            "Adds a learned number to each filter; not needed right before a batch norm.",
            "bool",
            True,
            advanced=True,
        ),
    ),
    parameters=_parameters,
    multiply_adds=_multiply_adds,
)
