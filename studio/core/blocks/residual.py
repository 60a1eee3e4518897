"""Whole stages of well-known convolutional networks as one block: residual, inverted residual, squeeze and excite."""

from __future__ import annotations

from studio.core.blocks.convolution import filters, kernel_field, stride_field
from studio.core.blocks.spec import BlockSpec, Group, Mismatch, Resolved, needs_picture, number, switched, whole
from studio.core.blocks.tape import Plan, Saved, Shape, Tape
from studio.core.fields import Choice, Field


def _normed(tape: Tape, x: int, out: int, kernel: int, *, stride: int = 1, groups: int = 1) -> int:
    """Convolution without bias that keeps the size (divided by the stride), then batch norm."""
    x = tape.conv(x, out, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False)
    return tape.batch_norm(x)


def _with_shortcut(tape: Tape, branch: int, stride: int) -> Plan:
    """ReLU of the branch plus the block's input, which a 1x1 convolution brings to the branch's shape if need be."""
    out = tape.shape(branch)
    shortcut = 0 if stride == 1 and tape.shape(0) == out else _normed(tape, 0, out[0], 1, stride=stride)
    tape.relu(tape.add(branch, shortcut))
    return tape.plan()


def _residual(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    out, stride = whole(settings, "out_channels"), whole(settings, "stride")
    tape = Tape(inputs)
    x = tape.relu(_normed(tape, 0, out, 3, stride=stride))
    return _with_shortcut(tape, _normed(tape, x, out, 3), stride)


def bottleneck_width(out_channels: int) -> int:
    """Channels of the 3x3 convolution inside: a quarter of the filters (He et al. 2015, ResNet-50)."""
    return max(1, out_channels // 4)


def _bottleneck(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    out, stride = whole(settings, "out_channels"), whole(settings, "stride")
    inner = bottleneck_width(out)
    tape = Tape(inputs)
    x = tape.relu(_normed(tape, 0, inner, 1))
    x = tape.relu(_normed(tape, x, inner, 3, stride=stride))
    return _with_shortcut(tape, _normed(tape, x, out, 1), stride)


def squeezed_width(channels: int, reduction: int) -> int:
    """Width of the middle of a squeeze-and-excite block; at least one."""
    return max(1, channels // reduction)


def expanded_width(channels: int, expansion: float) -> int:
    """Channels inside an inverted residual block."""
    return max(1, round(channels * expansion))


def gate_width(channels: int) -> int:
    """Squeezed channels inside an inverted residual: a quarter, in eights, never below 90% of it.

    Source: Howard et al. 2019 (MobileNetV3) as torchvision builds it.
    """
    wanted = channels // 4
    rounded = max(8, (wanted + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * wanted else rounded


def _gated(tape: Tape, x: int, squeezed: int, gate: Saved) -> int:
    channels = tape.shape(x)[0]
    gates = tape.relu(tape.linear(tape.mean(x, (channels,)), squeezed))
    return tape.scale(x, tape.change(tape.linear(gates, channels), gate))


def _squeeze_excite(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    tape = Tape(inputs)
    _gated(tape, 0, squeezed_width(inputs[0][0], whole(settings, "reduction")), "output")
    return tape.plan()


def _inverted(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    out, stride = whole(settings, "out_channels"), whole(settings, "stride")
    hidden = expanded_width(inputs[0][0], number(settings, "expansion"))
    tape = Tape(inputs)

    def bend(x: int) -> int:
        return tape.relu(x) if settings["activation"] == "relu" else tape.change(x, "inputs")

    x = 0 if hidden == inputs[0][0] else bend(_normed(tape, 0, hidden, 1))
    x = bend(_normed(tape, x, hidden, whole(settings, "kernel"), stride=stride, groups=hidden))
    if switched(settings, "squeeze_excite"):
        x = _gated(tape, x, gate_width(hidden), "inputs")
    x = _normed(tape, x, out, 1)
    if stride == 1 and tape.shape(x) == inputs[0]:
        tape.add(x, 0)
    return tape.plan()


SPECS = (
    BlockSpec(
        "residual",
        "Residual block",
        "Two 3x3 convolutions with batch norm, and a shortcut around them, so that very deep networks can be trained "
        "(ResNet-18, ResNet-34).",
        Group.COMPOSITE,
        _residual,
        (filters(64), stride_field(1)),
    ),
    BlockSpec(
        "bottleneck_residual",
        "Bottleneck residual block",
        "A 3x3 convolution between two 1x1 ones that narrow and widen the channels, and a shortcut around them "
        "(ResNet-50).",
        Group.COMPOSITE,
        _bottleneck,
        (filters(256), stride_field(1)),
    ),
    BlockSpec(
        "inverted_residual",
        "Inverted residual block",
        "Widens the channels, looks at each by itself, narrows them again, with a shortcut around; small and fast "
        "(MobileNet).",
        Group.COMPOSITE,
        _inverted,
        (
            filters(32),
            kernel_field(3),
            stride_field(1),
            Field("expansion", "Expansion", "By how much the channels are widened inside.", "float", 6.0, 0.25, 64.0),
            Field(
                "activation",
                "Activation",
                "The bend after each convolution but the last.",
                "choice",
                "relu6",
                choices=(Choice("relu", "ReLU"), Choice("relu6", "ReLU6"), Choice("hardswish", "Hard Swish")),
            ),
            Field(
                "squeeze_excite",
                "Squeeze and excite",
                "Weighs the channels by what the whole picture shows.",
                "bool",
                False,
            ),
        ),
    ),
    BlockSpec(
        "squeeze_excite",
        "Squeeze and excite",
        "Weighs each channel by what the whole picture shows, at little cost.",
        Group.COMPOSITE,
        _squeeze_excite,
        (
            Field(
                "reduction",
                "Reduction",
                "By how much the channels are narrowed inside. Larger means fewer weights.",
                "int",
                16,
                1,
                1024,
            ),
        ),
    ),
)
