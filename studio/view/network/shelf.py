"""The palette: every block that can be put in, by group, with a search; double-click, Enter or drag to use one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from studio.core.blocks import BLOCKS, BlockSpec, Group
from studio.core.project import Block
from studio.core.text import tr
from studio.view.network.glyphs import sign_icon
from studio.view.network.model import mime_of
from studio.view.network.wording import group_label
from studio.view.theme import set_role, theme

_KIND_ROLE = int(Qt.ItemDataRole.UserRole)


def offered() -> Iterator[tuple[str, BlockSpec]]:
    """The blocks that can follow another one: those with a single input."""
    return ((kind, spec) for kind, spec in BLOCKS.items() if spec.inputs == (1, 1))


class _Tree(QTreeWidget):
    """The groups with their blocks; what is dragged out is a new block."""

    used = Signal(str)

    def mimeData(self, items: Sequence[QTreeWidgetItem]) -> QMimeData:
        kinds = [kind for item in items if (kind := item.data(0, _KIND_ROLE))]
        return mime_of([Block(f"new{n}", kind) for n, kind in enumerate(kinds)])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        kind = item.data(0, _KIND_ROLE) if item is not None else None
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and kind:
            self.used.emit(kind)
        else:
            super().keyPressEvent(event)


def _children(shelf: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    return [item for n in range(shelf.childCount()) if (item := shelf.child(n)) is not None]


def _names(spec: BlockSpec) -> str:
    return " ".join((spec.kind, spec.label, tr(spec.label))).casefold()


class Shelf(QWidget):
    """The palette. `used(kind)` asks for a new block of that kind after the selection."""

    used = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme().space_px)
        heading = QLabel(tr("Blocks"))
        heading.setProperty("role", "heading")
        column.addWidget(heading)
        self.search = self._make_search()
        column.addWidget(self.search)
        self.tree = self._make_tree()
        column.addWidget(self.tree, 1)
        self._nothing = QLabel(tr("No block is called that. Clear the search to see all."))
        self._nothing.setWordWrap(True)
        set_role(self._nothing, "muted")
        self._nothing.hide()
        column.addWidget(self._nothing)
        self._tip = QLabel(tr("Double-click or press Enter to add one after the selection, or drag it into the list."))
        self._tip.setWordWrap(True)
        self._tip.setFont(theme().font("small_text"))
        set_role(self._tip, "faint")
        column.addWidget(self._tip)
        self._fill()
        theme().changed.connect(self._fill)

    def _make_search(self) -> QLineEdit:
        search = QLineEdit()
        search.setObjectName("network.search")
        search.setPlaceholderText(tr("Search blocks"))
        search.setAccessibleName(tr("Search blocks"))
        search.setToolTip(tr("Type a part of a name or of what a block does. Enter adds the first one found."))
        search.setClearButtonEnabled(True)
        search.textChanged.connect(self._filter)
        search.returnPressed.connect(self._use_first)
        search.installEventFilter(self)
        return search

    def _make_tree(self) -> _Tree:
        tree = _Tree()
        tree.setObjectName("network.palette")
        tree.setAccessibleName(tr("Blocks that can be added"))
        tree.setHeaderHidden(True)
        tree.setRootIsDecorated(False)
        tree.setItemsExpandable(False)
        tree.setIndentation(0)
        tree.setUniformRowHeights(False)
        tree.setDragEnabled(True)
        tree.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        tree.setDefaultDropAction(Qt.DropAction.CopyAction)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        tree.used.connect(self.used)
        tree.itemDoubleClicked.connect(self._use)
        return tree

    def _fill(self) -> None:
        self.tree.clear()
        side = round(self.fontMetrics().height() * 1.35)
        self.tree.setIconSize(QSize(side, side))
        shelves: dict[Group, QTreeWidgetItem] = {}
        for kind, spec in offered():
            if spec.group not in shelves:
                shelves[spec.group] = self._shelf(spec.group)
            item = QTreeWidgetItem(shelves[spec.group], [tr(spec.label)])
            item.setIcon(0, sign_icon(spec.group, side))
            item.setData(0, _KIND_ROLE, kind)
            item.setToolTip(0, tr(spec.help))
            item.setData(0, Qt.ItemDataRole.AccessibleDescriptionRole, tr(spec.help))
            item.setSizeHint(0, QSize(0, side + 8))
        self.tree.expandAll()
        self._filter(self.search.text())

    def _shelf(self, group: Group) -> QTreeWidgetItem:
        shelf = QTreeWidgetItem(self.tree, [group_label(group)])
        shelf.setFlags(Qt.ItemFlag.ItemIsEnabled)
        shelf.setFont(0, theme().font("small_text", bold=True))
        shelf.setForeground(0, theme().colour("faint"))
        shelf.setSizeHint(0, QSize(0, round(self.fontMetrics().height() * 1.7)))
        return shelf

    def items(self) -> Iterator[QTreeWidgetItem]:
        """The blocks on the shelves, from top to bottom."""
        for place in range(self.tree.topLevelItemCount()):
            shelf = self.tree.topLevelItem(place)
            yield from _children(shelf) if shelf is not None else ()

    def found(self) -> list[str]:
        """The kinds that the search leaves, from top to bottom."""
        return [str(item.data(0, _KIND_ROLE)) for item in self.items() if not item.isHidden()]

    def _filter(self, wanted: str) -> None:
        """By name in the window's language and in English, by kind, and by what the block does."""
        words = wanted.casefold().split()
        for item in self.items():
            spec = BLOCKS[str(item.data(0, _KIND_ROLE))]
            text = f"{_names(spec)} {tr(spec.help).casefold()}"
            item.setHidden(not all(word in text for word in words))
        for place in range(self.tree.topLevelItemCount()):
            shelf = self.tree.topLevelItem(place)
            if shelf is not None:
                shelf.setHidden(all(item.isHidden() for item in _children(shelf)))
        self._nothing.setVisible(not self.found())

    def _use(self, item: QTreeWidgetItem) -> None:
        kind = item.data(0, _KIND_ROLE)
        if kind:
            self.used.emit(kind)

    def _use_first(self) -> None:
        found, words = self.found(), self.search.text().casefold().split()
        if words and found:
            # What has it in its name is meant before what only mentions it.
            self.used.emit(min(found, key=lambda kind: not all(word in _names(BLOCKS[kind]) for word in words)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The down key goes from the search into what it found."""
        is_key = watched is self.search and event.type() == QEvent.Type.KeyPress
        if is_key and cast(QKeyEvent, event).key() == Qt.Key.Key_Down:
            first = next((item for item in self.items() if not item.isHidden()), None)
            if first is not None:
                self.tree.setCurrentItem(first)
                self.tree.setFocus(Qt.FocusReason.TabFocusReason)
            return True
        return super().eventFilter(watched, event)
