"""Activations: the bends between linear blocks, without which a deep network could do no more than a flat one."""

from __future__ import annotations

from studio.core.blocks.spec import BlockSpec, Group, Resolved
from studio.core.blocks.tape import Plan, Saved, Shape, Tape
from studio.core.fields import Field


def _activation(
    kind: str, label: str, help: str, saved: Saved, *, fields: tuple[Field, ...] = (), parameters: int = 0
) -> BlockSpec:
    """`saved` is what torch's derivative of it needs (derivatives.yaml): the input or the output."""

    def plan(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan:
        tape = Tape(inputs)
        tape.change(0, saved, parameters=parameters)
        return tape.plan()

    return BlockSpec(kind, label, help, Group.ACTIVATION, plan, fields)


SPECS = (
    _activation(
        "relu",
        "ReLU",
        "Keeps positive values, sets the others to 0. Simple, fast, the usual choice.",
        "output",
    ),
    _activation("gelu", "GELU", "A smooth ReLU, usual in Transformers.", "inputs"),
    _activation("silu", "SiLU", "A smooth ReLU that dips below 0; often a little better in deep networks.", "inputs"),
    _activation(
        "leaky_relu",
        "Leaky ReLU",
        "Like ReLU, but lets a little of the negative values through, so that no unit can die.",
        "inputs",
        fields=(Field("slope", "Slope", "The share of negative values that is let through.", "float", 0.01, 0.0, 1.0),),
    ),
    _activation(
        "prelu",
        "PReLU",
        "A Leaky ReLU that learns its slope: one number for the whole block.",
        "inputs",
        parameters=1,
    ),
    _activation("relu6", "ReLU6", "A ReLU that stops at 6; the usual choice in small networks for phones.", "inputs"),
    _activation("hardswish", "Hard Swish", "A SiLU made of straight lines, fast on small devices.", "inputs"),
    _activation("mish", "Mish", "Smooth like SiLU, dips a little deeper; slower to compute.", "inputs"),
    _activation("elu", "ELU", "Like ReLU, but bends smoothly towards -1 for negative values.", "inputs"),
    _activation("softplus", "Softplus", "A ReLU with a rounded corner; always above 0.", "inputs"),
    _activation("tanh", "Tanh", "Squeezes values into -1 to 1. Slow to train in deep networks.", "output"),
    _activation("sigmoid", "Sigmoid", "Squeezes values into 0 to 1. Slow to train in deep networks.", "output"),
    _activation(
        "hard_sigmoid", "Hard sigmoid", "A sigmoid made of straight lines, fast on small devices.", "inputs"
    ),
)  # fmt: skip
