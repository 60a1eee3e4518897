"""The classes with their numbers of training and validation pictures, as bars; choosing one filters the grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from studio.core.text import tr
from studio.dataset.labels import shown
from studio.view.theme import theme

AnyIndex = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_NAME, _COUNT, _BAR = range(3)
# About as many letters of a class's name are shown before it is shortened.
_NAME_LETTERS = 24


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class. `train` and `validation` are None until the split is known; `refused` pictures are left out."""

    name: str
    count: int
    train: int | None = None
    validation: int | None = None


class ClassModel(QAbstractTableModel):
    """A row per class, in the order of the network's outputs."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[ClassRow, ...] = ()

    @property
    def most(self) -> int:
        """The pictures of the largest class."""
        return max((row.count for row in self._rows), default=0)

    def show(self, rows: tuple[ClassRow, ...]) -> None:
        if rows == self._rows:
            return
        same_names = [row.name for row in rows] == [row.name for row in self._rows]
        if same_names:
            self._rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, _BAR))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 3

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (tr("Class"), tr("Pictures"), tr("Training and validation"))[section]
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole if index.column() == _NAME:
                return shown(row.name)
            case Qt.ItemDataRole.DisplayRole if index.column() == _COUNT:
                return f"{row.count:,}"
            case Qt.ItemDataRole.TextAlignmentRole if index.column() == _COUNT:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return self._sentence(row)
            case _ if role == ROW_ROLE:
                return row
        return None

    @staticmethod
    def _sentence(row: ClassRow) -> str:
        if row.train is None or row.validation is None:
            return tr("{name}: {count} pictures", name=shown(row.name), count=row.count)
        return tr(
            "{name}: {train} pictures for training, {validation} for validation",
            name=shown(row.name),
            train=row.train,
            validation=row.validation,
        )


class _BarDelegate(QStyledItemDelegate):
    """Training and validation as one bar, relative to the largest class."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(160, 24)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        super().paint(painter, option, index)
        row = index.data(ROW_ROLE)
        model = index.model()
        if row is None or not isinstance(model, ClassModel) or not model.most:
            return
        area: QRect = option.rect.adjusted(6, 7, -6, -7)
        scale = area.width() / model.most
        if row.train is None or row.validation is None:
            self._fill(painter, area, 0.0, row.count * scale, theme().colour("line"))
            return
        self._fill(painter, area, 0.0, row.train * scale, theme().series(0))
        self._fill(painter, area, row.train * scale, row.validation * scale, theme().series(1))

    @staticmethod
    def _fill(painter: QPainter, area: QRect, start: float, length: float, colour: QColor) -> None:
        if length > 0:
            painter.fillRect(
                QRect(area.left() + round(start), area.top(), max(1, round(length)), area.height()), colour
            )


class ClassTable(QTableView):
    """The table. `chosen(class name or "")` follows the selection; a second click or Escape takes it back."""

    chosen = Signal(int)

    def __init__(self, model: ClassModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegateForColumn(_BAR, _BarDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        header = self.horizontalHeader()
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(_COUNT, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_BAR, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(_NAME, round(self.fontMetrics().averageCharWidth() * _NAME_LETTERS))
        # Names of many classes often differ only at their end.
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setWordWrap(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setAccessibleName(tr("Classes"))
        self.setToolTip(tr("Choose a class to see only its pictures; choose it again to see all."))
        self.setObjectName("data.classes")
        self.selectionModel().selectionChanged.connect(self._announce)
        self.pressed.connect(self._on_pressed)
        self._pressed_row = self._last_row = -1
        self.clicked.connect(self._on_clicked)
        theme().changed.connect(self.viewport().update)

    def chosen_row(self) -> int:
        """The row of the chosen class; -1 for all."""
        rows = self.selectionModel().selectedRows()
        return rows[0].row() if rows else -1

    def _announce(self) -> None:
        self.chosen.emit(self.chosen_row())

    def _on_pressed(self, index: QModelIndex) -> None:
        self._pressed_row = index.row() if self._last_row == index.row() else -1

    def _on_clicked(self, index: QModelIndex) -> None:
        if self._pressed_row == index.row():
            self.clearSelection()
            self._last_row = -1
        else:
            self._last_row = index.row()
