"""Convolution over feature maps."""

from __future__ import annotations

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Suggestion,
    nearest_divisor,
    needs_picture,
    switched,
    whole,
    whole_or_none,
    window_too_large,
)
from studio.core.blocks.tape import Plan, Shape, Tape, slid_length, window_reach
from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap


def _plan(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    channels, height, width = inputs[0]
    out, groups, stride = (whole(settings, name) for name in ("out_channels", "groups", "stride"))
    if channels % groups or out % groups:
        return _groups_mismatch(channels, out, groups)
    kernel, dilation, padding = (
        whole(settings, "kernel"),
        whole(settings, "dilation"),
        whole_or_none(settings, "padding"),
    )
    if padding is None and stride > 1:
        facts: FrozenMap[Value] = FrozenMap(stride=stride)
        half = window_reach(kernel, dilation) // 2
        return Mismatch("block.same_with_stride", facts, (Suggestion("padding", half), Suggestion("stride", 1)))
    if (
        padding is not None
        and min(slid_length(side, kernel, stride, padding, dilation) for side in (height, width)) < 1
    ):
        return window_too_large(inputs[0], kernel, padding, dilation)
    tape = Tape(inputs)
    bias = switched(settings, "bias")
    tape.conv(0, out, kernel, stride=stride, padding=padding, dilation=dilation, groups=groups, bias=bias)
    return tape.plan()


def _groups_mismatch(channels: int, out: int, groups: int) -> Mismatch:
    """Groups must divide both channel counts; offer the nearest divisor, then the nearest number of channels."""
    suggestions = [Suggestion("groups", nearest_divisor(groups, channels, out))]
    if channels % groups == 0:
        suggestions.append(Suggestion("out_channels", max(groups, round(out / groups) * groups)))
    facts: FrozenMap[Value] = FrozenMap(groups=groups, channels=channels, out_channels=out)
    return Mismatch("block.groups_mismatch", facts, tuple(suggestions))


def _separable(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    kernel, channels = whole(settings, "kernel"), inputs[0][0]
    tape = Tape(inputs)
    x = tape.conv(
        0, channels, kernel, stride=whole(settings, "stride"), padding=kernel // 2, groups=channels, bias=False
    )
    x = tape.relu(tape.batch_norm(x))
    x = tape.conv(x, whole(settings, "out_channels"), 1, bias=False)
    tape.relu(tape.batch_norm(x))
    return tape.plan()


def filters(default: int) -> Field:
    return Field(
        "out_channels",
        "Filters",
        "How many patterns it learns; each gives one output channel.",
        "int",
        default,
        1,
        65_536,
    )


def kernel_field(default: int) -> Field:
    return Field(
        "kernel", "Kernel", "Side of the square window a filter looks through.", "int", default, 1, 1024, unit="px"
    )


def stride_field(default: int) -> Field:
    return Field(
        "stride",
        "Stride",
        "How far the window moves each time; 2 halves the picture.",
        "int",
        default,
        1,
        1024,
        unit="px",
    )


CONV2D = BlockSpec(
    "conv2d",
    "Convolution",
    "Slides small learned filters over the picture and marks where their pattern appears. The main block for pictures.",
    Group.CONVOLUTION,
    _plan,
    (
        filters(16),
        kernel_field(3),
        stride_field(1),
        Field(
            "padding",
            "Padding",
            "Zeros added on each side; half the kernel keeps the size.",
            "int",
            1,
            0,
            4096,
            unit="px",
            optional=True,
            none_label="keep the size",
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
)

DEPTHWISE_SEPARABLE = BlockSpec(
    "depthwise_separable",
    "Depthwise separable convolution",
    "A small filter for each channel, then a mix of all channels, both with batch norm and ReLU: nearly the power of a "
    "convolution for a fraction of its work (MobileNet).",
    Group.CONVOLUTION,
    _separable,
    (filters(32), kernel_field(3), stride_field(1)),
)
