"""Blocks that steady training: batch norm and dropout."""

from __future__ import annotations

from studio.core.blocks.spec import BlockSpec, Group, Resolved, Shape, element_count, same_shape
from studio.core.fields import Field

_FLOAT_BYTES = 4


def _scale_and_shift(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    return 2 * output[0]


def _running_statistics(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    # Running mean and variance, and one count of the batches seen.
    return 2 * output[0] + 1


def _mask(settings: Resolved, inputs: tuple[Shape, ...], output: Shape) -> int:
    # On the CPU torch keeps the scaled mask as floats; on CUDA one byte an element. The larger one is counted.
    return element_count(output) * _FLOAT_BYTES if settings["rate"] else 0


BATCH_NORM = BlockSpec(
    "batch_norm",
    "Batch normalisation",
    "Brings each channel to a mean of 0 and a spread of 1 over the batch. Training becomes faster and steadier.",
    Group.NORMALISATION,
    same_shape,
    parameters=_scale_and_shift,
    buffers=_running_statistics,
)

DROPOUT = BlockSpec(
    "dropout",
    "Dropout",
    "Switches off a random part of the values while training, so that the network does not learn by heart.",
    Group.NORMALISATION,
    same_shape,
    (Field("rate", "Rate", "The share of values that is switched off.", "float", 0.5, 0.0, 0.99),),
    saved_bytes=_mask,
)
