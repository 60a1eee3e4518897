"""Pictures that are nearly the same: copies that were saved anew, scaled or recompressed.

Two pictures count as near copies when their proportions agree and their shades (16 x 16) differ by at most a tenth of
their own contrast on average; small pictures, which look alike more easily, by a twentieth. No single shade may differ
by more than 0.7 of the contrast, which tells clocks and line drawings apart. Pictures with hardly any contrast are not
compared. Measured on six real sets (digits, cells, signs, waste, characters, emoji): JPEG at quality 40 or half the
size changes most photos by 0.03 to 0.10 of their contrast; the nearest different photos are 0.12 apart or more.

Pairs are found by hashing: six times, the shades of 4 x 4 areas are projected on six random directions and the
projections are cut into cells; only pictures of the same cell are compared, each with its next 32 neighbours. What
this misses stays unsaid; nothing is said that the fingerprints do not bear out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.dataset.index import SPLITS
from studio.dataset.inspection import Inspection, Split
from studio.dataset.prints import SHADE_BYTES
from studio.dataset.progress import Pace

# Above this many pictures the fingerprints would take more than 60 MB; they are not made.
MOST_PICTURES = 200_000
_LARGEST_DIFFERENCE = 0.10
_LARGEST_DIFFERENCE_SMALL = 0.05
_LARGEST_SINGLE_DIFFERENCE = 0.7
_SMALL_PX = 32
_LEAST_CONTRAST = 8.0
_LARGEST_COLOUR_DIFFERENCE = 4.0
_LARGEST_STRETCH = 0.05
_TABLES, _DIRECTIONS, _CELL, _NEIGHBOURS = 6, 6, 16.0, 32
# From this part of the validation pictures on, a drawn split is worth a warning.
_WORRYING_SHARE = 0.05
_WORRYING_COUNT = 3
Pairs = NDArray[np.int64]


def near_pairs(inspection: Inspection, prints: NDArray[np.uint8], pace: Pace) -> Pairs:
    """Places of near copies that are no exact copies: int64, M x 2, each pair once with the smaller place first.

    `prints` is uint8, N x PRINT_BYTES. Raises `Cancelled`.
    """
    shades = prints[:, :SHADE_BYTES].astype(np.float32)
    contrast = np.abs(shades - shades.mean(axis=1, keepdims=True)).mean(axis=1)
    places = np.flatnonzero((contrast >= _LEAST_CONTRAST) & inspection.usable())
    if len(places) < 2:
        return np.zeros((0, 2), np.int64)
    areas = shades[places].reshape(-1, 4, 4, 4, 4).mean(axis=(2, 4)).reshape(-1, 16)
    draw = np.random.default_rng(0)
    found: list[Pairs] = []
    for _ in range(_TABLES):
        directions = draw.normal(size=(16, _DIRECTIONS + 1))
        projected = areas @ (directions / np.linalg.norm(directions, axis=0))
        cells = np.floor(projected[:, :-1] / _CELL + draw.uniform(size=_DIRECTIONS)).astype(np.int64)
        mixed = cells @ draw.integers(1, 2**40, _DIRECTIONS)
        order = np.lexsort((projected[:, -1], mixed))
        for step in range(1, _NEIGHBOURS + 1):
            pace.check()
            same = np.flatnonzero(mixed[order[:-step]] == mixed[order[step:]])
            if not len(same):
                break
            pairs = np.stack([order[same], order[same + step]], axis=1)
            apart = np.abs(areas[pairs[:, 0]] - areas[pairs[:, 1]]).mean(axis=1)
            close = apart <= _LARGEST_DIFFERENCE * contrast[places[pairs]].min(axis=1)
            found.append(np.sort(places[pairs[close]], axis=1))
    pairs = np.unique(np.concatenate(found), axis=0) if found else np.zeros((0, 2), np.int64)
    return pairs[_agree(inspection, prints, contrast, pairs, pace)]


def _agree(
    inspection: Inspection, prints: NDArray[np.uint8], contrast: NDArray[np.float32], pairs: Pairs, pace: Pace
) -> NDArray[np.bool_]:
    """Which candidate pairs are near copies by the rule at the top."""
    one, other = pairs[:, 0], pairs[:, 1]
    agrees = np.zeros(len(pairs), np.bool_)
    proportions = np.log(np.maximum(inspection.widths, 1) / np.maximum(inspection.heights, 1))
    short = np.minimum(inspection.widths, inspection.heights)
    for start in range(0, len(pairs), 4096):
        pace.check()
        i, j = one[start : start + 4096], other[start : start + 4096]
        apart = np.abs(prints[i].astype(np.int16) - prints[j].astype(np.int16))
        shades, colours = apart[:, :SHADE_BYTES].mean(axis=1), apart[:, SHADE_BYTES:].mean(axis=1)
        least = np.minimum(contrast[i], contrast[j])
        is_small = np.minimum(short[i], short[j]) < _SMALL_PX
        largest = np.where(is_small, _LARGEST_DIFFERENCE_SMALL, _LARGEST_DIFFERENCE)
        agrees[start : start + 4096] = (
            (shades <= largest * least)
            & (apart[:, :SHADE_BYTES].max(axis=1) <= _LARGEST_SINGLE_DIFFERENCE * least)
            & (colours <= _LARGEST_COLOUR_DIFFERENCE)
            & (np.abs(proportions[i] - proportions[j]) <= _LARGEST_STRETCH)
            & (inspection.hashes[i] != inspection.hashes[j]).any(axis=1)
        )
    return agrees


def clean_score(score: float, copied_share: float) -> float:
    """The least that a validation score (0..1) may be worth without pictures that training knows.

    If the copied share s is answered right every time, score = s + (1 - s) * clean; so clean = (score - s) / (1 - s).
    """
    return max(0.0, (score - copied_share) / (1 - copied_share)) if copied_share < 1 else 0.0


def given_split(inspection: Inspection) -> Split | None:
    """The folder's own split where it has training and held-out pictures; None otherwise."""
    splits = inspection.index.pictures.splits
    usable = inspection.usable()
    train, validation, test = (
        np.flatnonzero(usable & (splits == SPLITS.index(name))) for name in ("train", "validation", "test")
    )
    return Split(train, validation, test) if len(train) and len(validation) + len(test) else None


def near_copies_across(inspection: Inspection, parted: Split, *, drawn: bool) -> Problem | None:
    """The finding that held-out pictures of `parted` have near copies in training; None where there are none.

    `drawn` says that the split is ours and not the folder's own: then a few such pictures are no reason to warn.
    """
    held_out = parted.validation if len(parted.validation) else parted.test
    in_training = np.zeros(len(inspection.index.pictures), np.bool_)
    in_training[parted.train] = True
    is_held_out = np.zeros_like(in_training)
    is_held_out[[*parted.validation.tolist(), *parted.test.tolist()]] = True
    one, other = inspection.near[:, 0], inspection.near[:, 1]
    places = np.unique(
        np.concatenate([one[is_held_out[one] & in_training[other]], other[is_held_out[other] & in_training[one]]])
    )
    if not len(places):
        return None
    # Exact copies in training count for the score as well; only the folder's own split can have them.
    known = {inspection.hashes[place].tobytes() for place in parted.train.tolist()}
    copied = set(places.tolist()) | {
        place for place in held_out.tolist() if inspection.hashes[place].tobytes() in known
    }
    share = len(copied & set(held_out.tolist())) / len(held_out)
    is_worrying = not drawn or (share >= _WORRYING_SHARE and len(places) >= _WORRYING_COUNT)
    paths = inspection.index.pictures.paths
    return Problem(
        "near_duplicates_across_splits",
        Severity.WARNING if is_worrying else Severity.INFO,
        facts=FrozenMap(
            {
                "count": len(places),
                "share": _percent(share),
                "example": 90,
                "clean": _percent(clean_score(0.9, share)),
            }
        ),
        files=tuple(paths[place] for place in places.tolist()),
    )


def near_copies(inspection: Inspection) -> Problem | None:
    """The finding that pictures have near copies at all; None where there are none."""
    places = np.unique(inspection.near)
    if not len(places):
        return None
    paths = inspection.index.pictures.paths
    return Problem(
        "near_duplicates",
        Severity.INFO,
        facts=FrozenMap({"count": len(places), "groups": len(groups_of(inspection.near))}),
        files=tuple(paths[place] for group in groups_of(inspection.near) for place in group),
    )


def groups_of(pairs: Pairs) -> list[list[int]]:
    """Pictures that pairs join, in groups, each in ascending order."""
    group_of: dict[int, list[int]] = {}
    for one, other in pairs.tolist():
        first, second = group_of.setdefault(one, [one]), group_of.setdefault(other, [other])
        if first is not second:
            first.extend(second)
            group_of.update(dict.fromkeys(second, first))
    return [sorted(group) for place, group in sorted(group_of.items()) if place == min(group)]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
