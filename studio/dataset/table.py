"""A table of labels (CSV) beside pictures: which column names the picture, which the class, which the split."""

from __future__ import annotations

import csv
import io
import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from studio.dataset.splitnames import role

_LARGEST_BYTES = 200 * 1024 * 1024
_LOOKED_AT_ROWS = 2000
# A column names the pictures when at least this part of its cells are pictures that exist.
_ENOUGH_MATCHES = 0.5
_FEWEST_MATCHES = 2
_LABEL_WORDS = (
    "label labels class classes class_name classname category target species diagnosis dx breed type y tag "
    "标签 类别 分类"
)
_LABEL_NAMES = frozenset(_LABEL_WORDS.split())
_SPLIT_WORDS = "split set subset partition fold usage phase dataset data_set 划分"
_SPLIT_NAMES = frozenset(_SPLIT_WORDS.split())


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled picture: its place among the paths given to `read_table`, its label, its split or ""."""

    picture: int
    label: str
    split: str


@dataclass(slots=True)
class Table:
    """A table that labels pictures. `missing` are cells that name no picture, `name` is the file."""

    name: str
    rows: list[Row] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


class Finder:
    """Finds pictures by what a table may call them: a path, a file name, or a name without its end."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._full = {path: place for place, path in enumerate(paths)}
        self._short: dict[str, int | None] = {}
        for path, place in self._full.items():
            name = posixpath.basename(path)
            # A path without its end, a bare name, a name without its end; one that fits two pictures fits none.
            for key in {posixpath.splitext(path)[0], name, posixpath.splitext(name)[0]}:
                self._short[key] = None if key in self._short else place

    def find(self, cell: str, folder: str) -> int | None:
        """The place of the picture that `cell` of a table in `folder` names."""
        name = posixpath.normpath(cell.strip().replace("\\", "/").removeprefix("./")) if cell.strip() else ""
        if not name or name == ".":
            return None
        beside = posixpath.join(folder, name)
        for key in (beside, name):
            if key in self._full:
                return self._full[key]
        for key in (beside, name, posixpath.basename(name)):
            place = self._short.get(key)
            if place is not None:
                return place
        return None


def read_table(root: Path, name: str, finder: Finder) -> Table | None:
    """The labels that the table `name` below `root` gives; None where it labels no pictures."""
    cells = _cells(root / name)
    if len(cells) < 2:
        return None
    folder = posixpath.dirname(name)

    def find(cell: str) -> int | None:
        return finder.find(cell, folder)

    sample = cells[:_LOOKED_AT_ROWS]
    picture_column = _picture_column(sample, find)
    if picture_column is None:
        return None
    header = cells[0] if find(cells[0][picture_column]) is None else [""] * len(cells[0])
    body = cells[1:] if any(header) else cells
    label_of = _labels(header, body[:_LOOKED_AT_ROWS], picture_column)
    if label_of is None:
        return None
    split_column = _split_column(header, body[:_LOOKED_AT_ROWS], picture_column)
    table = Table(name)
    seen: set[int] = set()
    for row in body:
        place, label = find(row[picture_column]), label_of(row)
        if place is None:
            table.missing.append(row[picture_column])
        elif label and place not in seen:
            seen.add(place)
            table.rows.append(Row(place, label, role(row[split_column]) if split_column is not None else ""))
    return table


def _cells(path: Path) -> list[list[str]]:
    """All rows of the same width as the first; empty for what is no table."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_BYTES:
            return []
        content = path.read_bytes()
    except OSError:
        return []
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    if "\0" in text:
        return []
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t|", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return []
    return [row for row in rows if len(row) == len(rows[0])] if rows and len(rows[0]) >= 2 else []


def _picture_column(sample: list[list[str]], find: Callable[[str], int | None]) -> int | None:
    body = sample[1:]
    scores = [sum(find(row[column]) is not None for row in body) for column in range(len(sample[0]))]
    best = max(range(len(scores)), key=lambda column: scores[column])
    return best if scores[best] >= max(_FEWEST_MATCHES, _ENOUGH_MATCHES * len(body)) else None


def _split_column(header: list[str], sample: list[list[str]], picture_column: int) -> int | None:
    for column in range(len(header)):
        values = {row[column].strip() for row in sample} - {""}
        if column != picture_column and values and all(role(value) for value in values):
            return column
    return None


def _labels(header: list[str], sample: list[list[str]], picture_column: int) -> Callable[[list[str]], str] | None:
    """How a row's label is read: one column of names, or one column of 0 and 1 for each class."""
    split_column = _split_column(header, sample, picture_column)
    columns = [column for column in range(len(header)) if column not in (picture_column, split_column)]
    named = [column for column in columns if header[column].strip().casefold() in _LABEL_NAMES]
    if not named:
        one_hot = _one_hot(header, sample, columns)
        if one_hot is not None:
            return one_hot
    distinct = {column: len({row[column].strip() for row in sample} - {""}) for column in columns}
    # A label repeats; a column in which nearly every row differs is a measurement or another name of the picture.
    candidates = named or [
        c
        for c in columns
        if 1 <= distinct[c] <= max(2, len(sample) // 2) and header[c].strip().casefold() not in _SPLIT_NAMES
    ]
    if not candidates:
        return None
    chosen = candidates[0] if named else min(candidates, key=lambda c: (distinct[c] < 2, distinct[c]))

    def label_of(row: list[str]) -> str:
        return row[chosen].strip()

    return label_of


def _one_hot(header: list[str], sample: list[list[str]], columns: list[int]) -> Callable[[list[str]], str] | None:
    flags = {"0", "1", "0.0", "1.0"}
    hot = [column for column in columns if all(row[column].strip() in flags for row in sample)]
    if len(hot) < 2 or not all(sum(float(row[column]) for column in hot) == 1 for row in sample):
        return None

    def label_of(row: list[str]) -> str:
        return next((header[c].strip() for c in hot if row[c].strip() in ("1", "1.0")), "")

    return label_of
