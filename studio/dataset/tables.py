"""Readings of a folder by its tables of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.dataset.index import SPLITS, Pictures, Reading
from studio.dataset.labels import natural_order, same_name_key, shown
from studio.dataset.layout import Plan, class_names, in_words
from studio.dataset.splitnames import roles
from studio.dataset.table import Finder, Table, joined, read_table
from studio.dataset.walk import MOST_TEXTS, Folder, Walk


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A reading by a table; `paths` are the pictures that its rows count into."""

    table: Table
    folders: tuple[Folder, ...]
    paths: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"csv:{shown(self.table.name)}"

    @property
    def coverage(self) -> float:
        """The part of all pictures that the table labels."""
        return len(self.table.rows) / max(1, len(self.paths))

    def reading(self) -> Reading:
        names = class_names(row.label for row in self.table.rows)
        counts: dict[str, int] = dict.fromkeys(names.values(), 0)
        for row in self.table.rows:
            counts[names[same_name_key(row.label)]] += 1
        ordered = natural_order(counts)
        facts: FrozenMap[Value] = FrozenMap({"classes": in_words(ordered), "table": shown(self.table.name)})
        return Reading(self.id, ordered, tuple(counts[name] for name in ordered), "csv", facts)

    def agrees(self, plan: Plan) -> bool:
        """Whether the table parts the pictures as the folders of `plan` do, be it under other names."""
        label_of = {part.folder.path: part.label for part in plan.parts}
        pairs = {
            (label_of.get(self.paths[row.picture].rpartition("/")[0]), same_name_key(row.label))
            for row in self.table.rows
        }
        return len(pairs) == len({folder for folder, _ in pairs}) == len({label for _, label in pairs})

    def pictures(self, classes: tuple[str, ...]) -> Pictures:
        label_of = {same_name_key(name): place for place, name in enumerate(classes)}
        rows = sorted(self.table.rows, key=lambda row: self.paths[row.picture])
        places = [row.picture for row in rows]
        sizes = np.concatenate([np.array(folder.sizes, np.int64) for folder in self.folders])
        mtimes = np.concatenate([np.array(folder.mtimes, np.int64) for folder in self.folders])
        return Pictures(
            tuple(self.paths[place] for place in places),
            np.array([label_of[same_name_key(row.label)] for row in rows], np.int32),
            np.array([SPLITS.index(row.split) for row in rows], np.int8),
            sizes[places],
            mtimes[places],
        )


def table_plans(root: Path, walk: Walk, check: Callable[[], None]) -> list[TablePlan]:
    """Every reading by a table, the likeliest first: real labels before an example to hand in, many rows before few.

    `check` is called now and then; it raises to stop.
    """
    names = sorted(walk.tables) or (sorted(walk.texts) if len(walk.texts) <= MOST_TEXTS else [])
    if not names:
        return []
    folders = tuple(walk.root.below())
    paths = tuple(folder.within(name) for folder in folders for name in folder.names)
    finder = Finder(paths, check)
    read = (read_table(root, name, finder, check) for name in names)
    tables = [table for table in read if table is not None and table.rows]
    whole = joined(tables)
    tables = sorted([*tables, *([whole] if whole is not None else [])], key=_likelihood, reverse=True)
    return [TablePlan(_with_splits(table, paths), folders, paths) for table in tables]


def _likelihood(table: Table) -> tuple[bool, bool, int]:
    labels = {row.label for row in table.rows}
    return len(labels) > 1, "submission" not in table.name.casefold(), len(table.rows)


def _with_splits(table: Table, paths: tuple[str, ...]) -> Table:
    """`table` with the splits of the folders that its pictures are in, where it gives none itself."""
    if any(row.split for row in table.rows):
        return table
    tops = [paths[row.picture].split("/")[:-1] for row in table.rows]
    depth = min(len(steps) for steps in tops)
    for level in range(depth):
        counted = Counter(steps[level] for steps in tops)
        split_of = dict(zip(counted, roles(list(counted)), strict=True))
        if all(split_of.values()) and len(set(split_of.values())) > 1 and "train" in split_of.values():
            rows = [replace(row, split=split_of[steps[level]]) for row, steps in zip(table.rows, tops, strict=True)]
            return replace(table, rows=rows)
    return table


def unlabelled(plan: TablePlan) -> list[str]:
    """The pictures that the table does not name."""
    labelled = {row.picture for row in plan.table.rows}
    return [path for place, path in enumerate(plan.paths) if place not in labelled]


def rows_by_split(table: Table) -> dict[str, int]:
    """Rows of each split; all zero where the table names none."""
    counted = Counter(row.split for row in table.rows)
    return {split: counted[split] for split in SPLITS[1:]}
