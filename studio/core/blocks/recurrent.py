"""Recurrent blocks that read a picture row by row, as one reads a text."""

from __future__ import annotations

from studio.core.blocks.spec import BlockSpec, Group, Mismatch, PlanRule, Resolved, needs_picture, switched, whole
from studio.core.blocks.tape import FLOAT_BYTES, Op, Plan, Shape, Tape
from studio.core.fields import Field

_LSTM_GATES, _GRU_GATES = 4, 3


def _rows(gates: int) -> PlanRule:
    """torch.nn.LSTM and GRU: `gates` matrices and two biases for each layer and direction."""

    def plan(settings: Resolved, inputs: tuple[Shape, ...]) -> Plan | Mismatch:
        if refusal := needs_picture(inputs[0]):
            return refusal
        channels, rows, width = inputs[0]
        hidden, directions = whole(settings, "hidden"), 2 if switched(settings, "bidirectional") else 1
        weights = parameters = 0
        features = channels * width
        for _ in range(whole(settings, "layers")):
            layer = directions * gates * hidden * (features + hidden)
            weights += layer
            parameters += layer + directions * 2 * gates * hidden
            features = directions * hidden
        tape = Tape(inputs)
        tape.record(
            Op(
                "recurrent", (0,), (directions * hidden,),
                parameters=parameters,
                multiply_adds=rows * weights,
                saved="inputs",
                saved_bytes=rows * hidden * directions * whole(settings, "layers") * (gates + 2) * FLOAT_BYTES,
                weight_bytes=weights * FLOAT_BYTES,
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
        _rows(_LSTM_GATES),
        _FIELDS,
    ),
    BlockSpec(
        "gru_rows",
        "GRU over rows",
        "Reads the picture row by row and gives what it remembers at the end. Smaller than an LSTM, often as good.",
        Group.RECURRENT,
        _rows(_GRU_GATES),
        _FIELDS,
    ),
)
