"""Which pictures train and which judge, decided by content.

The rule. Each picture's content hash and the seed give a number from 0 to 1. It is kept for validation where that
number is below the validation share; so every class gives its share, copies of a picture are always on the same side,
and a file that is added, renamed or removed moves no other. Shares are met as closely as chance allows (a class of 200
at 20% gives 40 on average, most often 35 to 45).

The one exception: a class whose numbers all fall on one side gives the picture that is nearest to the other side
to it, with all its copies, provided that it has two different pictures. Only in such small classes can a new file
move another one.

A folder that comes with its own splits is taken as it is; where it has no validation split, one is taken from its
training split by the rule, never from its test split.

A limit of k pictures a class keeps those with the smallest second number of the same kind, in every given split by
its share; so a larger limit only adds pictures.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Data
from studio.dataset.index import SPLITS
from studio.dataset.inspection import Inspection
from studio.dataset.inspection import Places as Places
from studio.dataset.inspection import Split as Split
from studio.dataset.repairs import repaired

# So many are named in a sentence that can still be read.
_NAMED_CLASSES = 20
_TRAIN, _VALIDATION, _TEST = (SPLITS.index(name) for name in ("train", "validation", "test"))


def split(inspection: Inspection, data: Data) -> Split:
    """The split of the usable pictures that `data` (share, seed, limit, repairs) asks for."""
    inspection = repaired(inspection, data)
    given = inspection.index.pictures.splits
    usable = np.flatnonzero(inspection.usable())
    places = _limited(inspection, usable, data)
    own = given[places]
    test = places[own == _TEST]
    if (given == _VALIDATION).any():
        return Split(places[(own != _VALIDATION) & (own != _TEST)], places[own == _VALIDATION], test)
    free = places[own != _TEST]
    kept_out = _kept_out(inspection, free, data)
    return Split(free[~kept_out], free[kept_out], test)


def class_counts(inspection: Inspection, places: Places) -> tuple[int, ...]:
    """How many pictures of each class are among `places`."""
    labels = inspection.index.pictures.labels[places]
    return tuple(np.bincount(labels, minlength=len(inspection.index.classes)).tolist())


def never_trained(inspection: Inspection, parts: Split) -> Problem | None:
    """The classes that have pictures to be judged on, but none to learn from; None where there is no such class."""
    counted = zip(
        inspection.index.classes,
        class_counts(inspection, parts.train),
        class_counts(inspection, parts.validation),
        strict=True,
    )
    names = [name for name, train, validation in counted if validation and not train]
    if not names:
        return None
    facts: FrozenMap[Value] = FrozenMap(count=len(names), names=", ".join(names[:_NAMED_CLASSES]))
    return Problem("class_without_training_picture", Severity.WARNING, facts=facts)


def _numbers(hashes: NDArray[np.uint8], salt: str) -> NDArray[np.float64]:
    """A number in 0..1 for each content, evenly spread, another one for every salt."""
    key = salt.encode()
    drawn = (blake2b(row.tobytes(), digest_size=8, key=key).digest() for row in hashes)
    return np.frombuffer(b"".join(drawn), ">u8").astype(np.float64) / 2.0**64


def _kept_out(inspection: Inspection, places: Places, data: Data) -> NDArray[np.bool_]:
    """For each of `places` whether it is kept for validation."""
    labels = inspection.index.pictures.labels[places]
    contents, group = _groups(inspection.hashes[places])
    numbers = _numbers(contents, f"split {data.split_seed}")
    chosen = numbers < data.validation_share
    for label in np.unique(labels):
        _give_both_sides(chosen, numbers, np.unique(group[labels == label]), data.validation_share)
    kept: NDArray[np.bool_] = chosen[group]
    return kept


def _give_both_sides(
    chosen: NDArray[np.bool_], numbers: NDArray[np.float64], members: NDArray[np.int64], share: float
) -> None:
    """Change `chosen` where a class with two different pictures has all `members` on one side."""
    sides = chosen[members]
    if len(members) < 2 or (sides.any() and not sides.all()):
        return
    nearest = members[np.argmin(np.abs(numbers[members] - share))]
    chosen[nearest] = not chosen[nearest]


def _groups(hashes: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The different contents, and for each row which of them it is."""
    if not len(hashes):
        return hashes, np.zeros(0, np.int64)
    contents, group = np.unique(hashes, axis=0, return_inverse=True)
    return contents, group.reshape(-1)


def _limited(inspection: Inspection, places: Places, data: Data) -> Places:
    """At most `data.limit_per_class` of each class, chosen by content."""
    if data.limit_per_class is None:
        return places
    pictures = inspection.index.pictures
    order = _numbers(inspection.hashes[places], f"limit {data.split_seed}")
    kept: list[Places] = []
    for label in range(len(inspection.index.classes)):
        own = pictures.labels[places] == label
        total = int(own.sum())
        for given in range(len(SPLITS)):
            chosen = own & (pictures.splits[places] == given)
            most = -(-data.limit_per_class * int(chosen.sum()) // max(1, total))
            kept.append(places[chosen][np.argsort(order[chosen], kind="stable")[:most]])
    return np.sort(np.concatenate(kept))


def in_given_splits(inspection: Inspection) -> dict[str, dict[str, int]] | None:
    """Usable pictures of each class in the splits that the folder came with; None where it has none."""
    index = inspection.index
    if not index.presplit:
        return None
    usable = inspection.usable()
    return {
        name: found
        for name, code in (("train", _TRAIN), ("val", _VALIDATION), ("test", _TEST))
        if (found := _named(inspection, np.flatnonzero(usable & (index.pictures.splits == code))))
    }


def _named(inspection: Inspection, places: Places) -> dict[str, int]:
    counts: Iterable[int] = class_counts(inspection, places)
    return {name: count for name, count in zip(inspection.index.classes, counts, strict=True) if count}
