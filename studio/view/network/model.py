"""The rows of the network as a Qt list model, brought up to date by the least insertions, removals and moves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QPersistentModelIndex, Qt

from studio.core.project import Block
from studio.core.quantities import share_text, size_text
from studio.core.text import problem_message, problem_why, tr
from studio.view.network.clipping import BLOCKS_MIME, blocks_to_text
from studio.view.network.rows import Row, spoken
from studio.view.network.wording import parameters_text

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()


class NetworkModel(QAbstractListModel):
    """Rows from input to output. The blocks are handed in beside them, for drags."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Row] = []
        self._blocks: dict[str, Block] = {}

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self._rows)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def row_of(self, id: str) -> int | None:
        """The row with this id, if it is there."""
        return next((place for place, row in enumerate(self._rows) if row.id == id), None)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return tool_tip(row)
            case _ if role == ROW_ROLE:
                return row
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if not index.isValid():
            return flags | Qt.ItemFlag.ItemIsDropEnabled
        is_block = self._rows[index.row()].part == "block"
        return flags | Qt.ItemFlag.ItemIsDragEnabled if is_block else flags

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction | Qt.DropAction.CopyAction

    def mimeTypes(self) -> list[str]:
        return [BLOCKS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        rows = [self._rows[index.row()] for index in sorted(indexes, key=lambda index: index.row())]
        return mime_of([self._blocks[row.id] for row in rows if row.id in self._blocks])

    def show_rows(self, rows: Sequence[Row], blocks: Sequence[Block]) -> None:
        """Become `rows` without touching those that stay as they are."""
        self._blocks = {block.id: block for block in blocks}
        ids = [row.id for row in rows]
        if len(set(ids)) < len(ids) or not self._rows:
            self.beginResetModel()
            self._rows = list(rows)
            self.endResetModel()
            return
        self._remove_missing(set(ids))
        self._reorder(ids)
        self._insert_new(rows)
        self._replace_changed(rows)

    def _remove_missing(self, wanted: set[str]) -> None:
        last = len(self._rows) - 1
        while last >= 0:
            if self._rows[last].id in wanted:
                last -= 1
                continue
            first = last
            while first > 0 and self._rows[first - 1].id not in wanted:
                first -= 1
            self.beginRemoveRows(_ROOT, first, last)
            del self._rows[first : last + 1]
            self.endRemoveRows()
            last = first - 1

    def _reorder(self, ids: Sequence[str]) -> None:
        """Bring the rows that stay into the order of `ids`, moving as few of them as can be."""
        present = {row.id: place for place, row in enumerate(self._rows)}
        staying = [name for name in ids if name in present]
        unmoved = {staying[n] for n in longest_rising([present[name] for name in staying])}
        for n, name in enumerate(staying):
            if name in unmoved:
                continue
            source = next(place for place, row in enumerate(self._rows) if row.id == name)
            target = 1 + next(p for p, row in enumerate(self._rows) if row.id == staying[n - 1]) if n else 0
            if target in (source, source + 1):
                continue
            self.beginMoveRows(_ROOT, source, source, _ROOT, target)
            row = self._rows.pop(source)
            self._rows.insert(target if target < source else target - 1, row)
            self.endMoveRows()

    def _insert_new(self, rows: Sequence[Row]) -> None:
        present = {row.id for row in self._rows}
        first = 0
        while first < len(rows):
            if rows[first].id in present:
                first += 1
                continue
            end = first
            while end < len(rows) and rows[end].id not in present:
                end += 1
            self.beginInsertRows(_ROOT, first, end - 1)
            self._rows[first:first] = rows[first:end]
            self.endInsertRows()
            first = end

    def _replace_changed(self, rows: Sequence[Row]) -> None:
        changed = [place for place, row in enumerate(rows) if row != self._rows[place]]
        if changed:
            self._rows = list(rows)
            self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))


def mime_of(blocks: Sequence[Block]) -> QMimeData:
    """Blocks for the clipboard and for drags: in our own form, and as text for other programs."""
    text = blocks_to_text(blocks)
    data = QMimeData()
    data.setData(BLOCKS_MIME, text.encode())
    data.setText(text)
    return data


def text_in(data: QMimeData) -> str:
    """What may hold blocks: our own form first, then plain text."""
    if data.hasFormat(BLOCKS_MIME):
        return bytes(data.data(BLOCKS_MIME).data()).decode("utf-8", "replace")
    return data.text() if data.hasText() else ""


def longest_rising(places: Sequence[int]) -> list[int]:
    """The positions of a longest rising subsequence of distinct numbers (patience sorting)."""
    tops: list[int] = []
    holders: list[int] = []
    before: list[int | None] = []
    for position, place in enumerate(places):
        pile = bisect_left(tops, place)
        before.append(holders[pile - 1] if pile else None)
        tops[pile : pile + 1] = [place]
        holders[pile : pile + 1] = [position]
    chain: list[int] = []
    position_or_none = holders[-1] if holders else None
    while position_or_none is not None:
        chain.append(position_or_none)
        position_or_none = before[position_or_none]
    return chain[::-1]


def tool_tip(row: Row) -> str:
    """What the row shows, in whole words and with what the bar leaves out."""
    lines = [f"{row.title}: {row.details}" if row.details else row.title]
    if row.part == "block" and row.shape:
        lines.append(tr("Output for each picture: {shape}", shape=row.shape))
    if row.parameters:
        lines.append(parameters_text(row.parameters))
    if row.memory_bytes is not None and row.share is not None:
        facts = {"size": size_text(row.memory_bytes), "share": share_text(row.share)}
        lines.append(tr("Training memory: {size}, {share} of what this network itself needs", **facts))
    for problem in row.problems:
        lines += [problem_message(problem), problem_why(problem)]
    return "\n".join(line for line in lines if line)
