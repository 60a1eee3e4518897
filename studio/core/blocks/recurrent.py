"""Recurrent blocks that read a picture row by row, as one reads a text."""

from __future__ import annotations

from typing import NamedTuple

from studio.core.blocks.spec import BlockSpec, Group, Mismatch, PlanRule, Resolved, needs_picture, switched, whole
from studio.core.blocks.tape import FLOAT_BYTES, Op, Plan, Shape, Tape
from studio.core.fields import Field


class _Cell(NamedTuple):
    """`gates` matrices and twice as many biases for each layer and direction (torch.nn.LSTM, GRU).

    Memory is in values for each row and hidden number, as measured with torch 2.14.1 on the CPU: what a layer keeps
    in one direction, and beyond that what the one in hand needs forth and back. (The LSTM is one operation of oneDNN,
    the GRU a chain of small ones that frees what it has used.)
    """

    gates: int
    kept: int
    forth: int
    back: int


_LSTM = _Cell(gates=4, kept=6, forth=5, back=10)
_GRU = _Cell(gates=3, kept=7, forth=5, back=0)


def _rows(cell: _Cell) -> PlanRule:
    def plan(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
        if refusal := needs_picture(inputs[0]):
            return refusal
        channels, rows, width = inputs[0]
        hidden, directions = whole(settings, "hidden"), 2 if switched(settings, "bidirectional") else 1
        layers = whole(settings, "layers")
        weights = parameters = 0
        features = channels * width
        for _ in range(layers):
            layer = directions * cell.gates * hidden * (features + hidden)
            weights += layer
            parameters += layer + directions * 2 * cell.gates * hidden
            features = directions * hidden
        row_bytes = rows * hidden * FLOAT_BYTES
        both = directions - 1  # the outputs of both directions are put together for the next layer
        tape = Tape(inputs)
        tape.record(
            Op(
                "recurrent", (tape.copy(0, (rows, channels * width)),), (directions * hidden,),
                parameters=parameters,
                multiply_adds=rows * weights,
                saved="inputs",
                saved_bytes=row_bytes * directions * layers * (cell.kept + both),
                forward_bytes=row_bytes * cell.forth,
                backward_bytes=row_bytes * cell.back,
            )
        )  # fmt: skip
        return tape.plan()

    return plan


_FIELDS = (
    Field("hidden", "Hidden size", "How many numbers it remembers from row to row.", "int", 128, 1, 16_384),
    Field("layers", "Layers", "How many are stacked; each reads what the one before it says.", "int", 1, 1, 16),
    Field(
        "bidirectional",
        "Both directions",
        "Reads the rows from the bottom to the top as well; twice as many outputs.",
        "bool",
        False,
    ),
)

SPECS = (
    BlockSpec(
        "lstm_rows",
        "LSTM over rows",
        "Reads the picture row by row and gives what it remembers at the end. Forgets more slowly than a GRU.",
        Group.RECURRENT,
        _rows(_LSTM),
        _FIELDS,
    ),
    BlockSpec(
        "gru_rows",
        "GRU over rows",
        "Reads the picture row by row and gives what it remembers at the end. Smaller than an LSTM, often as good.",
        Group.RECURRENT,
        _rows(_GRU),
        _FIELDS,
    ),
)
