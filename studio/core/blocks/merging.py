"""Blocks with several named inputs: element-wise sum, and joining along channels."""

from __future__ import annotations

from studio.core.blocks.spec import BlockSpec, Group, Mismatch, Resolved, shape_text
from studio.core.blocks.tape import Plan, Shape, Tape
from studio.core.fields import Value
from studio.core.frozen import FrozenMap

_MOST_INPUTS = 64


def _unequal(inputs: tuple[Shape, ...]) -> Mismatch:
    facts: FrozenMap[Value] = FrozenMap(arrives=", ".join(map(shape_text, inputs)))
    return Mismatch("block.unequal_inputs", facts)


def _added(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if len(set(inputs)) != 1:
        return _unequal(inputs)
    tape = Tape(inputs)
    tape.add(*range(len(inputs)))
    return tape.plan()


def _joined(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if len({shape[1:] for shape in inputs}) != 1:
        return _unequal(inputs)
    tape = Tape(inputs)
    tape.concat(tuple(range(len(inputs))))
    return tape.plan()


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
