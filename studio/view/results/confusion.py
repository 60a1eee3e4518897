"""The confusion matrix as a painted table: what each class was taken for, in numbers and colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from studio.core.quantities import share_text
from studio.core.text import tr, trn
from studio.dataset.labels import shown
from studio.runs.scores import Confusion
from studio.view.plots.graph import blend
from studio.view.theme import theme

AnyIndex = QModelIndex | QPersistentModelIndex
COUNT_ROLE = Qt.ItemDataRole.UserRole + 1
SHARE_ROLE = Qt.ItemDataRole.UserRole + 2
_LONGEST_NAME_EMS = 12
_LARGEST_CELL_PX = 46


class ConfusionModel(QAbstractTableModel):
    """A row per true class, a column per class that the network said."""

    def __init__(self) -> None:
        super().__init__()
        self._labels: tuple[str, ...] = ()
        self._confusion: Confusion = ()
        self._totals: tuple[int, ...] = ()

    @property
    def largest(self) -> int:
        """The largest count, which needs the most room."""
        return max((max(row, default=0) for row in self._confusion), default=0)

    @property
    def labels(self) -> tuple[str, ...]:
        return self._labels

    def show(self, labels: Sequence[str], confusion: Confusion) -> None:
        """Show `confusion[true][predicted]` of these classes."""
        self.beginResetModel()
        self._labels = tuple(shown(label) for label in labels)
        self._confusion = confusion
        self._totals = tuple(sum(row) for row in confusion)
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._confusion)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._labels)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= section < len(self._labels):
            return None
        is_column = orientation == Qt.Orientation.Horizontal
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._labels[section]
            case Qt.ItemDataRole.ToolTipRole:
                name = self._labels[section]
                if is_column:
                    return tr("Pictures that the network took for “{name}”", name=name)
                return trn(
                    self._totals[section],
                    "{n} picture that is “{name}”",
                    "{n:,} pictures that are “{name}”",
                    name=name,
                )
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        true, predicted = index.row(), index.column()
        count = self._confusion[true][predicted]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{count:,}" if count else ""
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return self.sentence(true, predicted)
            case _ if role == COUNT_ROLE:
                return count
            case _ if role == SHARE_ROLE:
                return count / self._totals[true] if self._totals[true] else 0.0
        return None

    def sentence(self, true: int, predicted: int) -> str:
        """One cell in words."""
        count, total = self._confusion[true][predicted], self._totals[true]
        facts = {
            "total": total,
            "share": share_text(count / total) if total else "–",
            "true": self._labels[true],
            "predicted": self._labels[predicted],
        }
        if true == predicted:
            return tr("“{true}” was recognised {n:,} times out of {total:,} ({share})", n=count, **facts)
        return tr("“{true}” was taken for “{predicted}” {n:,} times out of {total:,} ({share})", n=count, **facts)


def cell_colours(share: float, *, is_right: bool) -> tuple[QColor, QColor]:
    """Ground and text of a cell that holds this share of its row. Right and wrong differ in hue and in place."""
    strength = math.sqrt(min(1.0, max(0.0, share)))
    over, ground = theme().series(0 if is_right else 1), theme().colour("surface")
    mixed = blend(over, ground, strength)
    # Of black and white, one has a contrast of at least 4.5 to any colour; of softer inks that is not so.
    inks = (QColor("black"), QColor("white"))
    return mixed, max(inks, key=lambda ink: contrast(ink, mixed))


def contrast(one: QColor, other: QColor) -> float:
    """The contrast ratio of two colours, from 1 to 21 (WCAG 2.1, relative luminance of sRGB)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    def linear(value: float) -> float:
        return float(value / 12.92) if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)

    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF())


class _CellDelegate(QStyledItemDelegate):
    """A cell in the colour of its share, with its number."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        painter.save()
        area: QRect = option.rect.adjusted(0, 0, -1, -1)
        is_right = index.row() == index.column()
        if index.data(COUNT_ROLE):
            ground, ink = cell_colours(index.data(SHARE_ROLE), is_right=is_right)
        else:
            ground, ink = theme().colour("info_soft" if is_right else "surface"), theme().colour("muted")
        painter.fillRect(area, ground)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(theme().colour("text"), 2))
            painter.drawRect(area.adjusted(1, 1, -1, -1))
        painter.setPen(ink)
        painter.setFont(theme().font(bold=is_right))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, str(index.data(Qt.ItemDataRole.DisplayRole)))
        painter.restore()


class _NameHeader(QHeaderView):
    """The classes above the columns: level where they fit, otherwise upright from bottom to top."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.is_upright = False
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(8)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        if self.is_upright:
            size.setHeight(self._longest() + 14)
        return size

    def _longest(self) -> int:
        metrics = self.fontMetrics()
        model = self.model()
        names = [str(model.headerData(n, Qt.Orientation.Horizontal)) for n in range(self.count())]
        limit = metrics.horizontalAdvance("0") * _LONGEST_NAME_EMS
        return min(limit, max((metrics.horizontalAdvance(name) for name in names), default=0))

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:  # noqa: N803 - Qt's name
        if not self.is_upright:
            super().paintSection(painter, rect, logicalIndex)
            return
        painter.save()
        painter.fillRect(rect, theme().colour("sunken"))
        painter.setPen(theme().colour("text"))
        painter.setFont(self.font())
        name = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal))
        room = rect.height() - 12
        painter.translate(rect.left(), rect.bottom() - 6)
        painter.rotate(-90)
        text = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, room)
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(QRect(0, 0, room, rect.width()), middle, text)
        painter.restore()


class ConfusionTable(QTableView):
    """The matrix. The arrow keys go from cell to cell; each says what it means."""

    def __init__(self, model: ConfusionModel) -> None:
        super().__init__()
        self._matrix = model
        self._names = _NameHeader()
        self.setHorizontalHeader(self._names)
        self.setModel(model)
        self.setItemDelegate(_CellDelegate(self))
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setCornerButtonEnabled(False)
        self.verticalHeader().setHighlightSections(False)
        self.verticalHeader().setMinimumSectionSize(8)
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setObjectName("results.confusion")
        self.setAccessibleName(tr("Confusion matrix"))
        self.setToolTip(tr("Rows are the true classes, columns what the network said. The diagonal is right."))
        model.modelReset.connect(self.fit_cells)
        theme().changed.connect(self.viewport().update)

    def fit_cells(self) -> None:
        """Square cells that hold the largest number; names above them level where all fit."""
        metrics = QFontMetrics(theme().font(bold=True))
        number = metrics.horizontalAdvance(f"{self._matrix.largest:,}") + 14
        side = max(metrics.height() + 12, number)
        longest = max((metrics.horizontalAdvance(name) for name in self._matrix.labels), default=0) + 14
        self._names.is_upright = longest > max(side, metrics.horizontalAdvance("0") * 6)
        if not self._names.is_upright:
            side = max(side, longest)
        limit = metrics.horizontalAdvance("0") * 2 * _LONGEST_NAME_EMS
        names_width = min(limit, longest + 12)
        self.verticalHeader().setFixedWidth(names_width)
        # Few classes get larger cells, as far as that needs no scrolling.
        count = max(1, len(self._matrix.labels))
        width = (self.width() - names_width - 4) // count
        height = (self.height() - self._names.sizeHint().height() - 4) // count
        self._names.setDefaultSectionSize(max(side, min(width, _LARGEST_CELL_PX)))
        self.verticalHeader().setDefaultSectionSize(max(metrics.height() + 12, min(height, _LARGEST_CELL_PX)))
        self.updateGeometries()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_cells()
