"""A first project for a folder of pictures: working size and channels taken from a look at some of them."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from studio.core.project import Data, Network, Preprocessing, Project
from studio.dataset.index import Index
from studio.dataset.loading import Refused, load_rgb

# Enough to know the usual size and whether there is colour; a twentieth of a second for photos of 500x375.
_LOOKED_AT = 48
# Sizes that halve well through pooling. Larger pictures gain little accuracy with a first network and cost the square.
_SIZES = (16, 24, 28, 32, 48, 64, 96, 128)


def propose_project(index: Index, network: Network, name: str = "") -> Project:
    """A project for the pictures of `index` with `network`; its classes are recorded so that it can be checked."""
    preprocessing = propose_preprocessing(index)
    data = Data(folder=str(index.root), reading=index.reading.id, classes=index.classes)
    return Project(name or index.root.name, data, preprocessing, network)


def propose_preprocessing(index: Index) -> Preprocessing:
    """The working size nearest below the usual picture's short side, and grey where no colour is seen."""
    sides: list[int] = []
    shapes: set[tuple[int, int]] = set()
    is_grey = True
    for path in _spread(index):
        try:
            rgb = load_rgb(path)
        except Refused:
            continue
        height, width = rgb.shape[:2]
        sides.append(min(height, width))
        shapes.add((height, width))
        is_grey = is_grey and bool(
            np.array_equal(rgb[..., 0], rgb[..., 1]) and np.array_equal(rgb[..., 1], rgb[..., 2])
        )
    base = Preprocessing()
    if not sides:
        return base
    channels: Literal["colour", "grey"] = "grey" if is_grey else "colour"
    if len(shapes) == 1:
        height, width = shapes.pop()
        if max(height, width) <= _SIZES[-1]:
            return replace(base, height=height, width=width, channels=channels)
    side = statistics.median(sides)
    size = max((size for size in _SIZES if size <= side), default=_SIZES[0])
    return replace(base, height=size, width=size, channels=channels)


def _spread(index: Index) -> list[Path]:
    """Some pictures from all over the index, so that every large class is seen."""
    count = len(index.pictures)
    places = sorted({n * count // _LOOKED_AT for n in range(_LOOKED_AT)}) if count else []
    return [index.path(place) for place in places]
