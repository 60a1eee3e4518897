"""The health report: what in a set of pictures will harm the result, how much, and what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.dataset.fixes import copy_groups, with_fixes
from studio.dataset.index import SPLITS
from studio.dataset.inspection import Inspection
from studio.dataset.near import given_split, near_copies, near_copies_across
from studio.dataset.scan import missing_in_split

# From five to one on, plain accuracy begins to reward guessing the large class; beyond that class weights help.
IMBALANCE_RATIO = 5.0
# Below eight pixels there is hardly anything to recognise, and two poolings leave nothing.
TINY_PX = 8
# A picture ten times as long as it is wide loses nine tenths to a square crop.
LONG_RATIO = 10.0
# Sides that differ by more than this factor between the 5th and the 95th percentile are worth knowing.
SIZES_RATIO = 4.0
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def findings_of(inspection: Inspection) -> tuple[Problem, ...]:
    """What the scan found and what the pictures themselves add, errors first."""
    index = inspection.index
    found = list(index.problems)
    if index.classes:
        known = {(problem.code, problem.place) for problem in found}
        added = [
            *_unreadable(inspection),
            *_classes(inspection),
            *_copies(inspection),
            *_near_copies(inspection),
            *_shapes(inspection),
            *_kinds(inspection),
            *_repairs(inspection),
        ]
        found.extend(problem for problem in added if (problem.code, problem.place) not in known)
    found = [with_fixes(problem, inspection) for problem in found]
    return in_order(found)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Errors first, information last."""
    return tuple(sorted(problems, key=lambda problem: _ORDER[problem.severity]))


def _problem(code: str, severity: Severity, files: Sequence[str], place: str = "", **facts: Value) -> Problem:
    return Problem(code, severity, place, FrozenMap({"count": len(files), **facts}), files=tuple(files))


def _paths(inspection: Inspection, chosen: NDArray[np.bool_]) -> list[str]:
    paths = inspection.index.pictures.paths
    return [paths[place] for place in np.flatnonzero(chosen)]


def _unreadable(inspection: Inspection) -> list[Problem]:
    paths = inspection.index.pictures.paths
    out_of_use = {paths[place] for place in inspection.left_out.tolist()}
    refused = [path for path in inspection.refused if path not in out_of_use]
    if not refused:
        return []
    severity = Severity.WARNING if inspection.usable().any() else Severity.ERROR
    return [_problem("unreadable_images", severity, refused, total=len(paths))]


def _repairs(inspection: Inspection) -> list[Problem]:
    """What a person changed about the folder without changing its files."""
    paths = inspection.index.pictures.paths
    found = []
    for code, places in (("pictures_kept_out", inspection.left_out), ("pictures_relabelled", inspection.relabelled)):
        files = [paths[place] for place in places.tolist()]
        if files:
            found.append(_problem(code, Severity.INFO, files))
    if inspection.lost_repairs:
        found.append(_problem("repairs_lost", Severity.WARNING, inspection.lost_repairs))
    return found


def _classes(inspection: Inspection) -> list[Problem]:
    index, counts = inspection.index, inspection.counts()
    usable = inspection.usable()
    found = missing_in_split(index.classes, index.pictures.labels[usable], index.pictures.splits[usable])
    used = [count for count in counts if count]
    if len(used) == 1 and len(index.classes) > 1:
        only = index.classes[int(np.argmax(counts))]
        found.append(Problem("single_class", place=only, facts=FrozenMap({"count": used[0]})))
    readable = (inspection.raw or inspection).counts()
    emptied = {place for place, count in enumerate(counts) if not count and readable[place]}
    for place, count in enumerate(counts):
        name = index.classes[place]
        if not count:
            code = "class_kept_out" if place in emptied else "class_unreadable"
            found.append(Problem(code, Severity.WARNING, name))
        elif count == 1 and not index.presplit and len(counts) > 1:
            found.append(Problem("class_of_one", Severity.WARNING, name))
    if len(used) > 1 and max(used) / min(used) >= IMBALANCE_RATIO:
        small, large = (index.classes[counts.index(extreme)] for extreme in (min(used), max(used)))
        facts: FrozenMap[Value] = FrozenMap(
            {
                "smallest": small,
                "smallest_count": min(used),
                "largest": large,
                "largest_count": max(used),
                "ratio": f"{max(used) / min(used):.0f}",
            }
        )
        found.append(Problem("imbalanced", Severity.WARNING, facts=facts))
    return found


def _copies(inspection: Inspection) -> list[Problem]:
    """Files with the same bytes: across splits, under different labels, or merely twice."""
    pictures = inspection.index.pictures
    across: list[str] = []
    conflicting: list[str] = []
    plain: list[str] = []
    groups = 0
    for members in copy_groups(inspection):
        paths = [pictures.paths[place] for place in members]
        splits, labels = set(pictures.splits[members].tolist()), set(pictures.labels[members].tolist())
        if len(splits - {0}) > 1:
            across.extend(_held_out(paths, pictures.splits[members]))
        if len(labels) > 1:
            conflicting.extend(paths)
        if len(labels) == 1 and len(splits) == 1:
            plain.extend(paths)
            groups += 1
    found = []
    if across:
        found.append(_problem("duplicates_across_splits", Severity.WARNING, across))
    if conflicting:
        found.append(_problem("conflicting_labels", Severity.WARNING, conflicting))
    if plain:
        found.append(_problem("duplicates", Severity.INFO, plain, groups=groups))
    return found


def _near_copies(inspection: Inspection) -> list[Problem]:
    parted = given_split(inspection)
    across = near_copies_across(inspection, parted, drawn=False) if parted is not None else None
    return [finding for finding in (across, near_copies(inspection)) if finding is not None]


def _held_out(paths: list[str], splits: NDArray[np.int8]) -> list[str]:
    """Of a group of copies those outside training: the ones that make the score look better than it is."""
    return [path for path, split in zip(paths, splits.tolist(), strict=True) if SPLITS[split] != "train"]


def _shapes(inspection: Inspection) -> list[Problem]:
    usable = inspection.usable()
    short = np.minimum(inspection.widths, inspection.heights)
    long = np.maximum(inspection.widths, inspection.heights)
    found = []
    tiny = _paths(inspection, usable & (short < TINY_PX))
    if tiny:
        found.append(_problem("tiny_images", Severity.WARNING, tiny, limit=TINY_PX))
    thin = _paths(inspection, usable & (long >= LONG_RATIO * np.maximum(short, 1)))
    if thin:
        found.append(_problem("long_images", Severity.INFO, thin, ratio=int(LONG_RATIO)))
    turned = _paths(inspection, usable & inspection.turned)
    if turned:
        found.append(_problem("turned_by_metadata", Severity.INFO, turned))
    sides = short[usable]
    if len(sides) >= 20:
        low, high = np.percentile(sides, (5, 95))
        if high >= SIZES_RATIO * low:
            facts: FrozenMap[Value] = FrozenMap({"low": round(float(low)), "high": round(float(high))})
            found.append(Problem("mixed_sizes", Severity.INFO, facts=facts))
    return found


_KIND_OF = {
    "1": "grey", "L": "grey", "LA": "transparent", "La": "transparent", "P": "palette", "PA": "transparent",
    "RGB": "colour", "YCbCr": "colour", "LAB": "colour", "HSV": "colour", "RGBA": "transparent",
    "RGBa": "transparent", "RGBX": "colour", "CMYK": "cmyk",
}  # fmt: skip


def _kinds(inspection: Inspection) -> list[Problem]:
    """Pictures stored in another way than most: grey among colour, transparent, 16-bit, CMYK; and misnamed files."""
    usable = inspection.usable()
    kinds = [_KIND_OF.get(mode, "deep") if mode else "" for mode in inspection.modes]
    counted: dict[str, int] = {}
    for kind in kinds:
        if kind:
            counted[kind] = counted.get(kind, 0) + 1
    found = []
    if len(counted) > 1:
        usual = max(counted, key=lambda kind: counted[kind])
        unusual = np.array([bool(kind) and kind != usual for kind in kinds])
        found.append(_problem("mixed_modes", Severity.INFO, _paths(inspection, unusual), total=int(usable.sum())))
    misnamed = _paths(inspection, usable & inspection.misnamed)
    if misnamed:
        found.append(_problem("wrong_extension", Severity.INFO, misnamed))
    return found
