"""Transformer blocks: a picture becomes tokens, tokens look at each other, tokens become one vector."""

from __future__ import annotations

from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Suggestion,
    nearest_divisor,
    needs_picture,
    needs_tokens,
    number,
    switched,
    whole,
)
from studio.core.blocks.tape import FLOAT_BYTES, Op, Plan, Shape, Tape
from studio.core.fields import Choice, Field, Value
from studio.core.frozen import FrozenMap


def _patches(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_picture(inputs[0]):
        return refusal
    patch, width = whole(settings, "patch"), whole(settings, "width")
    side = min(inputs[0][1:])
    if patch > side:
        facts: FrozenMap[Value] = FrozenMap(patch=patch, height=inputs[0][1], width=inputs[0][2])
        return Mismatch("block.patch_too_large", facts, (Suggestion("patch", side),))
    tape = Tape(inputs)
    x = tape.conv(0, width, patch, stride=patch)
    _, high, wide = tape.shape(x)
    x = tape.view(x, (high * wide, width))
    if switched(settings, "class_token"):
        shape = (high * wide + 1, width)
        x = tape.record(Op("concat", (x,), shape, parameters=width, passes_gradient=True))
    tokens = tape.shape(x)[0]
    tape.record(Op("add", (x,), tape.shape(x), parameters=tokens * width, passes_gradient=True))
    return tape.plan()


def mlp_width(width: int, ratio: float) -> int:
    """Width of the hidden layer in each Transformer layer."""
    return max(1, round(width * ratio))


def _encoder(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_tokens(inputs[0]):
        return refusal
    tokens, width = inputs[0]
    heads, rate = whole(settings, "heads"), number(settings, "rate")
    if width % heads:
        facts: FrozenMap[Value] = FrozenMap(heads=heads, width=width)
        return Mismatch("block.heads_mismatch", facts, (Suggestion("heads", nearest_divisor(heads, width)),))
    tape = Tape(inputs)
    x = 0
    for _ in range(whole(settings, "depth")):
        y = _attention(tape, tape.norm(x, 2 * width, tokens), heads)
        x = tape.add(x, tape.dropout(tape.linear(y, width), rate))
        y = tape.linear(tape.norm(x, 2 * width, tokens), mlp_width(width, number(settings, "mlp_ratio")))
        y = tape.linear(tape.dropout(tape.change(y, "inputs"), rate), width)
        x = tape.add(x, tape.dropout(y, rate))
    tape.norm(x, 2 * width, tokens)
    return tape.plan()


def _attention(tape: Tape, x: int, heads: int) -> int:
    """Queries, keys and values in one product, then softmax(q k / sqrt) v without ever holding the whole matrix."""
    tokens, width = tape.shape(x)
    x = tape.linear(x, 3 * width)
    return tape.record(
        Op(
            "attention", (x,), (tokens, width),
            multiply_adds=2 * tokens * tokens * width,
            saved="inputs",
            saved_bytes=heads * tokens * FLOAT_BYTES,
        )
    )  # fmt: skip


def _token_pool(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
    if refusal := needs_tokens(inputs[0]):
        return refusal
    tape = Tape(inputs)
    vector = inputs[0][1:]
    if settings["takes"] == "class":
        tape.record(Op("choice", (0,), vector, is_view=True))
    else:
        tape.mean(0, vector)
    return tape.plan()


SPECS = (
    BlockSpec(
        "patch_embedding",
        "Patch embedding",
        "Cuts the picture into square patches and makes each one a token, with a learned mark of where it was. What is "
        "left over at the right and the bottom is cut off.",
        Group.ATTENTION,
        _patches,
        (
            Field("patch", "Patch", "Side of a patch. Half the side makes four times the tokens.", "int", 8, 1, 1024,
                  unit="px"),
            Field("width", "Width", "How many numbers describe a token.", "int", 192, 1, 16_384),
            Field("class_token", "Class token", "One more token that belongs to no patch and gathers the answer.",
                  "bool", True),
        ),
    ),
    BlockSpec(
        "transformer_encoder",
        "Transformer encoder",
        "Layers in which every token looks at all others and takes what it needs. Strong with much data; with little, "
        "convolutions learn faster.",
        Group.ATTENTION,
        _encoder,
        (
            Field("depth", "Layers", "How many layers, one after the other.", "int", 6, 1, 64),
            Field("heads", "Heads", "How many things a token can look for at once. Must divide the width.", "int", 3, 1,
                  1024),
            Field("mlp_ratio", "MLP ratio", "How much wider than a token the hidden part of each layer is.", "float",
                  4.0, 0.25, 16.0, advanced=True),
            Field("rate", "Dropout", "The share of values that is switched off in each layer while training.", "float",
                  0.0, 0.0, 0.99),
        ),
    ),
    BlockSpec(
        "token_pool",
        "Token pooling",
        "Makes one vector of all tokens, for a linear block to decide on.",
        Group.ATTENTION,
        _token_pool,
        (
            Field("takes", "Keeps", "The class token alone, or the mean of all.", "choice", "mean",
                  choices=(Choice("mean", "The mean of all tokens"), Choice("class", "The class token"))),
        ),
    ),
)  # fmt: skip
