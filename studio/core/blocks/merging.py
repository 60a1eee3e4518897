"""Blocks with several named inputs: element-wise sum, and joining along channels."""

from __future__ import annotations

from studio.core.blocks.spec import BlockSpec, Group, Mismatch, Resolved, Shape, shape_text
from studio.core.fields import Value
from studio.core.frozen import FrozenMap

_MOST_INPUTS = 64


def _unequal(inputs: tuple[Shape, ...]) -> Mismatch:
    facts: FrozenMap[Value] = FrozenMap(arrives=", ".join(map(shape_text, inputs)))
    return Mismatch("block.unequal_inputs", facts)


def _added(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    return inputs[0] if len(set(inputs)) == 1 else _unequal(inputs)


def _joined(settings: Resolved, inputs: tuple[Shape, ...]) -> Shape | Mismatch:
    if len({shape[1:] for shape in inputs}) != 1:
        return _unequal(inputs)
    return (sum(shape[0] for shape in inputs), *inputs[0][1:])


SPECS = (
    BlockSpec(
        "add",
        "Add",
        "Adds the outputs of several blocks of equal shape; the shortcut of residual networks.",
        Group.MERGING,
        _added,
        inputs=(2, _MOST_INPUTS),
    ),
    BlockSpec(
        "concat",
        "Concatenate",
        "Puts the channels of several blocks one after the other.",
        Group.MERGING,
        _joined,
        inputs=(2, _MOST_INPUTS),
    ),
)
