"""Tables of the Memory page: as high as their content, so that only the page scrolls."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from studio.view.theme import theme

Index = QModelIndex | QPersistentModelIndex

SHARE_ROLE = int(Qt.ItemDataRole.UserRole)
COLOUR_ROLE = SHARE_ROLE + 1


class ShareDelegate(QStyledItemDelegate):
    """Paints a cell's share (0 to 1, in `SHARE_ROLE`) as a bar in a series colour, with its text beside it."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        share = index.data(SHARE_ROLE)
        if not isinstance(share, float):
            super().paint(painter, option, index)
            return
        rect = QRectF(option.rect)
        text_px = painter.fontMetrics().horizontalAdvance("100.0%") + 16
        bar = QRectF(rect.left() + 6, rect.center().y() - 5, max(0.0, rect.width() - text_px - 12), 10)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour("sunken"))
        painter.drawRoundedRect(bar, 4, 4)
        painter.setBrush(theme().series(int(index.data(COLOUR_ROLE) or 0)))
        painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * min(1.0, share), bar.height()), 4, 4)
        painter.setPen(theme().colour("text"))
        place = QRectF(bar.right() + 8, rect.top(), text_px, rect.height())
        painter.drawText(place, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), str(index.data()))
        painter.restore()


class FlatTable(QTableWidget):
    """Read-only, as high as its rows; column `wide` takes the room that is left, `numbers` end at the right."""

    def __init__(
        self, headers: Sequence[tuple[str, str]], name: str, *, wide: int, numbers: Collection[int] = ()
    ) -> None:
        super().__init__(0, len(headers))
        self.setAccessibleName(name)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setWordWrap(True)
        self.setShowGrid(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().setVisible(False)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        for column, (title, teaches) in enumerate(headers):
            item = QTableWidgetItem(title)
            item.setToolTip(teaches)
            if column in numbers:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.setHorizontalHeaderItem(column, item)
        self._numbers = frozenset(numbers)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.fit()

    def put(self, row: int, column: int, text: str, help: str = "") -> QTableWidgetItem:
        """Set a cell's text; only a change repaints."""
        item = self.item(row, column)
        if item is None:
            item = QTableWidgetItem(text)
            self.setItem(row, column, item)
        if item.text() != text:
            item.setText(text)
        if help:
            item.setToolTip(help)
        side = Qt.AlignmentFlag.AlignRight if column in self._numbers else Qt.AlignmentFlag.AlignLeft
        item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        return item

    def fit(self) -> None:
        """Be as high as the rows need at this width."""
        self.resizeRowsToContents()
        rows_px = sum(self.rowHeight(row) for row in range(self.rowCount()))
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + rows_px + 2 * self.frameWidth() + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.fit()
