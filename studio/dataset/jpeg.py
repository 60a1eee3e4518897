"""Decodes ordinary JPEGs twice as fast as Pillow: with simplejpeg, straight into an array.

Both call libjpeg-turbo with the same settings and give the same pixels. What is not ordinary (CMYK, damage of any kind,
a library that is not there) is left to Pillow, which also has the word on what is refused.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

decode_jpeg: Callable[[bytes, str], NDArray[np.uint8]] | None = None
try:
    import simplejpeg
except ImportError:  # a platform without a wheel: slower, not impossible
    pass
else:
    decode_jpeg = simplejpeg.decode_jpeg


def decoded(image: Image.Image) -> NDArray[np.uint8] | None:
    """The pixels of a picture that Pillow has opened but not loaded, not yet turned; None where Pillow has to load it.

    uint8, height x width x 3.
    """
    if decode_jpeg is None or image.format not in ("JPEG", "MPO") or image.mode not in ("RGB", "L"):
        return None
    content = getattr(image, "fp", None)
    if content is None:
        return None
    try:
        content.seek(0)
        pixels = decode_jpeg(content.read(), "RGB")
    except (ValueError, OSError, MemoryError):  # with the least warning of the decoder
        return None
    return pixels if pixels.shape == (image.height, image.width, 3) else None
