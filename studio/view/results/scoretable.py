"""How well each class is recognised, as a sortable table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from studio.core.quantities import share_text
from studio.core.text import tr
from studio.dataset.labels import natural_key, shown
from studio.runs.scores import ClassScore
from studio.view.theme import theme

AnyIndex = QModelIndex | QPersistentModelIndex
SORT_ROLE = Qt.ItemDataRole.UserRole + 1
_NAME, _COUNT, _PRECISION, _RECALL, _F1 = range(5)


class ScoreModel(QAbstractTableModel):
    """A row per class, in the order of the network's outputs."""

    def __init__(self) -> None:
        super().__init__()
        self._scores: tuple[ClassScore, ...] = ()
        self._places: dict[str, int] = {}

    def show(self, scores: Sequence[ClassScore]) -> None:
        self.beginResetModel()
        self._scores = tuple(scores)
        order = sorted((score.label for score in scores), key=natural_key)
        self._places = {label: place for place, label in enumerate(order)}
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._scores)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 5

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return (tr("Class"), tr("Pictures"), tr("Precision"), tr("Recall"), tr("F1"))[section]
            case Qt.ItemDataRole.TextAlignmentRole if section == _COUNT:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ToolTipRole:
                return (
                    tr("The class, as its folder is called."),
                    tr("How many validation pictures are of this class."),
                    tr("Of the pictures taken for this class, the share that really are."),
                    tr("Of the pictures of this class, the share that was recognised."),
                    tr("Precision and recall in one number, their harmonic mean: low when either is low."),
                )[section]
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        score, column = self._scores[index.row()], index.column()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(score, column)
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return tr(
                    "“{name}”: {right:,} of {count:,} pictures recognised; {wrong:,} pictures of other classes were "
                    "taken for it",
                    name=shown(score.label),
                    right=score.right,
                    count=score.count,
                    wrong=score.predicted - score.right,
                )
            case Qt.ItemDataRole.TextAlignmentRole if column == _COUNT:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case _ if role == SORT_ROLE:
                return self._key(score, column)
        return None

    @staticmethod
    def _text(score: ClassScore, column: int) -> str:
        if column == _NAME:
            return shown(score.label)
        if column == _COUNT:
            return f"{score.count:,}"
        value = (score.precision, score.recall, score.f1)[column - _PRECISION]
        return "–" if value is None else share_text(value)

    def _key(self, score: ClassScore, column: int) -> float:
        if column == _NAME:
            return self._places[score.label]
        if column == _COUNT:
            return score.count
        value = (score.precision, score.recall, score.f1)[column - _PRECISION]
        return -1.0 if value is None else value


class _ShareDelegate(QStyledItemDelegate):
    """A share as a number over a bar of that length."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return super().sizeHint(option, index) + QSize(40, 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        super().paint(painter, option, index)
        value = index.data(SORT_ROLE)
        if value is None or value < 0:
            return
        area: QRect = option.rect.adjusted(6, 0, -10, -3)
        track = QRect(area.left(), area.bottom() - 3, area.width(), 3)
        painter.fillRect(track, theme().colour("sunken"))
        track.setWidth(round(area.width() * float(value)))
        painter.fillRect(track, theme().series(0))


class ScoreTable(QTableView):
    """The table; a click on a heading sorts by it."""

    def __init__(self, model: ScoreModel) -> None:
        super().__init__()
        proxy = QSortFilterProxyModel(self)
        proxy.setSourceModel(model)
        proxy.setSortRole(SORT_ROLE)
        self.setModel(proxy)
        for column in (_PRECISION, _RECALL, _F1):
            self.setItemDelegateForColumn(column, _ShareDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 14)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        for column in (_NAME, _PRECISION, _RECALL, _F1):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_COUNT, QHeaderView.ResizeMode.ResizeToContents)
        self.setSortingEnabled(True)
        self.sortByColumn(_NAME, Qt.SortOrder.AscendingOrder)
        self.setObjectName("results.classes")
        self.setAccessibleName(tr("Scores of the classes"))
        self.setToolTip(tr("Sort by F1 to see the classes first that need more or better pictures."))
        theme().changed.connect(self.viewport().update)
