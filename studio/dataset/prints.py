"""A picture's fingerprint: shrunk to 16 x 16 shades and 4 x 4 colour differences, so that copies can be found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_SHADES, _COLOURS = 16, 4
SHADE_BYTES = _SHADES * _SHADES
PRINT_BYTES = SHADE_BYTES + 2 * _COLOURS * _COLOURS
NO_PRINT = bytes(PRINT_BYTES)
# A smaller picture would have to be enlarged, and says too little.
_LEAST_PX = 16


def fingerprint(rgb: NDArray[np.uint8]) -> bytes:
    """The fingerprint of a picture (uint8, height x width x 3)."""
    if min(rgb.shape[:2]) < _LEAST_PX:
        return NO_PRINT
    small = Image.fromarray(rgb).resize((_SHADES, _SHADES), Image.Resampling.BOX).convert("YCbCr")
    shades, *colours = small.split()
    coarse = [colour.resize((_COLOURS, _COLOURS), Image.Resampling.BOX) for colour in colours]
    return b"".join(band.tobytes() for band in (shades, *coarse))
