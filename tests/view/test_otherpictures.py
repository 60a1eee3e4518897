"""Another folder in an open project is said in place, and can be taken back or made a project of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.core.project import Data, Preprocessing, Project, load_project
from studio.core.templates import default_network
from studio.view.pages.network import NetworkPage
from studio.view.shell import Shell
from studio.view.workspace import PageStatus
from tests.view.fakes import png

pytestmark = pytest.mark.qt

DIGITS = Project("digits", Data("/gone/mnist"), Preprocessing(height=28, width=28), default_network())


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """A folder of two classes."""
    for number, name in enumerate(("cat", "dog")):
        (tmp_path / "pets" / name).mkdir(parents=True)
        for copy in range(3):
            (tmp_path / "pets" / name / f"{copy}.png").write_bytes(png((60 * copy, 90 * number, 20)))
    return tmp_path / "pets"


def open_digits(qtbot: QtBot, shell: Shell, tmp_path: Path) -> Path:
    path = tmp_path / "digits.studio.json"
    shell.workspace.document.open(DIGITS)
    shell.workspace.document.save(path)
    settle(qtbot, shell)
    return path


def settle(qtbot: QtBot, shell: Shell) -> None:
    qtbot.waitUntil(lambda: not shell.workspace.pictures.is_busy)


def offer(qtbot: QtBot, shell: Shell, label: str) -> None:
    buttons = [b for b in shell.notices.findChildren(QPushButton) if b.text() == label and b.isVisible()]
    assert len(buttons) == 1
    qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


def test_that_another_folder_in_a_saved_project_is_said_and_can_be_taken_back(
    qtbot: QtBot, shell: Shell, tmp_path: Path, pets: Path
) -> None:
    open_digits(qtbot, shell, tmp_path)
    document = shell.workspace.document
    shell.openings.open_path(pets)
    assert shell.notices.isVisible()
    assert shell.notices.words.text() == f"digits now uses the pictures in {pets}."
    settle(qtbot, shell)
    assert document.project.data.classes == ("cat", "dog")
    offer(qtbot, shell, "Undo")
    assert document.project == DIGITS and document.is_saved
    assert not shell.notices.isVisible()
    settle(qtbot, shell)
    assert document.project == DIGITS  # the look at the old folder suggests nothing anew


def test_that_taking_a_folder_back_keeps_what_was_done_since(
    qtbot: QtBot, shell: Shell, tmp_path: Path, pets: Path
) -> None:
    open_digits(qtbot, shell, tmp_path)
    document = shell.workspace.document
    shell.openings.open_path(pets)
    settle(qtbot, shell)
    document.edit("Epochs", lambda project: replace(project, recipe=replace(project.recipe, epochs=77)))
    offer(qtbot, shell, "Undo")
    settle(qtbot, shell)
    assert document.project.data == DIGITS.data and document.project.preprocessing == DIGITS.preprocessing
    assert document.project.recipe.epochs == 77


def test_that_another_folder_can_become_a_project_that_overwrites_nothing(
    qtbot: QtBot, shell: Shell, tmp_path: Path, pets: Path
) -> None:
    path = open_digits(qtbot, shell, tmp_path)
    document = shell.workspace.document
    shell.openings.open_path(pets)
    offer(qtbot, shell, "Make it a new project")  # also while the pictures are still being looked at
    settle(qtbot, shell)
    assert (document.project.name, document.path, document.is_saved) == ("pets", None, False)
    assert document.project.data.classes == ("cat", "dog")
    assert document.project.network.blocks[0] == DIGITS.network.blocks[0]
    assert shell.window.windowTitle().startswith("pets")
    assert load_project(path) == DIGITS
    document.undo()
    assert document.project == DIGITS and document.path is None


def test_that_a_project_named_after_its_folder_follows_the_next_choice(
    qtbot: QtBot, shell: Shell, pets: Path, tmp_path: Path
) -> None:
    (tmp_path / "wrong" / "a").mkdir(parents=True)
    shell.openings.open_path(tmp_path / "wrong")
    settle(qtbot, shell)
    shell.openings.open_path(pets)
    assert not shell.notices.isVisible()
    assert shell.workspace.document.project.name == "pets"
    settle(qtbot, shell)


def test_that_the_same_folder_again_is_only_looked_at_again(qtbot: QtBot, shell: Shell, pets: Path) -> None:
    shell.openings.open_path(pets)
    settle(qtbot, shell)
    before = shell.workspace.document.project
    shell.openings.open_path(pets)
    assert shell.workspace.pictures.is_busy
    settle(qtbot, shell)
    assert shell.workspace.document.project == before and not shell.notices.isVisible()


def test_that_the_notice_goes_with_the_pictures_that_it_tells_of(
    qtbot: QtBot, shell: Shell, tmp_path: Path, pets: Path
) -> None:
    open_digits(qtbot, shell, tmp_path)
    shell.openings.open_path(pets)
    assert shell.notices.isVisible()
    shell.workspace.document.undo()
    assert not shell.notices.isVisible()
    settle(qtbot, shell)


def test_that_classes_that_are_not_known_yet_are_no_trouble(
    qtbot: QtBot, shell: Shell, tmp_path: Path, pets: Path
) -> None:
    open_digits(qtbot, shell, tmp_path)
    network = NetworkPage(shell.workspace)
    qtbot.addWidget(network)
    shell.openings.open_path(pets)
    shell.hints.refresh()
    assert shell.workspace.pictures.is_busy
    assert network.status() is PageStatus.READY and not shell.hints.has_error
    settle(qtbot, shell)
    assert network.status() is PageStatus.READY


def test_that_a_folder_without_classes_is_the_network_s_trouble_once_that_is_known(
    qtbot: QtBot, shell: Shell, tmp_path: Path
) -> None:
    network = NetworkPage(shell.workspace)
    qtbot.addWidget(network)
    (tmp_path / "empty").mkdir()
    shell.openings.open_path(tmp_path / "empty")
    told: list[PageStatus] = []
    network.status_changed.connect(lambda: told.append(network.status()))
    settle(qtbot, shell)
    assert told[-1:] == [PageStatus.ERROR] == [network.status()]
