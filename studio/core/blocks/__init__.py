"""The blocks that a network is made of, each declared once: fields, help, shape rule and counts. No torch.

`BLOCKS` holds them by kind, in the order of the palette. Property tests prove every rule equal to torch's.
"""

from __future__ import annotations

from studio.core.blocks import activations, convolution, dense, merging, normalisation, pooling
from studio.core.blocks.spec import (
    BlockSpec,
    Group,
    Mismatch,
    Resolved,
    Shape,
    Suggestion,
    element_count,
    shape_text,
)
from studio.core.registry import Registry

__all__ = [
    "BLOCKS",
    "BlockSpec",
    "Group",
    "Mismatch",
    "Resolved",
    "Shape",
    "Suggestion",
    "element_count",
    "shape_text",
]

_BUILT_IN = (
    convolution.CONV2D,
    *pooling.SPECS,
    normalisation.BATCH_NORM,
    *activations.SPECS,
    normalisation.DROPOUT,
    dense.FLATTEN,
    dense.LINEAR,
    *merging.SPECS,
)

BLOCKS: Registry[BlockSpec] = Registry("block", {spec.kind: spec for spec in _BUILT_IN}, "studio.blocks")
