"""What a person does to the network: each deed one undoable edit, with a selection that stays sensible after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from studio.core.blocks import BLOCKS
from studio.core.fields import Value
from studio.core.problem import Fix, Problem
from studio.core.project import Block, Network, Project
from studio.core.templates import Template
from studio.core.text import tr
from studio.view.document import Document
from studio.view.network import changes
from studio.view.network.clipping import blocks_from_text
from studio.view.network.model import mime_of, text_in
from studio.view.network.rows import INPUT, OUTPUT
from studio.view.network.wording import block_label, blocks_in_words

# A pause this long ends a drag or a run of key presses: what follows is an undo step of its own.
SEAL_MS = 900


class Composer(QObject):
    """Edits the network of the open project.

    `selected` are the ids of the selected rows, set by the list. `selection_wanted(ids)` asks the list to select
    others. `refused(Problem)` says why something could not be done; `accepted()` that the last deed went well.
    """

    selection_wanted = Signal(tuple)
    selected_changed = Signal()
    refused = Signal(object)
    accepted = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.selected: tuple[str, ...] = ()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(SEAL_MS)
        self._pause.timeout.connect(document.seal)

    @property
    def network(self) -> Network:
        return self._document.project.network

    @property
    def chosen(self) -> tuple[Block, ...]:
        """The selected blocks, in the network's order."""
        return tuple(block for block in self.network.blocks if block.id in self.selected)

    def set_selected(self, ids: Sequence[str]) -> None:
        """Told by the list: these rows are selected now."""
        if tuple(ids) != self.selected:
            self.selected = tuple(ids)
            self.seal()
            self.selected_changed.emit()

    def seal(self) -> None:
        """End the present drag, so that the next edit is an undo step of its own."""
        if self._pause.isActive():
            self._pause.stop()
            self._document.seal()

    def place_after_selection(self) -> int:
        """Where a new block goes: after the last selected row; at the end where nothing is selected."""
        places = [place for place, block in enumerate(self.network.blocks) if block.id in self.selected]
        if places:
            return places[-1] + 1
        return 0 if self.selected == (INPUT,) else len(self.network.blocks)

    def insert_kind(self, kind: str, place: int | None = None) -> None:
        """A new block with its default settings, after the selection or at `place`."""
        self._insert((Block("new", kind),), tr("Add {block}", block=block_label(kind)), self._place(place))

    def insert_blocks(self, blocks: Sequence[Block], place: int | None = None) -> None:
        """Blocks that were dropped."""
        label = tr("Add {block}", block=blocks_in_words(len(blocks), blocks[0].kind))
        self._insert(blocks, label, self._place(place))

    def _place(self, place: int | None) -> int:
        return self.place_after_selection() if place is None else place

    def _insert(self, blocks: Sequence[Block], label: str, place: int) -> None:
        network, ids = changes.inserted(self.network, blocks, place)
        self._commit(label, network, ids)

    def remove(self) -> None:
        """Take the selected blocks out; what follows them is selected next."""
        chosen = self.chosen
        if chosen:
            self._remove(tr("Delete {block}", block=self._words(chosen)), chosen)

    def _remove(self, label: str, chosen: tuple[Block, ...]) -> None:
        ids = {block.id for block in chosen}
        first = self.network.position(chosen[0].id)
        network = changes.removed(self.network, ids)
        follower = network.blocks[min(first, len(network.blocks) - 1)].id if network.blocks else OUTPUT
        self._commit(label, network, (follower,))

    def duplicate(self) -> None:
        """Copies of the selected blocks after the last of them."""
        chosen = self.chosen
        if chosen:
            network, ids = changes.duplicated(self.network, {block.id for block in chosen})
            self._commit(tr("Duplicate {block}", block=self._words(chosen)), network, ids)

    def copy(self) -> bool:
        """The selected blocks onto the system's clipboard; whether there were any."""
        chosen = self.chosen
        if chosen:
            QGuiApplication.clipboard().setMimeData(mime_of(chosen))
            self.accepted.emit()
        return bool(chosen)

    def cut(self) -> None:
        chosen = self.chosen
        if self.copy():
            self._remove(tr("Cut {block}", block=self._words(chosen)), chosen)

    def paste(self) -> None:
        """The clipboard's blocks after the selection; anything else is refused in words."""
        blocks = blocks_from_text(text_in(QGuiApplication.clipboard().mimeData()))
        if isinstance(blocks, Problem):
            self.refused.emit(blocks)
            return
        label = tr("Paste {block}", block=self._words(blocks))
        self._insert(blocks, label, self.place_after_selection())

    def shift(self, step: int) -> None:
        """The selected blocks one place up (-1) or down (+1)."""
        chosen = self.chosen
        network = changes.shifted(self.network, {block.id for block in chosen}, step)
        self._commit_move(network, chosen)

    def move_to(self, ids: Sequence[str], place: int) -> None:
        """These blocks to before what stands at `place`."""
        chosen = tuple(block for block in self.network.blocks if block.id in ids)
        self._commit_move(changes.moved(self.network, set(ids), place), chosen)

    def _commit_move(self, network: Network, chosen: tuple[Block, ...]) -> None:
        if network is not self.network:
            ids = tuple(block.id for block in chosen)
            self._commit(tr("Move {block}", block=self._words(chosen)), network, ids)

    def set_value(self, id: str, name: str, value: Value) -> None:
        """One setting of one block; the steps of a drag become one undo step."""
        block = self.network.block(id)
        if block is None or block.settings.get(name, _Absent) == value:
            return
        field = BLOCKS[block.kind].field(name)
        facts = {"field": tr(field.label) if field else name, "block": block_label(block.kind)}
        network = changes.with_setting(self.network, id, name, value)
        self._commit(tr("Change {field} of {block}", **facts), network, merge=f"network.{id}.{name}")
        self._pause.start()

    def freeze(self, is_frozen: bool) -> None:
        """Keep the selected blocks' weights as they are, or train them."""
        chosen = self.chosen
        words = self._words(chosen)
        label = tr("Freeze {block}", block=words) if is_frozen else tr("Unfreeze {block}", block=words)
        network = changes.with_frozen(self.network, {block.id for block in chosen}, is_frozen)
        self._commit(label, network)

    def use_template(self, template: Template) -> None:
        """Another network in place of the present one. It asks nothing, since it can be undone."""
        first = template.network.blocks[:1]
        self._commit(tr("Use {template}", template=template.label), template.network, tuple(b.id for b in first))

    def apply_fix(self, fix: Fix) -> None:
        """A proposed repair, as an ordinary edit."""
        self._document.apply_fix(fix)
        self.accepted.emit()

    def select(self, ids: Sequence[str]) -> None:
        self.selection_wanted.emit(tuple(ids))

    def select_all(self) -> None:
        self.select([block.id for block in self.network.blocks])

    def _words(self, blocks: Sequence[Block]) -> str:
        return blocks_in_words(len(blocks), blocks[0].kind)

    def _commit(
        self, label: str, network: Network, select: Sequence[str] | None = None, merge: str | None = None
    ) -> None:
        def edit(project: Project) -> Project:
            return replace(project, network=network)

        self._document.edit(label, edit, merge)
        if select is not None:
            self.select(select)
        self.accepted.emit()


class _Absent:
    """Stands for a setting that is not given: no value equals it."""
