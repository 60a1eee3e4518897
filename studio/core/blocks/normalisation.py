"""Blocks that steady training: norms and dropout."""

from __future__ import annotations

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Suggestion,
    element_count,
    nearest_divisor,
    needs_picture,
    number,
    whole,
)
from studio.core.blocks.tape import Plan, Shape, Tape
from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap


def _batch_norm(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if len(inputs[0]) == 2 and (refusal := needs_picture(inputs[0])):
        return refusal
    tape = Tape(inputs)
    tape.batch_norm(0)
    return tape.plan()


def _group_norm(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    channels, groups = inputs[0][0], whole(settings, "groups")
    if channels % groups:
        facts: FrozenMap[Value] = FrozenMap(groups=groups, channels=channels)
        return Mismatch("block.norm_groups_mismatch", facts, (Suggestion("groups", nearest_divisor(groups, channels)),))
    if element_count(inputs[0]) == groups:
        fewer = [n for n in range(1, groups) if channels % n == 0]
        return _one_value(tuple(Suggestion("groups", n) for n in fewer[-1:]))
    tape = Tape(inputs)
    tape.norm(0, 2 * channels, groups)
    return tape.plan()


def _layer_norm(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    tape = Tape(inputs)
    match inputs[0]:
        case (tokens, width):
            tape.norm(0, 2 * width, tokens)
        case (channels, *_) if element_count(inputs[0]) > 1:
            tape.norm(0, 2 * channels, 1)
        case _:
            return _one_value()
    return tape.plan()


def _instance_norm(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    channels, height, width = inputs[0]
    if height * width == 1:
        return _one_value()
    tape = Tape(inputs)
    tape.norm(tape.copy(0, inputs[0]), 2 * channels, channels)
    return tape.plan()


def _one_value(suggestions: tuple[Suggestion, ...] = ()) -> Mismatch:
    return Mismatch("block.norm_one_value", FrozenMap(), suggestions)


def _dropout(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan:
    tape = Tape(inputs)
    tape.dropout(0, number(settings, "rate"))
    return tape.plan()


def _spatial_dropout(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    tape = Tape(inputs)
    tape.dropout(0, number(settings, "rate"), mask=inputs[0][0])
    return tape.plan()


BATCH_NORM = BlockSpec(
    "batch_norm",
    "Batch normalisation",
    "Brings each channel to a mean of 0 and a spread of 1 over the batch. Training becomes faster and steadier.",
    Group.NORMALISATION,
    _batch_norm,
)

GROUP_NORM = BlockSpec(
    "group_norm",
    "Group normalisation",
    "Like batch normalisation, but within each picture, over groups of channels. Works with any batch size.",
    Group.NORMALISATION,
    _group_norm,
    (Field("groups", "Groups", "How many groups of channels are normalised, each by itself.", "int", 8, 1, 65_536),),
)

LAYER_NORM = BlockSpec(
    "layer_norm",
    "Layer normalisation",
    "Normalises each picture, or each token, by itself over all of its channels. Usual in Transformers.",
    Group.NORMALISATION,
    _layer_norm,
)

INSTANCE_NORM = BlockSpec(
    "instance_norm",
    "Instance normalisation",
    "Normalises each channel of each picture by itself, which takes out contrast and style.",
    Group.NORMALISATION,
    _instance_norm,
)

DROPOUT = BlockSpec(
    "dropout",
    "Dropout",
    "Switches off a random part of the values while training, so that the network does not learn by heart.",
    Group.NORMALISATION,
    _dropout,
    (Field("rate", "Rate", "The share of values that is switched off.", "float", 0.5, 0.0, 0.99),),
)

SPATIAL_DROPOUT = BlockSpec(
    "spatial_dropout",
    "Spatial dropout",
    "Switches off whole channels at random while training; for feature maps, where neighbours know each other's value.",
    Group.NORMALISATION,
    _spatial_dropout,
    (Field("rate", "Rate", "The share of channels that is switched off.", "float", 0.2, 0.0, 0.99),),
)

SPECS = (BATCH_NORM, GROUP_NORM, LAYER_NORM, INSTANCE_NORM, DROPOUT, SPATIAL_DROPOUT)
