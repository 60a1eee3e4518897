"""Composing a network on its page, by mouse and keyboard, over a real document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QListView, QSpinBox
from pytestqt.qtbot import QtBot

from studio.core.edits import SetBlock
from studio.core.project import Block, Network
from studio.view.network.model import mime_of
from studio.view.network.rows import INPUT, OUTPUT
from studio.view.pages.network import NetworkPage
from studio.view.workspace import PageStatus, Workspace
from tests.view.composing import (
    ALT,
    CONTROL,
    KINDS,
    SHIFT,
    click_row,
    digits,
    drop,
    ids,
    key,
    kinds,
    named,
    press,
    row,
    shown,
)

pytestmark = pytest.mark.qt


@pytest.fixture
def page(workspace: Workspace, qtbot: QtBot) -> Iterator[NetworkPage]:
    workspace.document.open(digits())
    page = shown(workspace, qtbot)
    yield page
    page.hide()


def test_that_the_list_runs_from_the_input_to_the_output(page: NetworkPage) -> None:
    rows = page.list.rows.rows
    assert [rows[0].id, *ids(page), rows[-1].id] == [row.id for row in rows]
    assert rows[0].title == "Input 1 x 28 x 28" and "grey" in rows[0].details
    assert rows[-1].title == "Output: 10 classes"


def test_that_enter_in_the_palette_inserts_after_the_selection(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b1")
    qtbot.keyClicks(page.shelf.search, "batch norm")
    qtbot.keyClick(page.shelf.search, Qt.Key.Key_Return)
    assert kinds(page)[:3] == ["conv2d", "batch_norm", "relu"]
    assert page.composer.selected == (ids(page)[1],)
    assert page.workspace.document.undo_label == "Add Batch normalisation"


def test_that_a_double_click_in_the_palette_inserts(page: NetworkPage, qtbot: QtBot) -> None:
    item = next(item for item in page.shelf.items() if item.text(0) == "Dropout")
    page.shelf.tree.scrollToItem(item)
    spot = page.shelf.tree.visualItemRect(item).center()
    qtbot.mouseClick(page.shelf.tree.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.mouseDClick(page.shelf.tree.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert kinds(page) == [*KINDS, "dropout"]


def test_that_delete_takes_the_selection_out_and_selects_what_follows(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b2")
    key(page, qtbot, Qt.Key.Key_Delete)
    assert ids(page)[:2] == ["b1", "b3"] and page.composer.selected == ("b3",)
    page.workspace.document.undo()
    assert kinds(page) == KINDS and page.composer.selected == ("b2",)


def test_that_several_blocks_are_deleted_as_one_step(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b1")
    click_row(page, qtbot, "b3", SHIFT)
    key(page, qtbot, Qt.Key.Key_Delete)
    assert page.workspace.document.undo_label == "Delete 3 blocks"
    page.workspace.document.undo()
    assert kinds(page) == KINDS and page.composer.selected == ("b1", "b2", "b3")


def test_that_input_and_output_cannot_be_deleted_or_moved(page: NetworkPage, qtbot: QtBot) -> None:
    before = page.workspace.document.project
    page.list.selectAll()
    page.composer.select((INPUT,))
    key(page, qtbot, Qt.Key.Key_Delete)
    key(page, qtbot, Qt.Key.Key_Down, ALT)
    assert page.workspace.document.project is before


def test_that_ctrl_d_duplicates_and_selects_the_copies(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b1")
    click_row(page, qtbot, "b2", SHIFT)
    key(page, qtbot, Qt.Key.Key_D, CONTROL)
    assert kinds(page)[:5] == ["conv2d", "relu", "conv2d", "relu", "max_pool"]
    assert page.composer.selected == tuple(ids(page)[2:4])
    assert len(set(ids(page))) == len(ids(page))


def test_that_alt_and_arrows_move_the_selection_together(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b2")
    click_row(page, qtbot, "b3", SHIFT)
    key(page, qtbot, Qt.Key.Key_Up, ALT)
    assert ids(page)[:3] == ["b2", "b3", "b1"] and page.composer.selected == ("b2", "b3")
    key(page, qtbot, Qt.Key.Key_Up, ALT)
    assert ids(page)[:3] == ["b2", "b3", "b1"]
    key(page, qtbot, Qt.Key.Key_Down, ALT)
    assert ids(page)[:3] == ["b1", "b2", "b3"]


def test_that_copied_blocks_can_be_pasted_and_cut_takes_them_out(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b4")
    key(page, qtbot, Qt.Key.Key_X, CONTROL)
    assert "b4" not in ids(page) and page.workspace.document.undo_label == "Cut Convolution"
    click_row(page, qtbot, "b1")
    key(page, qtbot, Qt.Key.Key_V, CONTROL)
    pasted = page.workspace.document.project.network.blocks[1]
    assert (pasted.kind, pasted.settings["out_channels"]) == ("conv2d", 32)
    assert page.composer.selected == (pasted.id,)


def test_that_the_clipboard_holds_readable_text(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b1")
    key(page, qtbot, Qt.Key.Key_C, CONTROL)
    plain = json.loads(QGuiApplication.clipboard().text())
    assert [block["kind"] for block in plain["blocks"]] == ["conv2d"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "not a list of blocks"),
        ("", "no blocks on the clipboard"),
        ('{"format": "lantern-studio-blocks", "version": 9, "blocks": []}', "another version"),
        ('{"format": "lantern-studio-blocks", "version": 1, "blocks": [{"id": 3}]}', "cannot be used"),
    ],
)
def test_that_foreign_text_is_refused_in_a_sentence(page: NetworkPage, qtbot: QtBot, text: str, words: str) -> None:
    before = page.workspace.document.project
    QGuiApplication.clipboard().setText(text)
    key(page, qtbot, Qt.Key.Key_V, CONTROL)
    assert page.workspace.document.project is before
    assert page.notice.isVisible() and words in page.notice.words.text()
    click_row(page, qtbot, "b2")
    key(page, qtbot, Qt.Key.Key_Delete)
    assert not page.notice.isVisible()


def test_that_ctrl_a_selects_every_block_and_neither_end(page: NetworkPage, qtbot: QtBot) -> None:
    key(page, qtbot, Qt.Key.Key_A, CONTROL)
    assert page.composer.selected == tuple(ids(page))


def test_that_the_list_keeps_its_keys_from_the_windows_shortcuts(page: NetworkPage) -> None:
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_C, CONTROL)
    event.ignore()
    page.list.event(event)
    assert event.isAccepted()


def test_that_dragged_rows_are_put_where_they_are_dropped(page: NetworkPage, monkeypatch: pytest.MonkeyPatch) -> None:
    page.composer.select(("b1", "b3"))
    rect = page.list.visualRect(page.list.rows.index(6))
    dragged = page.list.rows.mimeData(page.list.selectedIndexes())

    def drag(_list: QListView, _actions: Qt.DropAction) -> None:
        drop(page, dragged, QPoint(rect.center().x(), rect.top() + 4))

    monkeypatch.setattr(QListView, "startDrag", drag)
    page.list.startDrag(Qt.DropAction.MoveAction)
    assert ids(page)[:5] == ["b2", "b4", "b5", "b1", "b3"]
    assert page.composer.selected == ("b1", "b3")
    assert page.workspace.document.undo_label == "Move 2 blocks"


def test_that_a_drop_goes_between_the_rows_and_never_outside_of_the_ends(page: NetworkPage) -> None:
    def spot(place: int, share: float) -> QPoint:
        rect = page.list.visualRect(page.list.rows.index(place))
        return QPoint(rect.center().x(), round(rect.top() + share * rect.height()))

    assert page.list.place_at(spot(0, 0.1)) == 0
    assert page.list.place_at(spot(2, 0.2)) == 1
    assert page.list.place_at(spot(2, 0.8)) == 2
    last = len(KINDS) + 1
    page.list.scrollToBottom()
    assert page.list.place_at(spot(last, 0.9)) == len(KINDS)


def test_that_a_block_dropped_from_the_palette_is_inserted_there(page: NetworkPage) -> None:
    rect = page.list.visualRect(page.list.rows.index(2))
    drop(page, mime_of([Block("new", "gelu")]), QPoint(rect.center().x(), rect.top() + 4))
    assert kinds(page)[:3] == ["conv2d", "gelu", "relu"]
    assert page.composer.selected == (ids(page)[1],)


def test_that_a_whole_network_of_200_blocks_is_not_built_again_for_one_edit(workspace: Workspace, qtbot: QtBot) -> None:
    many = tuple(Block(f"b{n}", "relu") for n in range(199))
    workspace.document.open(digits(Network((*many, Block("b199", "flatten")))))
    page = shown(workspace, qtbot)
    seen: list[str] = []
    model = page.list.rows
    model.modelReset.connect(lambda: seen.append("reset"))
    model.rowsInserted.connect(lambda _p, first, last: seen.append(f"inserted {first}-{last}"))
    model.rowsRemoved.connect(lambda _p, first, last: seen.append(f"removed {first}-{last}"))
    model.rowsMoved.connect(lambda: seen.append("moved"))
    page.composer.insert_kind("gelu", 100)
    page.composer.select(("b0",))
    page.composer.move_to(("b0",), 150)
    page.composer.select((ids(page)[99],))
    page.composer.remove()
    assert seen == ["inserted 101-101", "moved", "removed 100-100"]


def test_that_every_reordering_is_followed(workspace: Workspace, qtbot: QtBot) -> None:
    page = shown(workspace, qtbot)
    blocks = {name: Block(name, "relu") for name in "abcdefgh"}
    for order in ("abcdefgh", "hgfedcba", "badcfehg", "cah", "hxcya", "", "abc"):
        made = tuple(blocks.get(name, Block(name, "gelu")) for name in order)
        workspace.document.edit(order, lambda p, made=made: replace(p, network=Network(made)))  # type: ignore[misc]
        assert [r.id for r in page.list.rows.rows] == [INPUT, *order, OUTPUT]


def test_that_a_spin_drag_is_one_undo_step_and_the_field_keeps_the_keyboard(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b4")
    spin = named(page.inspector, "field.out_channels")
    assert isinstance(spin, QSpinBox)
    spin.setFocus()
    for _ in range(4):
        qtbot.keyClick(spin, Qt.Key.Key_Up)
    block = page.workspace.document.project.network.block("b4")
    assert block is not None and block.settings["out_channels"] == 36
    assert named(page.inspector, "field.out_channels") is spin
    assert page.workspace.document.undo_label == "Change Filters of Convolution"
    page.workspace.document.undo()
    assert spin.value() == 32 and page.workspace.document.undo_label is None


def test_that_another_selection_ends_the_drag(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b4")
    page.composer.set_value("b4", "out_channels", 40)
    click_row(page, qtbot, "b1")
    click_row(page, qtbot, "b4")
    page.composer.set_value("b4", "out_channels", 48)
    page.workspace.document.undo()
    block = page.workspace.document.project.network.block("b4")
    assert block is not None and block.settings["out_channels"] == 40


def test_that_alt_return_applies_the_nearest_fix(page: NetworkPage, qtbot: QtBot) -> None:
    page.workspace.document.apply(SetBlock("b6", "kernel", 20), "Change")
    click_row(page, qtbot, "b6")
    key(page, qtbot, Qt.Key.Key_Return, ALT)
    assert not row(page, "b6").problems


def test_that_an_empty_network_offers_the_templates(workspace: Workspace, qtbot: QtBot) -> None:
    page = shown(workspace, qtbot)
    assert page.status() is PageStatus.NOTHING and page.start.isVisible() and not page.footing.isVisible()
    press(page.start, qtbot, "network.start.simple_cnn")
    assert kinds(page) == KINDS and page.list.isVisible() and page.composer.selected == ("b1",)
    workspace.document.undo()
    assert page.start.isVisible()


def test_that_a_template_replaces_the_network_as_one_undoable_step(page: NetworkPage) -> None:
    actions = {action.id: action for action in page.actions_of_page()}
    actions["network.template.mlp"].run()
    assert kinds(page)[0] == "flatten" and page.workspace.document.undo_label == "Use MLP"
    page.workspace.document.undo()
    assert kinds(page) == KINDS


def test_that_the_status_follows_the_network(page: NetworkPage, qtbot: QtBot) -> None:
    assert page.status() is PageStatus.READY
    with qtbot.waitSignal(page.status_changed):
        page.workspace.document.apply(SetBlock("b6", "kernel", 20), "Change")
    assert page.status() is PageStatus.ERROR and "does not fit" in page.status_text()


def test_that_a_target_is_selected(page: NetworkPage) -> None:
    page.show_target("b7")
    assert page.composer.selected == ("b7",)
    page.show_target("gone")
    assert page.composer.selected == ("b7",)


def test_that_actions_are_named_once_and_ask_whether_they_can_be_done(page: NetworkPage, qtbot: QtBot) -> None:
    page.list.clearSelection()
    page.workspace.actions.add(page.actions_of_page())
    actions = page.workspace.actions
    assert all(action.menu == "Network" and action.help for action in actions)
    assert not actions["network.delete"].enabled()
    click_row(page, qtbot, "b1")
    assert actions["network.delete"].enabled() and not actions["network.fix"].enabled()
    actions.trigger("network.duplicate")
    assert kinds(page)[:2] == ["conv2d", "conv2d"]
    page.hide()
    assert not actions["network.delete"].enabled()
