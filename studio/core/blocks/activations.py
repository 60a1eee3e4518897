"""Activations: the bends between linear blocks, without which a deep network could do no more than a flat one."""

from __future__ import annotations

from studio.core.blocks.spec import BlockSpec, Group, same_shape
from studio.core.fields import Field


def _activation(kind: str, label: str, help: str, fields: tuple[Field, ...] = ()) -> BlockSpec:
    return BlockSpec(kind, label, help, Group.ACTIVATION, same_shape, fields)


SPECS = (
    _activation("relu", "ReLU", "Keeps positive values, sets the others to 0. Simple, fast, the usual choice."),
    _activation("gelu", "GELU", "A smooth ReLU, usual in Transformers."),
    _activation("silu", "SiLU", "A smooth ReLU that dips below 0; often a little better in deep networks."),
    _activation(
        "leaky_relu",
        "Leaky ReLU",
        "Like ReLU, but lets a little of the negative values through, so that no unit can die.",
        (Field("slope", "Slope", "The share of negative values that is let through.", "float", 0.01, 0.0, 1.0),),
    ),
    _activation("elu", "ELU", "Like ReLU, but bends smoothly towards -1 for negative values."),
    _activation("tanh", "Tanh", "Squeezes values into -1 to 1. Slow to train in deep networks."),
    _activation("sigmoid", "Sigmoid", "Squeezes values into 0 to 1. Slow to train in deep networks."),
)
