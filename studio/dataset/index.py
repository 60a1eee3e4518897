"""The index of a folder of pictures: columns that stay small at a million rows, seen as a sequence of `Picture`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity

# The code of a split in `Index.splits` is its place here; "" means that the folder does not say.
SPLITS = ("", "train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Picture:
    """One file. `path` is relative to the index's root, with `/`; `size_bytes` is -1 for what is no regular file."""

    path: str
    label: int
    split: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a folder.

    Attributes:
        id: what `Data.reading` stores: "folders", "folders@2", "folders@2:path", "presplit", "split-inside",
            "csv:NAME".
        classes: the names it gives, in display order.
        counts: pictures of each class.
        code: which sentence of `studio.dataset.layout.describe` tells it; `facts` fill it.
    """

    id: str
    classes: tuple[str, ...]
    counts: tuple[int, ...]
    code: str
    facts: FrozenMap[Value] = FrozenMap()


NO_READING = Reading("", (), (), "none")


@dataclass(frozen=True, eq=False, slots=True)
class Pictures(Sequence[Picture]):
    """The rows of an index, made when they are looked at."""

    paths: tuple[str, ...]
    labels: NDArray[np.int32]
    splits: NDArray[np.int8]
    sizes: NDArray[np.int64]
    mtimes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, place: int) -> Picture: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Picture, ...]: ...
    def __getitem__(self, place: int | slice) -> Picture | tuple[Picture, ...]:
        if isinstance(place, slice):
            return tuple(self[at] for at in range(*place.indices(len(self))))
        return Picture(
            self.paths[place],
            int(self.labels[place]),
            SPLITS[int(self.splits[place])],
            int(self.sizes[place]),
            int(self.mtimes[place]),
        )


def no_pictures() -> Pictures:
    """An empty table."""
    empty = np.zeros(0, np.int64)
    return Pictures((), empty.astype(np.int32), empty.astype(np.int8), empty, empty)


@dataclass(frozen=True, eq=False, slots=True)
class Index:
    """A folder that was scanned.

    Attributes:
        root: the folder that was chosen; all paths are relative to it.
        base: the folder below it that holds the classes, relative; "" where it is `root`.
        reading: how it was read; `readings` are all possible ones, the likeliest first.
        classes: the class names; `Picture.label` counts into them.
        problems: what the scan found, errors first.
    """

    root: Path
    base: str
    reading: Reading
    readings: tuple[Reading, ...]
    classes: tuple[str, ...]
    pictures: Pictures
    problems: tuple[Problem, ...]

    @property
    def usable(self) -> bool:
        """Whether training could start as far as the scan can tell: no problem is an error."""
        return not any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def presplit(self) -> bool:
        """Whether the folder itself says which pictures are for training."""
        return bool(np.any(self.pictures.splits))

    def path(self, place: int) -> Path:
        """The file of a picture."""
        return self.root / self.pictures.paths[place]

    def counts(self) -> tuple[int, ...]:
        """Pictures of each class, readable or not."""
        return tuple(np.bincount(self.pictures.labels, minlength=len(self.classes)).tolist())
