"""The blocks that a network is made of, each declared once: fields, help, and the operations it is made of.

No torch here. `BLOCKS` holds them by kind, in the order of the palette; property tests prove every rule equal to
torch's.
"""

from __future__ import annotations

from studio.core.blocks import (
    activations,
    attention,
    convolution,
    dense,
    merging,
    normalisation,
    pooling,
    recurrent,
    residual,
)
from studio.core.blocks.spec import BlockSpec, Group, Mismatch, Resolved, Suggestion, element_count, shape_text
from studio.core.blocks.tape import Op, Plan, Shape
from studio.core.registry import Registry

__all__ = [
    "BLOCKS",
    "BlockSpec",
    "Group",
    "Mismatch",
    "Op",
    "Plan",
    "Resolved",
    "Shape",
    "Suggestion",
    "element_count",
    "shape_text",
]

_BUILT_IN = (
    convolution.CONV2D,
    convolution.DEPTHWISE_SEPARABLE,
    *pooling.SPECS,
    *normalisation.SPECS,
    *activations.SPECS,
    dense.FLATTEN,
    dense.LINEAR,
    dense.MLP,
    *residual.SPECS,
    *recurrent.SPECS,
    *attention.SPECS,
    *merging.SPECS,
)

BLOCKS: Registry[BlockSpec] = Registry("block", {spec.kind: spec for spec in _BUILT_IN}, "studio.blocks")
