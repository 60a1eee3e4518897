"""From feature maps to classes: flatten and linear."""

from __future__ import annotations

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Shape,
    element_count,
    shape_text,
    switched,
    whole,
)
from studio.core.fields import Field
from studio.core.frozen import FrozenMap


def _flat(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    return (element_count(inputs[0]),)


def _linear(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    if len(inputs[0]) != 1:
        return Mismatch("block.needs_vector", FrozenMap(arrives=shape_text(inputs[0])), insert="flatten")
    if whole(settings, "out_features") < 1:
        return Mismatch("block.no_classes")
    return (whole(settings, "out_features"),)


def _parameters(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    return inputs[0][0] * output[0] + (output[0] if switched(settings, "bias") else 0)


def _multiply_adds(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    return inputs[0][0] * output[0]


FLATTEN = BlockSpec(
    "flatten",
    "Flatten",
    "Lays all values of the feature maps into one row, so that linear blocks can take them.",
    Group.DENSE,
    _flat,
    in_place=True,
)

LINEAR = BlockSpec(
    "linear",
    "Linear",
    "Every output sees every input. The last one has one output per class and makes the decision.",
    Group.DENSE,
    _linear,
    (
        Field(
            "out_features",
            "Outputs",
            "How many numbers come out. The last block needs one for each class.",
            "int",
            None,
            1,
            1_000_000,
            optional=True,
            none_label="as many as classes",
        ),
        Field("bias", "Bias", "Adds a learned number to each output.", "bool", True, advanced=True),
    ),
    parameters=_parameters,
    multiply_adds=_multiply_adds,
)
