"""A working size and channels that suit a set of pictures, for a project that has just met them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from studio.core.project import Preprocessing
from studio.dataset.inspection import Inspection

# Large enough to tell most things apart and small enough to train on two CPU cores while one watches; a person who
# has a GPU or small details raises it on the Data page.
LARGEST_SUGGESTED_PX = 96
SMALLEST_SUGGESTED_PX = 16
_STEP_PX = 8
# A few colour scans among grey pictures do not make the set a colour set.
_GREY_SHARE = 0.99
_GREY_MODES = frozenset(("1", "L", "LA", "La", "I", "I;16", "I;16B", "I;16L", "I;16N", "F"))


def suggest_preprocessing(inspection: Inspection, present: Preprocessing) -> Preprocessing:
    """`present` with height, width and channels that suit the usable pictures; unchanged where there are none.

    Small pictures of one size keep it. Others get a square near the median shorter side, a multiple of 8 from 16 to
    96 px.
    """
    usable = inspection.usable()
    if not usable.any():
        return present
    widths, heights = inspection.widths[usable], inspection.heights[usable]
    width, height = int(np.median(widths)), int(np.median(heights))
    is_one_size = bool((widths == width).all() and (heights == height).all())
    if not (is_one_size and max(width, height) <= LARGEST_SUGGESTED_PX):
        shorter = float(np.median(np.minimum(widths, heights)))
        side = int(min(LARGEST_SUGGESTED_PX, max(SMALLEST_SUGGESTED_PX, round(shorter / _STEP_PX) * _STEP_PX)))
        width = height = side
    grey = sum(mode in _GREY_MODES for mode in inspection.modes if mode)
    is_grey = grey >= _GREY_SHARE * int(usable.sum())
    return replace(present, height=height, width=width, channels="grey" if is_grey else "colour")
