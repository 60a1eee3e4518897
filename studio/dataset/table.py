"""A table of labels (CSV) beside pictures: which column names the picture, which the class, which the split."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from studio.dataset.cells import cells_of
from studio.dataset.formats import PICTURE_SUFFIXES, TABLE_SUFFIXES, suffix_of
from studio.dataset.labels import shown
from studio.dataset.splitnames import role, roles

_LOOKED_AT_ROWS = 2000
_CHECK_EVERY = 4096
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
    """A table that labels pictures.

    Attributes:
        name: the file.
        missing: cells that name no picture.
        contradicted: pictures that rows give different labels; the first one counts.
        has_named_labels: whether the column says that it holds labels.
    """

    name: str
    rows: list[Row] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    contradicted: list[int] = field(default_factory=list)
    has_named_labels: bool = False


class Finder:
    """Finds pictures by what a table may call them: a path, a file name, or a name without its end.

    What fits two pictures fits none. Capitals, the way accents are stored and another ending only matter where they
    tell two pictures apart.
    """

    def __init__(self, paths: Sequence[str], check: Callable[[], None]) -> None:
        self._full = {path: place for place, path in enumerate(paths)}
        self._short: dict[str, int | None] = {}
        self._loose: dict[str, int | None] = {}
        for path, place in self._full.items():
            if place % _CHECK_EVERY == 0:
                check()
            name = posixpath.basename(path)
            for key in {posixpath.splitext(path)[0], name, posixpath.splitext(name)[0]}:
                self._short[key] = None if key in self._short else place
            for key in {_loosely(path), _loosely(posixpath.splitext(path)[0]), _loosely(name), _loosely(_stem(name))}:
                self._loose[key] = None if key in self._loose else place

    def find(self, cell: str, folder: str) -> int | None:
        """The place of the picture that `cell` of a table in `folder` names."""
        name = cell.strip()
        if "://" in name:
            name = name.partition("?")[0]
        name = posixpath.normpath(name.replace("\\", "/").removeprefix("./")) if name else ""
        if not name or name == ".":
            return None
        beside, base = posixpath.join(folder, name), posixpath.basename(name)
        for key in (beside, name):
            if key in self._full:
                return self._full[key]
        for key in (beside, name, base):
            place = self._short.get(key)
            if place is not None:
                return place
        for key in (beside, name, base, _stem(base)):
            place = self._loose.get(_loosely(key))
            if place is not None:
                return place
        return None


def _loosely(name: str) -> str:
    return unicodedata.normalize("NFC", shown(name)).casefold()


def _stem(name: str) -> str:
    """Without a picture's ending; "IMG.2020" has none."""
    return posixpath.splitext(name)[0] if suffix_of(name) in PICTURE_SUFFIXES else name


def read_table(root: Path, name: str, finder: Finder, check: Callable[[], None]) -> Table | None:
    """The labels that the table `name` below `root` gives; None where it labels no pictures.

    `check` is called now and then; it raises to stop.
    """
    cells = cells_of(root / name, is_text=suffix_of(name) not in TABLE_SUFFIXES)
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
    table = Table(name, has_named_labels=any(_is_label(title) for title in header))
    seen: dict[int, str] = {}
    for at, row in enumerate(body):
        if at % _CHECK_EVERY == 0:
            check()
        place, label = find(row[picture_column]), label_of(row)
        if place is None:
            table.missing.append(row[picture_column])
        elif label and place not in seen:
            seen[place] = label
            table.rows.append(Row(place, label, role(row[split_column]) if split_column is not None else ""))
        elif label and seen[place] != label:
            table.contradicted.append(place)
    return table


def joined(tables: Sequence[Table]) -> Table | None:
    """`train.csv`, `val.csv`, ... as one table with splits; None where they are no such set."""
    named = roles([posixpath.splitext(posixpath.basename(table.name))[0] for table in tables])
    parts = [(table, split) for table, split in zip(tables, named, strict=True) if split]
    places = [row.picture for table, _ in parts for row in table.rows]
    splits = [split for _, split in parts]
    if len(set(splits)) < 2 or len(set(splits)) < len(splits) or "train" not in splits:
        return None
    if len(set(places)) < len(places):
        return None
    return Table(
        "+".join(table.name for table, _ in parts),
        [replace(row, split=split) for table, split in parts for row in table.rows],
        [cell for table, _ in parts for cell in table.missing],
        [place for table, _ in parts for place in table.contradicted],
        any(table.has_named_labels for table, _ in parts),
    )


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
    named = [column for column in columns if _is_label(header[column])]
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


def _is_label(title: str) -> bool:
    return title.strip().casefold() in _LABEL_NAMES


def _one_hot(header: list[str], sample: list[list[str]], columns: list[int]) -> Callable[[list[str]], str] | None:
    flags = {"0", "1", "0.0", "1.0"}
    hot = [column for column in columns if all(row[column].strip() in flags for row in sample)]
    if len(hot) < 2 or not all(sum(float(row[column]) for column in hot) == 1 for row in sample):
        return None

    def label_of(row: list[str]) -> str:
        return next((header[c].strip() for c in hot if row[c].strip() in ("1", "1.0")), "")

    return label_of
