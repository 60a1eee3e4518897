"""The Export page: what is in a model, saving it as one file, and its command for the terminal."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from studio.core.project import Data, Project
from studio.dataset.progress import Cancelled, IsCancelled, Progress, ReportProgress
from studio.runs.commandline import command_name
from studio.view.pages import export
from studio.view.pages.export import ExportPage
from studio.view.workspace import PageStatus, Workspace
from tests.view.made_runs import add_run

pytestmark = pytest.mark.qt

MakePage = Callable[[], ExportPage]


@pytest.fixture
def make_page(qtbot: QtBot, workspace: Workspace) -> MakePage:
    def make() -> ExportPage:
        page = ExportPage(workspace)
        qtbot.addWidget(page)
        page.resize(1100, 700)
        page.show()
        qtbot.waitUntil(lambda: page._list.is_known and page._list._task is None)
        return page

    return make


def click(qtbot: QtBot, page: ExportPage, name: str) -> None:
    button = page.findChild(QPushButton, name)
    assert button is not None and button.isEnabled() and button.isVisible(), name
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_that_without_a_model_the_page_says_where_to_begin(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage
) -> None:
    add_run(workspace.folders.runs, outcome="failed", accuracies=())
    page = make_page()
    assert page.status() is PageStatus.NOTHING
    with qtbot.waitSignal(workspace.navigator.wanted) as asked:
        click(qtbot, page, "export.to_train")
    assert asked.args == ["train", ""]


def test_that_the_newest_model_is_shown_with_what_is_in_it(workspace: Workspace, make_page: MakePage) -> None:
    add_run(workspace.folders.runs, 0)
    newest = add_run(workspace.folders.runs, 1, classes=("ant", "bee", "cat"), confusion=((1, 0, 0),) * 3)
    page = make_page()
    assert page.status() is PageStatus.READY
    assert page.runs.currentData() == str(newest)
    assert [page.labels.item(n).text() for n in range(page.labels.count())] == ["ant", "bee", "cat"]
    facts = page.inventory.facts.text()
    assert "85.0%" in facts and "64 x 64 px, 3 channels" in facts and "2.0 KiB in all" in facts
    names = {label.text() for label in page.inventory.findChildren(QLabel)}
    assert {"weights.safetensors", "network.json", "preprocessing.json", "labels.txt", "2.0 KiB"} <= names


def test_that_a_run_asked_for_by_the_results_page_is_chosen(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage
) -> None:
    older = add_run(workspace.folders.runs, 0)
    add_run(workspace.folders.runs, 1)
    page = make_page()
    page.show_target(str(older))
    qtbot.waitUntil(lambda: page.runs.currentData() == str(older))
    assert str(older / "model") in page.command.text()


def test_that_saving_writes_the_file_and_the_command_then_names_it(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage, tmp_path: Path
) -> None:
    add_run(workspace.folders.runs)
    page = make_page()
    target = tmp_path / "my model.zip"
    page.save(target)
    assert page.status() is PageStatus.BUSY and not page.save_button.isEnabled()
    qtbot.waitUntil(lambda: page.status() is PageStatus.READY)
    assert zipfile.is_zipfile(target)
    assert str(target) in page.notice.words.text()
    assert page.command.text() == f"{command_name(from_anywhere=True)} predict '{target}' PICTURE"
    click(qtbot, page, "export.copy")
    assert QGuiApplication.clipboard().text() == page.command.text()


def test_that_a_file_that_cannot_be_written_is_named_and_can_be_tried_elsewhere(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage, tmp_path: Path
) -> None:
    add_run(workspace.folders.runs)
    (tmp_path / "file").write_text("in the way")
    page = make_page()
    page.save(tmp_path / "file" / "m.zip")
    qtbot.waitUntil(lambda: "could not be written" in page.notice.words.text())
    assert str(tmp_path / "file" / "m.zip") in page.notice.words.text()
    assert page.save_button.isEnabled()


def test_that_saving_shows_progress_and_can_be_stopped(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_run(workspace.folders.runs)
    page = make_page()
    is_told = threading.Event()

    def endless(model: Path, to: Path, *, progress: ReportProgress, cancelled: IsCancelled) -> Any:
        progress(Progress("save", 5 * 1024**3, 20 * 1024**3))
        is_told.set()
        while not cancelled():
            is_told.wait(0.01)
        raise Cancelled

    monkeypatch.setattr(export, "write_bundle", endless)
    page.save(tmp_path / "m.zip")
    qtbot.waitUntil(lambda: page._bar.value() == 250)
    assert page._busy_text.text() == "5.0 GiB of 20.0 GiB"
    click(qtbot, page, "export.stop")
    qtbot.waitUntil(lambda: "stopped" in page.notice.words.text())
    assert not page._busy.isVisible() and page.save_button.isEnabled()


def test_that_a_damaged_model_is_named_instead_of_saved(workspace: Workspace, make_page: MakePage) -> None:
    run = add_run(workspace.folders.runs)
    (run / "model" / "network.json").write_text("{")
    page = make_page()
    assert str(run / "model") in page.notice.words.text()
    assert not page.save_button.isEnabled()


def test_that_a_model_that_a_new_run_leaves_is_found_by_itself(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage
) -> None:
    page = make_page()
    add_run(workspace.folders.runs)
    workspace.training.ended.emit()
    qtbot.waitUntil(lambda: page.status() is PageStatus.READY)
    assert page.labels.count() == 2


def test_that_every_button_has_its_sentence(workspace: Workspace, make_page: MakePage) -> None:
    add_run(workspace.folders.runs)
    page = make_page()
    assert not [b.text() for b in page.findChildren(QPushButton) if not b.toolTip()]
    assert page.runs.accessibleName() and page.command.accessibleName() and page.labels.accessibleName()


def test_that_the_run_that_ended_in_this_window_is_offered_before_newer_ones(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage
) -> None:
    add_run(workspace.folders.runs, 5, name="other", folder="/pictures/other")
    page = make_page()
    assert "other" in page._subtitle.text()
    mine = add_run(workspace.folders.runs, 1, name="mine", folder="/pictures/mine")
    workspace.training.open(mine)
    workspace.training.ended.emit()
    qtbot.waitUntil(lambda: page.runs.currentData() == str(mine))


def test_that_the_open_project_s_own_model_is_offered_before_newer_ones_of_others(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage
) -> None:
    mine = add_run(workspace.folders.runs, 1, name="mine", folder="/pictures/mine")
    stranger = add_run(workspace.folders.runs, 5, name="mine", folder="/pictures/other")
    page = make_page()
    assert page.runs.currentData() == str(stranger)
    workspace.document.open(Project("mine", Data("/pictures/mine")))
    qtbot.waitUntil(lambda: page.runs.currentData() == str(mine))
    qtbot.waitUntil(lambda: not workspace.pictures.is_busy)


def test_that_a_model_that_was_chosen_stays_chosen_until_a_run_ends(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage
) -> None:
    older = add_run(workspace.folders.runs, 0)
    newest = add_run(workspace.folders.runs, 1)
    page = make_page()
    page.runs.setCurrentIndex(1)
    page.runs.activated.emit(1)
    page.hide()
    page.show()
    qtbot.waitUntil(lambda: page._list._task is None)
    assert page.runs.currentData() == str(older)
    workspace.training.ended.emit()
    qtbot.waitUntil(lambda: page.runs.currentData() == str(newest))
