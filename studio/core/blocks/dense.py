"""From feature maps to classes: flatten and linear."""

from __future__ import annotations

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Suggestion,
    arrives,
    number,
    switched,
    whole,
)
from studio.core.blocks.tape import Plan, Shape, Tape
from studio.core.fields import Choice, Field, Value
from studio.core.frozen import FrozenMap

_MOST_LAYERS, _WIDEST = 32, 65_536


def _flat(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan:
    tape = Tape(inputs)
    tape.flatten(0)
    return tape.plan()


def _linear(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    match len(inputs[0]):
        case 3:
            return Mismatch("block.needs_vector", arrives(inputs[0]), insert="flatten")
        case 2:
            return Mismatch("block.needs_vector_not_tokens", arrives(inputs[0]), insert="token_pool")
    if whole(settings, "out_features") < 1:
        return Mismatch("block.no_classes")
    tape = Tape(inputs)
    tape.linear(0, whole(settings, "out_features"), bias=switched(settings, "bias"))
    return tape.plan()


def hidden_widths(text: Value) -> tuple[int, ...] | None:
    """The widths in "256, 128"; None where they are not 1 to 32 whole numbers from 1 to 65,536."""
    parts = str(text).replace(",", " ").split()
    if not 1 <= len(parts) <= _MOST_LAYERS or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    # Short ones only: Python refuses to read numbers of thousands of digits.
    widths = tuple(int(part) if len(part) < 10 else 0 for part in parts)
    return widths if all(1 <= width <= _WIDEST for width in widths) else None


def _mlp(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    widths = hidden_widths(settings["hidden"])
    if widths is None:
        facts: FrozenMap[Value] = FrozenMap(hidden=settings["hidden"], most=_MOST_LAYERS, widest=_WIDEST)
        return Mismatch("block.bad_widths", facts, (Suggestion("hidden", "256, 128"),))
    tape = Tape(inputs)
    x = tape.flatten(0)
    for width in widths:
        x = tape.linear(x, width)
        x = tape.relu(x) if settings["activation"] == "relu" else tape.change(x, "inputs")
        x = tape.dropout(x, number(settings, "rate"))
    return tape.plan()


FLATTEN = BlockSpec(
    "flatten",
    "Flatten",
    "Lays all values of the feature maps into one row, so that linear blocks can take them.",
    Group.DENSE,
    _flat,
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
)

MLP = BlockSpec(
    "mlp",
    "MLP",
    "Several linear blocks in a row, each with an activation and dropout. Put a linear block for the classes after it.",
    Group.DENSE,
    _mlp,
    (
        Field(
            "hidden",
            "Widths",
            "How many outputs each of its linear blocks has, from first to last, such as 256, 128.",
            "text",
            "256, 128",
        ),
        Field(
            "activation",
            "Activation",
            "The bend after each linear block.",
            "choice",
            "relu",
            choices=(Choice("relu", "ReLU"), Choice("gelu", "GELU")),
        ),
        Field("rate", "Rate", "The share of values that is switched off.", "float", 0.0, 0.0, 0.99),
    ),
)
