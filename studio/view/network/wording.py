"""The words of a network: groups, settings in short, and whole rows as a screen reader says them."""

from __future__ import annotations

from functools import lru_cache
from typing import assert_never

from studio.core.blocks import BLOCKS, BlockSpec, Group
from studio.core.fields import Field, Value
from studio.core.project import Block, Preprocessing
from studio.core.text import language, tr, trn

_MOST_CHARACTERS = 40


def group_label(group: Group) -> str:
    match group:
        case Group.CONVOLUTION:
            return tr("Convolutions")
        case Group.POOLING:
            return tr("Pooling")
        case Group.NORMALISATION:
            return tr("Normalisation, dropout")
        case Group.ACTIVATION:
            return tr("Activation functions")
        case Group.DENSE:
            return tr("Flatten, linear")
        case Group.COMPOSITE:
            return tr("Ready-made stages")
        case Group.RECURRENT:
            return tr("Row by row")
        case Group.ATTENTION:
            return tr("Transformer")
        case Group.MERGING:
            return tr("Merging")
    assert_never(group)


def spec_of(kind: str) -> BlockSpec | None:
    """The declaration of this kind of block, if this version knows it."""
    return BLOCKS[kind] if kind in BLOCKS else None  # noqa: SIM401 - a registry has no get


def block_label(kind: str) -> str:
    """The block's name; the kind itself where this version does not know it."""
    return tr(BLOCKS[kind].label) if kind in BLOCKS else kind


def blocks_in_words(count: int, kind: str) -> str:
    """One block by its name, several by their number, as labels of edits say them."""
    return block_label(kind) if count == 1 else trn(count, "{n} block", "{n} blocks")


def settings_text(block: Block) -> str:
    """What matters of the settings: `3x3, 16 filters, stride 2`."""
    return _settings_text(block.kind, tuple(block.settings.items()), language())


@lru_cache(maxsize=1024)
def _settings_text(kind: str, settings: tuple[tuple[str, Value], ...], _language: str) -> str:
    if kind not in BLOCKS:
        return ""
    spec, given = BLOCKS[kind], dict(settings)
    parts = [_part(spec, field, given.get(field.name, field.default)) for field in _by_weight(spec)]
    return ", ".join(part for part in parts if part)


def _by_weight(spec: BlockSpec) -> list[Field]:
    """The window's size first, as everybody writes it."""
    return sorted(spec.fields, key=lambda field: field.name != "kernel")


def _part(spec: BlockSpec, field: Field, value: Value) -> str:
    if not field.accepts(value):
        return f"{tr(field.label)} {_short(value)}"
    match field.name, value:
        case "kernel", int():
            return f"{value}x{value}"
        case "out_channels", int():
            return trn(value, "{n} filter", "{n} filters")
        case "out_features", None:
            return tr("as many as classes")
        case "out_features", int():
            return trn(value, "{n} output", "{n} outputs")
        case "stride", int() if value != 1 or field.optional:
            return tr("stride {n}", n=value)
        case "padding", None:
            return tr("keeps the size")
        case "padding", int() if value:
            return tr("padding {n}", n=value)
        case "rate", int() | float():
            return f"{value * 100:g}%" if value or field.default else ""
        case "bias", False:
            return tr("no bias")
        case (("stride" | "padding" | "bias"), _):
            return ""
    if value == field.default and (field.advanced or value is None):
        return ""
    match field.kind:
        case "bool":
            return tr(field.label) if value else ""
        case "choice":
            return next(tr(choice.label) for choice in field.choices if choice.value == value)
    return f"{tr(field.label)} {_short(value)}"


def _short(value: Value) -> str:
    text = str(value)
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


def parameters_text(count: int) -> str:
    return trn(count, "{n:,} parameter", "{n:,} parameters") if count else ""


def preparation_text(preprocessing: Preprocessing) -> str:
    """How pictures become the network's input, in short."""
    size = tr("{width} x {height} px", width=preprocessing.width, height=preprocessing.height)
    colour = tr("grey") if preprocessing.channels == "grey" else tr("colour")
    return ", ".join((size, colour, _fit_text(preprocessing)))


def _fit_text(preprocessing: Preprocessing) -> str:
    match preprocessing.fit:
        case "crop":
            return tr("middle cropped")
        case "pad":
            return tr("padded")
        case "stretch":
            return tr("stretched")
    assert_never(preprocessing.fit)
