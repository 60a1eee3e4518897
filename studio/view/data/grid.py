"""The thumbnail grid: a virtual list of pictures that stays smooth whatever the number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from studio.core.problem import Problem
from studio.core.text import problem_message, tr
from studio.dataset.index import Index
from studio.dataset.labels import shown
from studio.view.data.thumbnails import THUMBNAIL_PX, Thumbnails
from studio.view.theme import theme

AnyIndex = QModelIndex | QPersistentModelIndex
Places = NDArray[np.int64]

PATH_ROLE = Qt.ItemDataRole.UserRole + 1
LABEL_ROLE = Qt.ItemDataRole.UserRole + 2
REFUSED_ROLE = Qt.ItemDataRole.UserRole + 3
PLACE_ROLE = Qt.ItemDataRole.UserRole + 4
_CELL_PX = QSize(THUMBNAIL_PX + 16, THUMBNAIL_PX + 38)


class PictureModel(QAbstractListModel):
    """The pictures at some places of an index; thumbnails are asked for when they come into view."""

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._index: Index | None = None
        self._places: Places = np.zeros(0, np.int64)
        self._refused: dict[str, Problem] = {}
        self._rows: dict[Path, int] = {}
        thumbnails.arrived.connect(self._on_arrived)

    def show(self, index: Index | None, places: Places, refused: dict[str, Problem]) -> None:
        """Show these pictures; the same ones again change nothing on the screen."""
        if index is self._index and np.array_equal(places, self._places) and refused == self._refused:
            return
        self.beginResetModel()
        self._index, self._places, self._refused = index, places, refused
        self._rows.clear()
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._places)

    def path(self, row: int) -> Path | None:
        """The file of a row."""
        if self._index is None or not 0 <= row < len(self._places):
            return None
        return self._index.path(int(self._places[row]))

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self._index is None or not index.isValid():
            return None
        place = int(self._places[index.row()])
        picture = self._index.pictures[place]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return shown(picture.path.rpartition("/")[2])
            case Qt.ItemDataRole.DecorationRole:
                path = self._index.path(place)
                self._rows[path] = index.row()
                return self._thumbnails.get(path)
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return self._description(picture.path, picture.label)
            case _ if role == LABEL_ROLE:
                return shown(self._index.classes[picture.label])
            case _ if role == REFUSED_ROLE:
                return picture.path in self._refused
            case _ if role == PLACE_ROLE:
                return place
            case _ if role == PATH_ROLE:
                return self._index.path(place)
        return None

    def _description(self, path: str, label: int) -> str:
        name = self._index.classes[label] if self._index else ""
        if path in self._refused:
            return tr("{path}: left out. {reason}", path=shown(path), reason=problem_message(self._refused[path]))
        return tr("{path}, class {name}", path=shown(path), name=shown(name))

    def _on_arrived(self, paths: Sequence[Path]) -> None:
        for path in paths:
            row = self._rows.get(path)
            if row is not None:
                at = self.index(row)
                self.dataChanged.emit(at, at, [Qt.ItemDataRole.DecorationRole])


class _CellDelegate(QStyledItemDelegate):
    """Thumbnail, class below, and a mark for pictures that are left out."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return _CELL_PX

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        colours = theme()
        painter.save()
        cell: QRect = option.rect.adjusted(3, 3, -3, -3)
        state: QStyle.StateFlag = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(cell, colours.colour("selection"))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(colours.colour("accent"), 2))
            painter.drawRect(cell.adjusted(1, 1, -1, -1))
        area = QRect(cell.left() + 5, cell.top() + 5, THUMBNAIL_PX, THUMBNAIL_PX)
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        refused = bool(index.data(REFUSED_ROLE))
        if pixmap is not None:
            fitted = pixmap.size().scaled(area.size(), Qt.AspectRatioMode.KeepAspectRatio)
            target = QRect(area.topLeft(), fitted)
            target.moveCenter(area.center())
            painter.drawPixmap(target, pixmap)
        else:
            painter.fillRect(area, colours.colour("error_soft" if refused else "sunken"))
        if refused:
            painter.setPen(QPen(colours.colour("error"), 2))
            painter.drawRect(area)
            painter.setFont(colours.font("title_text", bold=True))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "!")
        painter.setFont(colours.font("small_text"))
        painter.setPen(colours.colour("error" if refused else "muted"))
        line = QRect(cell.left() + 4, area.bottom() + 4, cell.width() - 8, cell.bottom() - area.bottom() - 6)
        text = tr("left out") if refused else str(index.data(LABEL_ROLE))
        elided = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter, elided)
        painter.restore()


class PictureGrid(QListView):
    """The grid itself: wraps to the width, scrolls by pixels, and asks no cell for its size.

    `entered_key()` follows Return and Enter, on every system.
    """

    entered_key = Signal()

    def __init__(self, model: PictureModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(_CellDelegate(self))
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setGridSize(_CELL_PX)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.verticalScrollBar().setSingleStep(_CELL_PX.height() // 3)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setAccessibleName(tr("Pictures"))
        self.setObjectName("data.grid")
        theme().changed.connect(self.viewport().update)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_key.emit()
            event.accept()
        else:
            super().keyPressEvent(event)
