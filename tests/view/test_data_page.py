"""The Data page tells the truth about a folder, and every click on it is an undoable edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QMenu, QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from studio.core.project import Preprocessing, Project
from studio.core.templates import default_network
from studio.view.data.enlarged import EnlargedPicture
from studio.view.data.findings import FindingCard
from studio.view.data.preview import Preview
from studio.view.pages.data import DataPage
from studio.view.workspace import PageStatus, Workspace

pytestmark = pytest.mark.qt

MakeFolder = Callable[..., Path]


@pytest.fixture
def make_folder(tmp_path: Path) -> MakeFolder:
    def make(name: str = "fruit", classes: tuple[str, ...] = ("apple", "pear"), count: int = 6) -> Path:
        root = tmp_path / name
        for number, label in enumerate(classes):
            (root / label).mkdir(parents=True)
            for picture in range(count):
                colour = (40 * number + 20, 10 * picture, 200 - 9 * picture)
                Image.new("RGB", (20, 20), colour).save(root / label / f"p{picture}.png")
        return root

    return make


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> DataPage:
    workspace.document.open(Project(network=default_network()))
    page = DataPage(workspace)
    qtbot.addWidget(page)
    page.resize(1100, 700)
    page.show()
    return page


def choose(qtbot: QtBot, page: DataPage, folder: Path) -> None:
    page.workspace.pictures.choose(folder)
    qtbot.waitUntil(lambda: not page.workspace.pictures.is_busy, timeout=10_000)


def button(page: DataPage, name: str) -> QPushButton:
    found = page.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def test_that_an_empty_project_says_what_to_do(page: DataPage) -> None:
    assert page.status() is PageStatus.NOTHING
    assert button(page, "data.choose_first").isVisible()


def test_that_a_folder_fills_classes_grid_and_split(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    choose(qtbot, page, make_folder())
    project = page.workspace.document.project
    assert project.data.classes == ("apple", "pear")
    assert (project.preprocessing.width, project.preprocessing.height) == (20, 20)
    assert page._class_model.rowCount() == 2
    assert page._browser.model.rowCount() == 12
    split = page.workspace.pictures.split
    assert split is not None
    assert len(split.train) + len(split.validation) == 12
    assert "12 pictures in 2 classes" in page.status_text()
    assert page.status() in (PageStatus.READY, PageStatus.WARNING)


def test_that_choosing_a_folder_is_one_step_to_undo(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    before = page.workspace.document.project
    choose(qtbot, page, make_folder())
    page.workspace.document.undo()
    assert page.workspace.document.project == before
    assert page.status() is PageStatus.NOTHING


def test_that_a_corrupt_file_is_left_out_named_and_shown(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    folder = make_folder()
    (folder / "apple" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    choose(qtbot, page, folder)
    cards = page.findChildren(FindingCard)
    card = next(card for card in cards if "apple/broken.png" in card.problem.files)
    qtbot.mouseClick(card.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert page._browser.model.rowCount() == 1
    shown = page._browser.model.index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert "broken.png" in shown
    assert "left out" in shown
    qtbot.mouseClick(button(page, "data.show_all"), Qt.MouseButton.LeftButton)
    assert page._browser.model.rowCount() == 13


def test_that_a_picture_left_out_by_a_fix_goes_and_comes_back_with_undo(
    qtbot: QtBot, page: DataPage, make_folder: MakeFolder
) -> None:
    folder = make_folder()
    copy = folder / "pear" / "copy.png"
    copy.write_bytes((folder / "apple" / "p0.png").read_bytes())
    choose(qtbot, page, folder)
    before = page.workspace.pictures.inspection
    assert before is not None
    assert sum(before.counts()) == 13
    card = next(card for card in page.findChildren(FindingCard) if card.problem.code == "conflicting_labels")
    page.workspace.document.apply_fix(card.problem.fixes[-1])
    after = page.workspace.pictures.inspection
    assert after is not None
    assert sum(after.counts()) < 13 or after.relabelled.size
    assert "conflicting_labels" not in {problem.code for problem in page.workspace.pictures.problems}
    assert copy.is_file()
    page.workspace.document.undo()
    again = page.workspace.pictures.inspection
    assert again is not None
    assert sum(again.counts()) == 13


def test_that_a_class_and_a_part_filter_the_grid(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    choose(qtbot, page, make_folder())
    page.show_target("pear")
    assert page._browser.model.rowCount() == 6
    part = page.findChild(QComboBox, "data.part")
    assert isinstance(part, QComboBox)
    part.setCurrentIndex(part.findData("validation"))
    split, index = page.workspace.pictures.split, page.workspace.pictures.index
    assert split is not None
    assert index is not None
    pears = sum(int(index.pictures.labels[place]) == 1 for place in split.validation)
    assert page._browser.model.rowCount() == pears


def test_that_a_second_click_on_a_class_shows_all_again(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    choose(qtbot, page, make_folder())
    table = page._classes
    place = table.visualRect(table.model().index(1, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert page._browser.model.rowCount() == 6
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert page._browser.model.rowCount() == 12


def test_that_one_class_is_an_error_with_a_sentence(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    choose(qtbot, page, make_folder(classes=("only",)))
    assert page.status() is PageStatus.ERROR


def test_that_a_folder_that_is_gone_is_a_sentence_not_a_crash(qtbot: QtBot, page: DataPage, tmp_path: Path) -> None:
    choose(qtbot, page, tmp_path / "gone")
    assert page.status() is PageStatus.ERROR
    assert page.workspace.pictures.problems


def test_that_a_folder_of_two_readings_lets_the_person_choose(qtbot: QtBot, page: DataPage, tmp_path: Path) -> None:
    for number, inner in enumerate(("made/cup", "made/car", "nature/tree", "nature/rock")):
        (tmp_path / "set" / inner).mkdir(parents=True)
        for picture in range(4):
            image = Image.new("RGB", (16, 16), (60 * number, 50 * picture, 9))
            image.save(tmp_path / "set" / inner / f"{picture}.png")
    choose(qtbot, page, tmp_path / "set")
    combo = page.findChild(QComboBox, "data.readings")
    assert isinstance(combo, QComboBox)
    assert combo.isVisible()
    other = next(n for n in range(combo.count()) if n != combo.currentIndex())
    wanted = combo.itemData(other)
    combo.activated.emit(other)
    qtbot.waitUntil(lambda: not page.workspace.pictures.is_busy, timeout=10_000)
    project = page.workspace.document.project
    assert project.data.reading == wanted
    index = page.workspace.pictures.index
    assert index is not None
    assert project.data.classes == index.classes


def test_that_the_working_size_is_edited_and_undone_in_one_step(
    qtbot: QtBot, page: DataPage, make_folder: MakeFolder
) -> None:
    choose(qtbot, page, make_folder())
    spin = page.findChild(QSpinBox, "field.height")
    assert isinstance(spin, QSpinBox)
    spin.setFocus()
    for _ in range(4):
        qtbot.keyClick(spin, Qt.Key.Key_Up)
    assert page.workspace.document.project.preprocessing.height == 24
    page.workspace.document.undo()
    assert page.workspace.document.project.preprocessing.height == 20
    assert spin.value() == 20


def test_that_the_preview_is_made_by_the_training_function(
    qtbot: QtBot, page: DataPage, make_folder: MakeFolder
) -> None:
    choose(qtbot, page, make_folder())
    preview = page._side._preview
    qtbot.waitUntil(lambda: not preview._after.pixmap().isNull(), timeout=5000)
    assert "20 x 20" in preview._caption.text()


def test_that_thumbnails_arrive_without_being_decoded_twice(
    qtbot: QtBot, page: DataPage, make_folder: MakeFolder
) -> None:
    folder = make_folder()
    choose(qtbot, page, folder)
    path = folder / "apple" / "p0.png"
    qtbot.waitUntil(lambda: page._browser.thumbnails.has(path), timeout=5000)
    assert page._browser.thumbnails.get(path) is not None
    assert path not in page._browser.thumbnails._waiting


def test_that_delete_leaves_a_picture_out_and_delete_again_takes_it_back(
    qtbot: QtBot, page: DataPage, make_folder: MakeFolder
) -> None:
    folder = make_folder()
    choose(qtbot, page, folder)
    grid = page._browser.grid
    grid.setFocus()
    grid.setCurrentIndex(page._browser.model.index(2))
    qtbot.keyClick(grid, Qt.Key.Key_Delete)
    assert list(page.workspace.document.project.data.left_out) == ["apple/p2.png"]
    inspection = page.workspace.pictures.inspection
    assert inspection is not None
    assert sum(inspection.counts()) == 11
    assert "left out" in page._browser.model.index(2).data(Qt.ItemDataRole.ToolTipRole)
    grid.setCurrentIndex(page._browser.model.index(2))
    qtbot.keyClick(grid, Qt.Key.Key_Delete)
    assert not page.workspace.document.project.data.left_out
    assert (folder / "apple" / "p2.png").is_file()


def test_that_a_picture_can_be_given_another_class(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    choose(qtbot, page, make_folder())
    page._browser.grid.setCurrentIndex(page._browser.model.index(0))
    menu = page._browser.menu()
    classes = next(action.menu() for action in menu.actions() if action.menu() is not None)
    assert isinstance(classes, QMenu)
    next(action for action in classes.actions() if action.text() == "pear").trigger()
    inspection = page.workspace.pictures.inspection
    assert inspection is not None
    assert inspection.counts() == (5, 7)
    page.workspace.document.undo()
    again = page.workspace.pictures.inspection
    assert again is not None
    assert again.counts() == (6, 6)


def test_that_a_double_click_shows_a_picture_large(qtbot: QtBot, page: DataPage, make_folder: MakeFolder) -> None:
    choose(qtbot, page, make_folder())
    grid = page._browser.grid
    grid.doubleClicked.emit(page._browser.model.index(0))
    dialog = page.findChild(EnlargedPicture)
    assert dialog is not None and dialog.isVisible() and not dialog.isModal()
    qtbot.waitUntil(lambda: not dialog.picture.image.isNull())
    assert dialog.caption.text() == "p0.png, class apple, 20 x 20 px"
    qtbot.mouseClick(dialog.findChild(QPushButton, "enlarged.close"), Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()
    qtbot.keyClick(grid, Qt.Key.Key_Return)
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: dialog._task is None)
    dialog.close()


def test_that_both_previews_are_enlarged_pixel_by_pixel(qtbot: QtBot, page: DataPage, tmp_path: Path) -> None:
    (tmp_path / "dots").mkdir()
    picture = Image.new("RGB", (2, 2), (0, 0, 0))
    picture.putpixel((0, 0), (255, 255, 255))
    picture.save(tmp_path / "dots" / "a.png")
    preview = Preview()
    qtbot.addWidget(preview)
    preview.show_picture(tmp_path / "dots" / "a.png", Preprocessing(height=2, width=2, channels="grey"))
    qtbot.waitUntil(lambda: not preview._before.pixmap().isNull())
    for label in (preview._before, preview._after):
        image = label.pixmap().toImage()
        colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
        assert colours == {"#000000", "#ffffff"}
