"""The network as a list: selection, keyboard, drag and drop, and the menu of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView

from studio.core.check import Report
from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.text import tr
from studio.view.network.clipping import BLOCKS_MIME, blocks_from_text
from studio.view.network.composer import Composer
from studio.view.network.delegate import GAP_PX, RowDelegate
from studio.view.network.model import ROW_ROLE, NetworkModel, text_in
from studio.view.network.rows import Row, rows_of
from studio.view.theme import theme

# A network without blocks has these rows: its input and its output.
_ENDS = 2
_MOVES = QKeySequence(Qt.Modifier.ALT | Qt.Key.Key_Up), QKeySequence(Qt.Modifier.ALT | Qt.Key.Key_Down)


class NetworkList(QListView):
    """Shows the project's network and hands what a person does with it to the composer.

    `link_wanted(row)`: the link in a row was used. `inspector_wanted()`: Enter on a block. `menu_wanted(position)`:
    the context menu, by mouse or keyboard.
    """

    link_wanted = Signal(object)
    inspector_wanted = Signal()
    menu_wanted = Signal(QPoint)

    def __init__(self, composer: Composer) -> None:
        super().__init__()
        self._composer = composer
        self._is_refreshing = False
        self._is_dragging = False
        self._drop_place: int | None = None
        self.rows = NetworkModel()
        self.setModel(self.rows)
        self.painter_of_rows = RowDelegate(self)
        self.painter_of_rows.link_clicked.connect(self.link_wanted)
        self.setItemDelegate(self.painter_of_rows)
        self.setObjectName("network.list")
        self.setAccessibleName(tr("Blocks of the network"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(False)  # painted here: between rows, never above the input or below the output
        self.verticalScrollBar().setSingleStep(24)
        composer.selection_wanted.connect(self.select_ids)
        self._keys: Sequence[tuple[QKeySequence | QKeySequence.StandardKey, Callable[[], object]]] = (
            (QKeySequence.StandardKey.Cut, composer.cut),
            (QKeySequence.StandardKey.Copy, composer.copy),
            (QKeySequence.StandardKey.Paste, composer.paste),
            (QKeySequence.StandardKey.Delete, composer.remove),
            (QKeySequence.StandardKey.SelectAll, composer.select_all),
            (QKeySequence("Ctrl+D"), composer.duplicate),
            (_MOVES[0], lambda: composer.shift(-1)),
            (_MOVES[1], lambda: composer.shift(1)),
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Text breaks elsewhere in another width, so rows change their height; Qt looks again only at a new height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def refresh(self, project: Project, report: Report) -> None:
        """Show `project`. Rows that come with it are selected; where none is selected any more, the nearest is."""
        before = {row.id for row in self.rows.rows}
        place = min((index.row() for index in self.selectedIndexes()), default=None)
        self._is_refreshing = True
        try:
            self.rows.show_rows(rows_of(project, report), project.network.blocks)
        finally:
            self._is_refreshing = False
        appeared = [row.id for row in self.rows.rows if row.id not in before]
        if len(before) > _ENDS and appeared:
            self.select_ids(appeared)
        elif place is not None and not self.selectedIndexes():
            self.select_ids([self.rows.rows[min(place, len(self.rows.rows) - 1)].id])
        self._tell_selection()

    def select_ids(self, ids: Sequence[str]) -> None:
        """Select these rows and bring the first into view."""
        places = [place for name in ids if (place := self.rows.row_of(name)) is not None]
        if not places:
            return
        selection = QItemSelection()
        for place in places:
            selection.select(self.rows.index(place), self.rows.index(place))
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(self.rows.index(places[-1]), flags.NoUpdate)
        self.selectionModel().select(selection, flags.ClearAndSelect)
        for place in reversed(places):
            self.scrollTo(self.rows.index(place))

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        if not self._is_refreshing:
            self._tell_selection()

    def _tell_selection(self) -> None:
        indexes = sorted(self.selectedIndexes(), key=lambda index: index.row())
        self._composer.set_selected([cast(Row, index.data(ROW_ROLE)).id for index in indexes])

    def event(self, event: QEvent) -> bool:
        """Keys that the list uses itself are not taken for shortcuts of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and self._deed_of(cast(QKeyEvent, event)) is not None:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        deed = self._deed_of(event)
        if deed is not None:
            deed()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            row = self.current_row()
            use_link = event.modifiers() & Qt.KeyboardModifier.AltModifier or (row is not None and row.part != "block")
            if row is not None and row.link and use_link:
                self.link_wanted.emit(row)
            else:
                self.inspector_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _deed_of(self, event: QKeyEvent) -> Callable[[], object] | None:
        for keys, deed in self._keys:
            if isinstance(keys, QKeySequence):
                if QKeySequence(event.keyCombination()) == keys:
                    return deed
            elif event.matches(keys):
                return deed
        return None

    def current_row(self) -> Row | None:
        row: Row | None = self.currentIndex().data(ROW_ROLE)
        return row

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        row = index.data(ROW_ROLE)
        is_on_link = row is not None and self.painter_of_rows.is_on_link(row, self.visualRect(index), event)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_on_link else Qt.CursorShape.ArrowCursor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row: Row | None = self.indexAt(event.position().toPoint()).data(ROW_ROLE)
        if row is not None and row.part != "block" and row.link:
            self.link_wanted.emit(row)
        elif row is not None:
            self.inspector_wanted.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        spot = self.visualRect(self.currentIndex()).center() if is_by_key else event.pos()
        self.menu_wanted.emit(self.viewport().mapToGlobal(spot))

    def startDrag(self, actions: Qt.DropAction) -> None:
        self._is_dragging = True
        try:
            super().startDrag(actions)
        finally:
            self._is_dragging = False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(BLOCKS_MIME):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if event.mimeData().hasFormat(BLOCKS_MIME):
            super().dragMoveEvent(event)  # scrolls at the edges
            self._show_drop_place(self.place_at(event.position().toPoint()))
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._show_drop_place(None)

    def dropEvent(self, event: QDropEvent) -> None:
        self._show_drop_place(None)
        place = self.place_at(event.position().toPoint())
        if self._is_dragging:
            self._composer.move_to(self._composer.selected, place)
        else:
            blocks = blocks_from_text(text_in(event.mimeData()))
            if isinstance(blocks, Problem):
                self._composer.refused.emit(blocks)
                return
            self._composer.insert_blocks(blocks, place)
        # A copy, whatever it was: the view would take the dragged rows out after a move.
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.setFocus()

    def place_at(self, position: QPoint) -> int:
        """Before which block something dropped at `position` (the viewport's pixels) goes."""
        count = len(self.rows.rows) - 2
        index: QModelIndex = self.indexAt(position)
        if not index.isValid():
            return count if position.y() > 0 else 0
        is_below = position.y() > self.visualRect(index).center().y()
        return max(0, min(index.row() + is_below - 1, count))

    def _show_drop_place(self, place: int | None) -> None:
        if place != self._drop_place:
            self._drop_place = place
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._drop_place is not None:
            above = self.visualRect(self.rows.index(self._drop_place + 1))
            painter = QPainter(self.viewport())
            painter.setPen(QPen(theme().colour("accent"), 3))
            y = above.top() - GAP_PX // 2
            painter.drawLine(above.left() + 4, y, above.right() - 4, y)
