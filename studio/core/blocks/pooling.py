"""Pooling: making feature maps smaller without any weights."""

from __future__ import annotations

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    PlanRule,
    Resolved,
    Suggestion,
    needs_picture,
    whole,
    whole_or_none,
    window_too_large,
)
from studio.core.blocks.tape import Plan, Shape, Tape, slid_length
from studio.core.fields import Choice, Field, Value
from studio.core.frozen import FrozenMap


def _sliding(*, is_max: bool) -> PlanRule:
    def plan(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
        if refusal := needs_picture(inputs[0]):
            return refusal
        kernel, padding = whole(settings, "kernel"), whole(settings, "padding")
        stride = whole_or_none(settings, "stride") or kernel
        if padding > kernel // 2:
            facts: FrozenMap[Value] = FrozenMap(kernel=kernel, padding=padding, largest=kernel // 2)
            nearest = (Suggestion("padding", kernel // 2), Suggestion("kernel", 2 * padding))
            return Mismatch("block.pool_padding", facts, nearest)
        if min(slid_length(side, kernel, stride, padding) for side in inputs[0][1:]) < 1:
            return window_too_large(inputs[0], kernel, padding, 1, largest_padding=kernel // 2)
        tape = Tape(inputs)
        tape.pool(0, kernel, stride, padding, is_max=is_max)
        return tape.plan()

    return plan


def _global(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    tape = Tape(inputs)
    tape.mean(0, inputs[0][:1])
    return tape.plan()


def _adaptive(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    size = whole(settings, "size")
    tape = Tape(inputs)
    tape.pool_to(0, (inputs[0][0], size, size), is_max=settings["takes"] == "max")
    return tape.plan()


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


SPECS = (
    BlockSpec(
        "max_pool",
        "Max pooling",
        "Keeps the strongest answer in each window: smaller maps that still say what was found.",
        Group.POOLING,
        _sliding(is_max=True),
        _fields("Side of the window of which the largest value is kept."),
    ),
    BlockSpec(
        "avg_pool",
        "Average pooling",
        "Takes the mean of each window: smaller, smoother maps.",
        Group.POOLING,
        _sliding(is_max=False),
        _fields("Side of the window whose mean is taken."),
    ),
    BlockSpec(
        "global_pool",
        "Global average pooling",
        "The mean of each whole channel. The network then takes pictures of any size and needs far fewer weights.",
        Group.POOLING,
        _global,
    ),
    BlockSpec(
        "adaptive_pool",
        "Adaptive pooling",
        "Divides each map into a grid of this size and keeps one value of each cell, whatever the size of the picture.",
        Group.POOLING,
        _adaptive,
        (
            Field("size", "Size", "Height and width of the output.", "int", 4, 1, 512, unit="px"),
            Field(
                "takes",
                "Keeps",
                "What is kept of each cell.",
                "choice",
                "mean",
                choices=(Choice("mean", "The mean"), Choice("max", "The largest value")),
            ),
        ),
    ),
)
