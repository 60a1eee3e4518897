"""Pooling: making feature maps smaller without any weights."""

from __future__ import annotations

from typing import cast

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Shape,
    Suggestion,
    element_count,
    needs_picture,
    slid_length,
    whole,
    window_too_large,
)
from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap

_INDEX_BYTES = 8  # torch keeps the place of each maximum as int64 for the backward pass


def _stride(settings: Resolved) -> int:
    stride = settings["stride"]
    return whole(settings, "kernel") if stride is None else cast(int, stride)


def _pooled(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    channels, height, width = inputs[0]
    kernel, padding = whole(settings, "kernel"), whole(settings, "padding")
    if padding > kernel // 2:
        facts: FrozenMap[Value] = FrozenMap(kernel=kernel, padding=padding, largest=kernel // 2)
        nearest = (Suggestion("padding", kernel // 2), Suggestion("kernel", 2 * padding))
        return Mismatch("block.pool_padding", facts, nearest)
    high, wide = (slid_length(side, kernel, _stride(settings), padding) for side in (height, width))
    if high < 1 or wide < 1:
        return window_too_large(inputs[0], kernel, padding, 1, largest_padding=kernel // 2)
    return (channels, high, wide)


def _global(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    return needs_picture(inputs[0]) or (inputs[0][0],)


def _fields(help_kernel: str) -> tuple[Field, ...]:
    return (
        Field("kernel", "Kernel", help_kernel, "int", 2, 1, 1024, unit="px"),
        Field(
            "stride",
            "Stride",
            "How far the window moves each time.",
            "int",
            None,
            1,
            1024,
            unit="px",
            optional=True,
            none_label="same as the kernel",
        ),
        Field(
            "padding",
            "Padding",
            "Border added on each side; at most half the kernel.",
            "int",
            0,
            0,
            512,
            unit="px",
            advanced=True,
        ),
    )


def _kept_indices(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    return element_count(output) * _INDEX_BYTES


SPECS = (
    BlockSpec(
        "max_pool",
        "Max pooling",
        "Keeps the strongest answer in each window: smaller maps that still say what was found.",
        Group.POOLING,
        _pooled,
        _fields("Side of the window of which the largest value is kept."),
        saved_bytes=_kept_indices,
    ),
    BlockSpec(
        "avg_pool",
        "Average pooling",
        "Takes the mean of each window: smaller, smoother maps.",
        Group.POOLING,
        _pooled,
        _fields("Side of the window whose mean is taken."),
    ),
    BlockSpec(
        "global_pool",
        "Global average pooling",
        "The mean of each whole channel. The network then takes pictures of any size and needs far fewer weights.",
        Group.POOLING,
        _global,
    ),
)
