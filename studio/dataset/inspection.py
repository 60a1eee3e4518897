"""What a look into every picture of an index found: columns beside the index."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.dataset.index import Index

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Split:
    """Places in `index.pictures`, ascending. `test` is empty unless the folder has a test split."""

    train: Places
    validation: Places
    test: Places


@dataclass(frozen=True, eq=False, slots=True)
class Inspection:
    """An index whose pictures were all decoded once. All columns follow `index.pictures`.

    Attributes:
        hashes: uint8, N x 16: BLAKE2b of each file's bytes; zeros where it could not be read.
        widths, heights: int32, in pixels after turning upright; 0 for refused pictures.
        modes: how the file stores its pixels, as Pillow calls it ("RGB", "L", "P", ...); "" for refused pictures.
        turned: whether metadata turned the picture.
        misnamed: whether the end of the name stands for another format than the content.
        refused: path -> why the picture is left out.
        near: int64, M x 2: pairs of places that are nearly the same picture (`studio.dataset.near`).
        left_out, relabelled: places that a person left out or gave another class (`studio.dataset.repairs`).
        lost_repairs: names of such pictures that are not there any more, or whose class is not.
        raw: the same without repairs; None where this is it.
        problems: what the index says and what the pictures add, errors first.
    """

    index: Index
    hashes: NDArray[np.uint8]
    widths: NDArray[np.int32]
    heights: NDArray[np.int32]
    modes: tuple[str, ...]
    turned: NDArray[np.bool_]
    misnamed: NDArray[np.bool_]
    refused: FrozenMap[Problem]
    near: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    left_out: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    relabelled: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    lost_repairs: tuple[str, ...] = ()
    raw: Inspection | None = None
    problems: tuple[Problem, ...] = ()

    def usable(self) -> NDArray[np.bool_]:
        """Which pictures can be used and are not left out."""
        mask = self.widths > 0
        mask[self.left_out] = False
        return mask

    def counts(self) -> tuple[int, ...]:
        """Usable pictures of each class."""
        labels = self.index.pictures.labels[self.usable()]
        return tuple(np.bincount(labels, minlength=len(self.index.classes)).tolist())
