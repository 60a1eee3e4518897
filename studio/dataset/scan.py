"""A folder becomes an index: one walk, the likeliest reading, and everything about the layout worth saying.

Nothing here raises for what a folder holds; trouble is a `Problem` in the index. Files are only listed and `stat`ed;
the exceptions are files whose name does not tell (their first bytes are read) and tables of labels.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studio.core.edits import SetPart
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Fix, Problem, Severity
from studio.dataset.index import NO_READING, SPLITS, Index, Pictures, Reading, no_pictures
from studio.dataset.labels import same_name_key, shown
from studio.dataset.layout import (
    Plan,
    beside,
    depth_is_ambiguous,
    empty_in_splits,
    generic_names,
    in_words,
    plans,
    unwrapped,
)
from studio.dataset.progress import IsCancelled, Pace, ReportProgress, never, unreported
from studio.dataset.tables import TablePlan, rows_by_split, table_plans, unlabelled
from studio.dataset.walk import Folder, Walk, Walker

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
# A table that labels fewer of the pictures than this is no second reading of sorted folders worth a warning.
_RIVAL_COVERAGE = 0.5
AnyPlan = Plan | TablePlan


def scan(
    folder: Path,
    *,
    reading: str = "",
    progress: ReportProgress = unreported,
    cancelled: IsCancelled = never,
) -> Index:
    """Read the layout of `folder`.

    `reading` chooses one of the possible readings by its id; "" takes the likeliest.

    Raises:
        Cancelled: asked to stop.
    """
    trouble = _unusable(folder)
    if trouble is not None:
        return _without_pictures(folder, "", (trouble,))
    pace = Pace("scan", None, progress, cancelled)
    walk = Walker(str(folder), pace).run()
    clutter = _clutter(walk)
    if not walk.root.total:
        return _without_pictures(folder, "", (_no_pictures(folder, walk), *clutter))
    base = unwrapped(walk.root)
    possible = _possible(folder, walk, base, pace)
    if not possible:
        unlabelled = Problem(
            "no_class_folders",
            place=shown(base.path),
            facts=FrozenMap({"count": walk.root.total, "folder": shown(str(folder))}),
        )
        return _without_pictures(folder, base.path, (unlabelled, *clutter))
    readings = tuple(plan.reading() for plan in possible)
    at = next((place for place, found in enumerate(readings) if found.id == reading), 0)
    chosen, plan = readings[at], possible[at]
    pictures = _pictures(plan, chosen.classes, pace)
    problems = [*_layout(walk, base, possible, at, readings), *_about_classes(chosen.classes, pictures), *clutter]
    if reading and chosen.id != reading:
        problems.append(_warn("reading_not_found", place=reading))
    problems.sort(key=lambda problem: _ORDER[problem.severity])
    return Index(folder, base.path, chosen, readings, chosen.classes, pictures, tuple(problems))


def _warn(code: str, count: int = 1, place: str = "", files: Sequence[str] = (), **facts: Value) -> Problem:
    return Problem(code, Severity.WARNING, place, FrozenMap({"count": count, **facts}), files=tuple(files))


def _tell(code: str, count: int = 1, place: str = "", files: Sequence[str] = (), **facts: Value) -> Problem:
    return Problem(code, Severity.INFO, place, FrozenMap({"count": count, **facts}), files=tuple(files))


def _unusable(folder: Path) -> Problem | None:
    place = shown(str(folder))
    try:
        if not folder.exists():
            return Problem("folder_missing", place=place)
        if not folder.is_dir():
            return Problem("not_a_folder", place=place)
        with os.scandir(folder):
            return None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        reason = getattr(error, "strerror", None) or str(error)
        return Problem("chosen_folder_unreadable", place=place, facts=FrozenMap({"reason": reason}))


def _without_pictures(folder: Path, base: str, problems: tuple[Problem, ...]) -> Index:
    return Index(folder, base, NO_READING, (), (), no_pictures(), problems)


def _no_pictures(folder: Path, walk: Walk) -> Problem:
    place = shown(str(folder))
    if walk.archives:
        facts: FrozenMap[Value] = FrozenMap({"count": len(walk.archives), "archive": shown(walk.archives[0])})
        return Problem("archive_found", place=place, facts=facts, files=tuple(walk.archives))
    if not walk.seen:
        return Problem("folder_empty", place=place)
    return Problem("no_pictures", place=place, facts=FrozenMap({"count": walk.seen}))


def _possible(root: Path, walk: Walk, base: Folder, pace: Pace) -> list[AnyPlan]:
    """All plans, the likeliest first."""
    by_folder = plans(base)
    by_table = table_plans(root, walk, pace.check)
    sorted_by_hand = bool(by_folder) and len(by_folder[0].reading().classes) > 1 and not generic_names(base)
    split = bool(by_folder) and by_folder[0].id in ("presplit", "split-inside")
    return [*by_folder, *by_table] if sorted_by_hand or split else [*by_table, *by_folder]


def _pictures(plan: AnyPlan, classes: tuple[str, ...], pace: Pace) -> Pictures:
    if isinstance(plan, TablePlan):
        return plan.pictures(classes)
    label_of = {same_name_key(name): place for place, name in enumerate(classes)}
    paths: list[str] = []
    labels, splits, sizes, mtimes = [], [], [], []
    for part in sorted(plan.parts, key=lambda part: part.folder.path):
        pace.check()
        folder = part.folder
        order = sorted(range(len(folder.names)), key=folder.names.__getitem__)
        paths.extend(folder.within(folder.names[place]) for place in order)
        labels.append(np.full(len(order), label_of[same_name_key(part.label)], np.int32))
        splits.append(np.full(len(order), SPLITS.index(part.split), np.int8))
        sizes.append(np.array(folder.sizes, np.int64)[order])
        mtimes.append(np.array(folder.mtimes, np.int64)[order])
    return Pictures(
        tuple(paths), np.concatenate(labels), np.concatenate(splits), np.concatenate(sizes), np.concatenate(mtimes)
    )


def _layout(walk: Walk, base: Folder, possible: list[AnyPlan], at: int, readings: tuple[Reading, ...]) -> list[Problem]:
    """What the reading at the place `at` means and what it leaves out."""
    plan, chosen = possible[at], readings[at]
    found: list[Problem] = []
    if base.path:
        found.append(_tell("descended_single_folder", place=shown(base.path)))
    if list(chosen.classes) != sorted(chosen.classes):
        found.append(_tell("order_matters", classes=in_words(chosen.classes)))
    if isinstance(plan, TablePlan):
        return [*found, *_about_table(plan)]
    if chosen.id in ("presplit", "split-inside"):
        counts = dict.fromkeys(SPLITS[1:], 0)
        for part in plan.parts:
            counts[part.split] += len(part.folder.names)
        found.extend(_about_splits(counts, [other for other in readings if other.code == "deeper"]))
    if chosen.id in ("folders", "presplit"):
        nested = [p for p in plan.parts if same_name_key(p.folder.name).casefold() != same_name_key(p.label).casefold()]
        if nested:
            count = sum(len(part.folder.names) for part in nested)
            found.append(_tell("nested_images", count, files=[part.folder.path for part in nested]))
    found.extend(_rivals(plan, base, possible, at, readings))
    outside = [*beside(walk.root, base), *plan.left_out]
    loose = [folder.within(name) for folder in outside for name in folder.names]
    if loose:
        found.append(_warn("loose_images", len(loose), files=loose))
    if chosen.id == "folders":
        empty = [child for child in base.children if not child.total and child.readable]
        found.extend(_empty_class(child) for child in empty)
    elif chosen.id == "presplit":
        empty, splits = empty_in_splits(base, chosen.classes)
        found.extend(_empty_class(child) for child in empty)
        found.extend(_warn("empty_split", 0, shown(child.name)) for child in splits)
    return found


def _about_splits(counts: dict[str, int], without_splits: list[Reading]) -> list[Problem]:
    facts: FrozenMap[Value] = FrozenMap({"count": sum(counts.values()), **counts})
    found = [Problem("presplit", Severity.INFO, facts=facts)]
    if not counts["train"]:
        found.append(Problem("no_training_split", facts=facts, fixes=_read_as(without_splits)))
    return found


def _rivals(plan: Plan, base: Folder, possible: list[AnyPlan], at: int, readings: tuple[Reading, ...]) -> list[Problem]:
    """Other readings that are as likely as the one taken, so that a person has to look."""
    others = [other for place, other in enumerate(readings) if place != at]
    if plan.id not in ("presplit", "split-inside") and depth_is_ambiguous(base):
        deeper = [other for other in others if other.code in ("deeper", "folders", "paths")]
        if deeper:
            used, deep = in_words(readings[at].classes), in_words(deeper[0].classes)
            found = _warn("ambiguous_depth", len(readings), used=used, other=deep)
            return [replace(found, fixes=_read_as(others))]
    for place, rival in enumerate(possible):
        if isinstance(rival, TablePlan) and rival.coverage >= _RIVAL_COVERAGE and rival.table.has_named_labels:
            other = readings[place]
            if len(other.classes) > 1 and not rival.agrees(plan):
                used = in_words(readings[at].classes)
                name, told = shown(rival.table.name), in_words(other.classes)
                found = _warn("ambiguous_labels", len(rival.table.rows), name, used=used, other=told)
                return [replace(found, fixes=_read_as([other]))]
    return []


def _read_as(readings: list[Reading]) -> tuple[Fix, ...]:
    """Fixes that choose another reading of the folder."""
    return tuple(
        Fix("fix.read_as", SetPart("data", "reading", other.id), FrozenMap({"classes": in_words(other.classes)}))
        for other in readings
    )


def _empty_class(child: Folder) -> Problem:
    bare = not child.others and not child.children
    return _warn("empty_class", 0, shown(child.name)) if bare else _tell("empty_class", child.others, shown(child.name))


def _about_table(plan: TablePlan) -> list[Problem]:
    table, name = plan.table, shown(plan.table.name)
    found = [_tell("csv_labels", len(table.rows), name)]
    counts = rows_by_split(table)
    if any(counts.values()):
        found.extend(_about_splits(counts, []))
    if table.missing:
        found.append(_warn("csv_missing_files", len(table.missing), name, example=table.missing[0]))
    if table.contradicted:
        files = list(dict.fromkeys(plan.paths[place] for place in table.contradicted))
        found.append(_warn("csv_conflicting_rows", len(files), name, files))
    left_out = unlabelled(plan)
    if left_out:
        found.append(_warn("csv_unlabelled", len(left_out), name, left_out))
    return found


def _about_classes(classes: tuple[str, ...], pictures: Pictures) -> list[Problem]:
    found = missing_in_split(classes, pictures.labels, pictures.splits)
    alike: dict[str, list[str]] = {}
    for name in classes:
        alike.setdefault(name.casefold().strip(" ._-"), []).append(name)
    for key, names in alike.items():
        if key and len(names) > 1:
            found.append(_tell("similar_classes", len(names), names[0], classes=in_words(tuple(names))))
    if len(classes) < 2:
        found.append(Problem("single_class", place=classes[0], facts=FrozenMap({"count": len(pictures)})))
    return found


def missing_in_split(classes: tuple[str, ...], labels: NDArray[np.int32], splits: NDArray[np.int8]) -> list[Problem]:
    """Classes that a folder's own training or validation split lacks."""
    found: list[Problem] = []
    for split, code in (("train", "class_missing_in_train"), ("validation", "class_missing_in_validation")):
        here = np.bincount(labels[splits == SPLITS.index(split)], minlength=len(classes))
        if not here.any():
            continue
        anywhere = np.bincount(labels, minlength=len(classes))
        found.extend(_warn(code, int(anywhere[at]), classes[at]) for at in np.flatnonzero((here == 0) & (anywhere > 0)))
    return found


def _clutter(walk: Walk) -> list[Problem]:
    """What was passed over."""
    found = [_warn("folder_unreadable", place=shown(path), files=[path]) for path in walk.unreadable]
    if walk.found_by_content:
        found.append(_tell("no_extension", len(walk.found_by_content), files=walk.found_by_content))
    if walk.left_behind:
        found.append(_tell("ignored_partial_files", len(walk.left_behind), files=walk.left_behind))
    if walk.system_files:
        found.append(_tell("ignored_system_files", walk.system_files))
    if walk.hidden_folders:
        found.append(_tell("ignored_hidden_dirs", len(walk.hidden_folders), files=walk.hidden_folders))
    if walk.skipped_links:
        found.append(_tell("links_skipped", len(walk.skipped_links), files=walk.skipped_links))
    return found
