"""What the Network page shows of a network, and what its parts offer to mend it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QCheckBox, QPushButton, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from studio.core.blocks import BLOCKS, Group
from studio.core.check import check
from studio.core.edits import SetBlock, SetPart
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Network, Preprocessing, Project
from studio.core.templates import templates
from studio.core.text import set_language
from studio.view.devices import Device
from studio.view.network.delegate import card_height, layout_of
from studio.view.network.drawing import slabs_of
from studio.view.network.rows import INPUT, spoken
from studio.view.network.wording import settings_text
from studio.view.pages.network import NetworkPage
from studio.view.problemcard import ProblemCard
from studio.view.workspace import PageStatus, Workspace
from tests.view.composing import KINDS, click_row, digits, ids, key, kinds, named, press, row, shown
from tests.view.fakes import FakeEngine

pytestmark = pytest.mark.qt


@pytest.fixture
def page(workspace: Workspace, qtbot: QtBot) -> Iterator[NetworkPage]:
    workspace.document.open(digits())
    page = shown(workspace, qtbot)
    yield page
    page.hide()


def test_that_a_row_says_settings_shape_and_parameters(page: NetworkPage) -> None:
    first = row(page, "b1")
    assert (first.title, first.details, first.shape) == ("Convolution", "3x3, 16 filters, padding 1", "16 x 28 x 28")
    assert first.parameters == 16 * 9 + 16 and first.group is Group.CONVOLUTION
    assert row(page, "b11").details == "as many as classes" and row(page, "b10").details == "50%"


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (Block("b", "patch_embedding"), "Patch 8, Width 192, Class token"),
        (Block("b", "token_pool", FrozenMap(takes="class")), "The class token"),
        (Block("b", "transformer_encoder"), "Layers 6, Heads 3"),
        (Block("b", "conv2d", FrozenMap(padding=None)), "3x3, 16 filters, keeps the size"),
        (Block("b", "mlp", FrozenMap(activation="gelu", rate=0.1)), "Widths 256, 128, GELU, 10%"),
        (Block("b", "dropout", FrozenMap(rate=0.0)), "0%"),
    ],
)
def test_that_settings_are_said_in_words(block: Block, said: str) -> None:
    assert settings_text(block) == said


def test_that_a_screen_reader_hears_the_whole_row(page: NetworkPage) -> None:
    text = QAccessible.queryAccessibleInterface(page.list).child(1).text(QAccessible.Text.Name)
    start = "Convolution, 3x3, 16 filters, padding 1, output 16 x 28 x 28, 160 parameters"
    assert text.startswith(start) and text.endswith("no problem")


def test_that_the_shares_of_memory_add_up_to_the_blocks_part_of_the_forecast(page: NetworkPage) -> None:
    forecast = page.workspace.document.report.forecast
    assert forecast is not None
    training = forecast.training
    blocks = training.weights + training.gradients + training.optimiser + training.activations
    assert sum(r.memory_bytes or 0 for r in page.list.rows.rows) == pytest.approx(blocks, rel=1e-6)
    assert sum(r.share or 0 for r in page.list.rows.rows) == pytest.approx(blocks / training.tensors, rel=1e-6)


def test_that_the_down_key_leads_from_the_search_to_what_it_found(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b11")
    qtbot.keyClicks(page.shelf.search, "gelu")
    qtbot.keyClick(page.shelf.search, Qt.Key.Key_Down)
    qtbot.keyClick(page.shelf.tree, Qt.Key.Key_Return)
    assert kinds(page) == [*KINDS, "gelu"]


def test_that_the_palette_offers_blocks_with_one_input_and_finds_them_by_name_and_help(page: NetworkPage) -> None:
    assert sorted(page.shelf.found()) == sorted(kind for kind, spec in BLOCKS.items() if spec.inputs == (1, 1))
    page.shelf.search.setText("learn by heart")
    assert page.shelf.found() == ["dropout"]
    page.shelf.search.setText("no such block")
    assert page.shelf.found() == []


def test_that_an_english_name_finds_a_block_in_chinese_too(workspace: Workspace, qtbot: QtBot) -> None:
    set_language("zh_CN")
    page = shown(workspace, qtbot)
    page.shelf.search.setText("dropout")
    assert page.shelf.found() == ["dropout", "spatial_dropout"]
    page.shelf.search.setText("最大")
    assert "max_pool" in page.shelf.found()


def test_that_a_wrong_block_says_so_in_its_row_and_offers_the_nearest_value(page: NetworkPage, qtbot: QtBot) -> None:
    height = layout_of(row(page, "b6"), page.list.rect()).card.height()
    page.workspace.document.apply(SetBlock("b6", "kernel", 20), "Change")
    wrong = row(page, "b6")
    assert "does not fit" in wrong.trouble and wrong.link == "Set Kernel to 14"
    assert layout_of(wrong, page.list.rect()).card.height() > height
    assert spoken(wrong).endswith(wrong.trouble)
    index = page.list.rows.index(page.list.rows.row_of("b6") or 0)
    page.list.scrollTo(index)
    link = layout_of(wrong, page.list.visualRect(index)).link
    qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=link.center())
    block = page.workspace.document.project.network.block("b6")
    assert block is not None and block.settings["kernel"] == 14 and not row(page, "b6").problems


def test_that_the_inspector_shows_the_problem_with_buttons_that_mend_it(page: NetworkPage, qtbot: QtBot) -> None:
    page.workspace.document.apply(SetBlock("b6", "kernel", 20), "Change")
    click_row(page, qtbot, "b6")
    card = page.inspector.findChild(ProblemCard)
    assert card is not None
    labels = [button.text() for button in card.findChildren(QPushButton)]
    assert labels == ["Set Kernel to 14", "Set Padding to 3"]
    press(card, qtbot, "fix.1")
    block = page.workspace.document.project.network.block("b6")
    assert block is not None and block.settings["padding"] == 3


def test_that_return_goes_from_a_block_to_its_first_setting(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b1")
    key(page, qtbot, Qt.Key.Key_Return)
    assert page.focusWidget() is named(page.inspector, "field.out_channels")


def test_that_following_the_classes_is_shown_as_their_number(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b11")
    spin, follow = named(page.inspector, "field.out_features"), named(page.inspector, "field.out_features.none")
    assert isinstance(spin, QSpinBox) and isinstance(follow, QCheckBox)
    assert follow.isChecked() and spin.value() == 10 and not spin.isEnabled()
    follow.click()
    block = page.workspace.document.project.network.block("b11")
    assert block is not None and block.settings["out_features"] == 10


def test_that_a_setting_of_the_wrong_type_does_not_break_the_inspector(page: NetworkPage, qtbot: QtBot) -> None:
    page.workspace.document.apply(SetBlock("b1", "kernel", "three"), "Change")
    click_row(page, qtbot, "b1")
    spin = named(page.inspector, "field.kernel")
    assert isinstance(spin, QSpinBox) and spin.value() == 3
    assert "Kernel three" in row(page, "b1").details and row(page, "b1").problems


def test_that_an_unknown_block_is_shown_and_can_be_removed(page: NetworkPage, qtbot: QtBot) -> None:
    network = Network((Block("b1", "mystery", FrozenMap(size=3)), *templates()["mlp"].network.blocks[1:]))
    page.workspace.document.open(digits(network))
    click_row(page, qtbot, "b1")
    assert row(page, "b1").title == "mystery"
    press(page.inspector, qtbot, "fix.0")
    assert "b1" not in ids(page)


def test_that_freezing_is_undoable_and_shown(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b1")
    qtbot.keyClick(named(page.inspector, "network.frozen"), Qt.Key.Key_Space)
    assert row(page, "b1").is_frozen and "frozen" in spoken(row(page, "b1"))
    assert page.workspace.document.undo_label == "Freeze Convolution"
    click_row(page, qtbot, "b2")
    assert page.inspector.findChild(QWidget, "network.frozen") is None


def test_that_the_buttons_of_the_inspector_move_copy_and_delete(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b2")
    press(page.inspector, qtbot, "network.down")
    assert ids(page)[:3] == ["b1", "b3", "b2"]
    press(page.inspector, qtbot, "network.up")
    assert ids(page)[:3] == ["b1", "b2", "b3"]
    press(page.inspector, qtbot, "network.duplicate")
    assert kinds(page)[:3] == ["conv2d", "relu", "relu"]
    press(page.inspector, qtbot, "network.delete")
    assert kinds(page) == KINDS


def test_that_the_input_row_leads_to_the_data_page(page: NetworkPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.workspace.navigator.wanted) as blocker:
        page.composer.select((INPUT,))
        key(page, qtbot, Qt.Key.Key_Return)
    assert blocker.args == ["data", ""]
    with qtbot.waitSignal(page.workspace.navigator.wanted):
        press(page.inspector, qtbot, "network.data")


def test_that_without_pictures_the_output_says_where_classes_come_from(workspace: Workspace, qtbot: QtBot) -> None:
    workspace.document.open(Project(network=templates()["simple_cnn"].network))
    page = shown(workspace, qtbot)
    output = page.list.rows.rows[-1]
    assert output.title == "Output: classes not known yet" and output.link == "Choose pictures"
    assert not output.problems


def test_that_the_footing_counts_and_forecasts(page: NetworkPage) -> None:
    report = page.workspace.document.report
    assert report.forecast is not None
    assert f"{report.parameters:,} parameters" in page.footing.counts.text()
    page.devices.known = (Device("cpu", "this computer", 2 * report.forecast.training.total),)
    page.footing.refresh()
    assert "50.0%" in page.footing.need.text() and page.footing.problem is None


def test_that_the_footing_turns_red_before_a_run_and_offers_the_largest_batch(page: NetworkPage, qtbot: QtBot) -> None:
    document = page.workspace.document
    report = document.report
    assert report.forecast is not None
    document.apply(SetPart("recipe", "batch_size", 8192), "Batch")
    page.devices.known = (Device("cpu", "this computer", report.forecast.training.total * 2),)
    page.footing.refresh()
    assert page.footing.property("role") == "card-error" and page.status() is PageStatus.WARNING
    assert "this computer" in page.footing.need.text()
    press(page.footing, qtbot, "network.memory_fix")
    assert page.footing.problem is None and page.footing.property("role") == "card"
    batch = document.project.recipe.batch_size
    document.apply(SetPart("recipe", "batch_size", batch * 2), "Batch")
    assert page.footing.problem is not None


def test_that_a_graphics_card_is_compared_without_the_framework(
    workspace: Workspace, engine: FakeEngine, qtbot: QtBot
) -> None:
    card = {"device": "cuda:0", "name": "Card 9", "total_bytes": 8 * 1024**3}
    cpu = {"device": "cpu", "name": "Some CPU", "total_bytes": 1}
    engine.answers["devices"] = {"type": "devices", "items": [card, cpu]}
    workspace.document.open(digits())
    page = shown(workspace, qtbot)
    qtbot.waitUntil(lambda: bool(page.devices.known))
    assert "Card 9" in page.footing.need.text() and "8.0 GiB" in page.footing.need.text()
    assert "Framework" not in page.footing.legend.text()
    workspace.document.apply(SetPart("recipe", "device", "cpu"), "Device")
    assert "this computer" in page.footing.need.text() and "Framework" in page.footing.legend.text()


def test_that_the_page_never_starts_the_engine(workspace: Workspace, engine: FakeEngine, qtbot: QtBot) -> None:
    engine.state = "off"
    page = shown(workspace, qtbot)
    assert engine.questions == []
    engine.state = "ready"
    page.devices.ask()
    assert engine.questions == [("devices",)]


def test_that_a_click_in_the_drawing_selects_the_block(page: NetworkPage, qtbot: QtBot) -> None:
    drawing = page.drawing.drawing
    assert page.drawing.isVisible()
    slab, place = next((slab, place) for slab, place in drawing.places() if slab.id == "b4")
    qtbot.mouseClick(drawing, Qt.MouseButton.LeftButton, pos=place.center().toPoint())
    assert page.composer.selected == ("b4",) and slab.label == "32 x 14 x 14"


def test_that_large_numbers_in_the_drawing_are_grouped() -> None:
    blocks = (Block("b1", "conv2d", FrozenMap(out_channels=32)), Block("b2", "flatten"))
    project = Project(network=Network(blocks), preprocessing=Preprocessing(height=24, width=24))
    assert slabs_of(project, check(project), 150.0)[-1].label == "18,432"


def test_that_the_list_gives_each_row_the_height_of_its_card(page: NetworkPage) -> None:
    page.workspace.document.apply(SetBlock("b6", "kernel", 20), "Change")
    width = page.list.viewport().width()
    for shown_row in page.list.rows.rows:
        assert card_height(shown_row, width) == layout_of(shown_row, QRect(0, 0, width, 0)).card.height()


def test_that_larger_maps_are_drawn_wider_and_more_channels_thicker(page: NetworkPage) -> None:
    slabs = {slab.id: slab for slab, _ in page.drawing.drawing.places()}
    assert slabs["b1"].width > slabs["b3"].width > slabs["b6"].width
    assert slabs["b4"].thickness > slabs["b1"].thickness > slabs[INPUT].thickness
    assert slabs["b2"].label == ""


def test_that_the_drawing_can_be_hidden(page: NetworkPage, qtbot: QtBot) -> None:
    press(page, qtbot, "network.show_drawing")
    assert not page.drawing.isVisible()
    press(page, qtbot, "network.show_drawing")
    assert page.drawing.isVisible()


def test_that_every_control_has_a_name_and_a_sentence(page: NetworkPage, qtbot: QtBot) -> None:
    click_row(page, qtbot, "b1")
    controls = [w for kind in (QPushButton, QCheckBox, QSpinBox) for w in page.findChildren(kind)]
    assert len(controls) > 10
    nameless = [w.objectName() or w for w in controls if not (w.accessibleName() and w.toolTip())]
    assert not nameless
