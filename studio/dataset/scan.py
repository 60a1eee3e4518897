"""A folder becomes an index: one walk, the likeliest reading, and everything about the layout worth saying.

Nothing here raises for what a folder holds; trouble is a `Problem` in the index. Files are only listed and `stat`ed;
the exceptions are files whose name does not tell (their first bytes are read) and tables of labels.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.dataset.index import NO_READING, SPLITS, Index, Pictures, Reading, no_pictures
from studio.dataset.labels import natural_order, same_name_key, shown
from studio.dataset.layout import (
    Plan,
    class_names,
    depth_is_ambiguous,
    generic_names,
    in_words,
    plans,
    unwrapped,
)
from studio.dataset.progress import IsCancelled, Pace, ReportProgress, never, unreported
from studio.dataset.table import Finder, Table, read_table
from studio.dataset.walk import Folder, Walk, Walker

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True)
class _TablePlan:
    """A reading by a table; `paths` are the pictures that its rows count into."""

    table: Table
    folders: tuple[Folder, ...]
    paths: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"csv:{shown(self.table.name)}"

    def reading(self) -> Reading:
        names = class_names(row.label for row in self.table.rows)
        counts: dict[str, int] = dict.fromkeys(names.values(), 0)
        for row in self.table.rows:
            counts[names[same_name_key(row.label)]] += 1
        ordered = natural_order(counts)
        facts: FrozenMap[Value] = FrozenMap({"classes": in_words(ordered), "table": shown(self.table.name)})
        return Reading(self.id, ordered, tuple(counts[name] for name in ordered), "csv", facts)


AnyPlan = Plan | _TablePlan


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
    possible = _possible(folder, walk, base)
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
    problems = [*_layout(walk, base, plan, chosen, readings), *_about_classes(chosen.classes, pictures), *clutter]
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


def _possible(root: Path, walk: Walk, base: Folder) -> list[AnyPlan]:
    """All plans, the likeliest first."""
    by_folder = plans(base)
    by_table = _by_table(root, walk) if walk.tables else []
    sorted_by_hand = bool(by_folder) and len(by_folder[0].reading().classes) > 1 and not generic_names(base)
    split = bool(by_folder) and by_folder[0].id in ("presplit", "split-inside")
    return [*by_folder, *by_table] if sorted_by_hand or split else [*by_table, *by_folder]


def _by_table(root: Path, walk: Walk) -> list[_TablePlan]:
    folders = tuple(walk.root.below())
    paths = tuple(folder.within(name) for folder in folders for name in folder.names)
    finder = Finder(paths)
    found = (read_table(root, name, finder) for name in sorted(walk.tables))
    tables = sorted((table for table in found if table is not None), key=lambda table: -len(table.rows))
    return [_TablePlan(table, folders, paths) for table in tables]


def _pictures(plan: AnyPlan, classes: tuple[str, ...], pace: Pace) -> Pictures:
    if isinstance(plan, _TablePlan):
        return _table_pictures(plan, classes)
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


def _table_pictures(plan: _TablePlan, classes: tuple[str, ...]) -> Pictures:
    label_of = {same_name_key(name): place for place, name in enumerate(classes)}
    rows = sorted(plan.table.rows, key=lambda row: plan.paths[row.picture])
    places = [row.picture for row in rows]
    sizes = np.concatenate([np.array(folder.sizes, np.int64) for folder in plan.folders])
    mtimes = np.concatenate([np.array(folder.mtimes, np.int64) for folder in plan.folders])
    return Pictures(
        tuple(plan.paths[place] for place in places),
        np.array([label_of[same_name_key(row.label)] for row in rows], np.int32),
        np.array([SPLITS.index(row.split) for row in rows], np.int8),
        sizes[places],
        mtimes[places],
    )


def _layout(walk: Walk, base: Folder, plan: AnyPlan, chosen: Reading, readings: tuple[Reading, ...]) -> list[Problem]:
    """What the reading means and what it leaves out."""
    found: list[Problem] = []
    if base.path:
        found.append(_tell("descended_single_folder", place=shown(base.path)))
    if list(chosen.classes) != sorted(chosen.classes):
        found.append(_tell("order_matters", classes=in_words(chosen.classes)))
    if isinstance(plan, _TablePlan):
        return [*found, *_about_table(plan)]
    others = [other for other in readings if other.id != chosen.id]
    if chosen.id in ("presplit", "split-inside"):
        counts = dict.fromkeys(SPLITS[1:], 0)
        for part in plan.parts:
            counts[part.split] += len(part.folder.names)
        facts: FrozenMap[Value] = FrozenMap({"count": sum(counts.values()), **counts})
        found.append(Problem("presplit", Severity.INFO, facts=facts))
    if chosen.id in ("folders", "presplit"):
        nested = [p for p in plan.parts if p.folder.name != p.label]
        if nested:
            count = sum(len(part.folder.names) for part in nested)
            found.append(_tell("nested_images", count, files=[part.folder.path for part in nested]))
    if chosen.id not in ("presplit", "split-inside") and others and depth_is_ambiguous(base):
        found.append(
            _warn("ambiguous_depth", len(readings), used=in_words(chosen.classes), other=in_words(others[0].classes))
        )
    loose = [folder.within(name) for folder in plan.left_out for name in folder.names]
    if loose:
        found.append(_warn("loose_images", len(loose), files=loose))
    if chosen.id == "folders":
        empty = [child for child in base.children if not child.total and child.readable]
        found.extend(_empty_class(child) for child in empty)
    return found


def _empty_class(child: Folder) -> Problem:
    bare = not child.others and not child.children
    return _warn("empty_class", 0, shown(child.name)) if bare else _tell("empty_class", child.others, shown(child.name))


def _about_table(plan: _TablePlan) -> list[Problem]:
    table = plan.table
    found = [_tell("csv_labels", len(table.rows), shown(table.name))]
    if table.missing:
        found.append(_warn("csv_missing_files", len(table.missing), shown(table.name), example=table.missing[0]))
    labelled = {row.picture for row in table.rows}
    unlabelled = [path for place, path in enumerate(plan.paths) if place not in labelled]
    if unlabelled:
        found.append(_warn("csv_unlabelled", len(unlabelled), shown(table.name), unlabelled))
    return found


def _about_classes(classes: tuple[str, ...], pictures: Pictures) -> list[Problem]:
    found = missing_in_split(classes, pictures.labels, pictures.splits)
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
    if walk.system_files:
        found.append(_tell("ignored_system_files", walk.system_files))
    if walk.hidden_folders:
        found.append(_tell("ignored_hidden_dirs", len(walk.hidden_folders), files=walk.hidden_folders))
    if walk.skipped_links:
        found.append(_tell("links_skipped", len(walk.skipped_links), files=walk.skipped_links))
    return found
