"""Every way into the window, and what is said where nothing can be opened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from studio.core.events import Ended
from studio.core.project import Data, Project, save_project
from studio.core.templates import default_network
from studio.runs.folder import create_run
from studio.view.openings import what_is
from studio.view.shell import Shell
from studio.view.welcome import RecentButton
from tests.view.fakes import say, started

pytestmark = pytest.mark.qt

PROJECT = Project("tulips", Data("/gone/pictures", classes=("red", "white")), network=default_network())


def recent_buttons(shell: Shell) -> list[RecentButton]:
    return shell.welcome.findChildren(RecentButton, "welcome.recent")


@pytest.fixture
def project_file(tmp_path: Path) -> Path:
    path = tmp_path / "tulips.studio.json"
    save_project(PROJECT, path)
    return path


def test_that_a_run_that_goes_on_without_the_window_is_offered(qtbot: QtBot, shell: Shell) -> None:
    run = create_run(Project("tulips"), shell.workspace.folders.runs)
    own = psutil.Process()
    say(run, started(name="tulips", pid=own.pid, process_started=own.create_time()))
    shell.openings.offer_running()
    qtbot.waitUntil(shell.notices.isVisible)
    assert "tulips" in shell.notices.words.text()
    qtbot.mouseClick(shell.notices.findChild(QPushButton, "notice.button"), Qt.MouseButton.LeftButton)
    assert shell.workspace.training.run_folder == run and shell.place == "train"


def test_that_a_run_that_is_over_is_not_offered(qtbot: QtBot, shell: Shell) -> None:
    run = create_run(Project("tulips"), shell.workspace.folders.runs)
    say(run, started(name="tulips"), Ended(2.0, "finished"))
    shell.openings.offer_running()
    qtbot.wait(100)
    assert not shell.notices.isVisible()


def test_that_a_path_is_known_by_what_it_holds(tmp_path: Path, project_file: Path) -> None:
    run = create_run(PROJECT, tmp_path / "runs")
    picture = tmp_path / "a.PNG"
    picture.write_bytes(b"")
    (tmp_path / "a.doc").write_bytes(b"")
    known = {path: what_is(path) for path in (run, tmp_path, project_file, picture, tmp_path / "a.doc", tmp_path / "x")}
    assert list(known.values()) == ["run", "folder", "project", "picture", "unknown", "missing"]


def test_that_a_project_is_opened_and_remembered(qtbot: QtBot, shell: Shell, project_file: Path) -> None:
    shell.openings.open_path(project_file)
    document = shell.workspace.document
    assert (document.project, document.path, document.is_saved) == (PROJECT, project_file, True)
    assert shell.workspace.settings.value.recent == (str(project_file),)
    assert any(action.id == "file.recent.0" for action in shell.workspace.actions)
    qtbot.waitUntil(lambda: not shell.workspace.pictures.is_busy)


def test_that_a_project_whose_pictures_are_gone_says_so_in_a_hint(
    qtbot: QtBot, shell: Shell, project_file: Path
) -> None:
    shell.openings.open_path(project_file)
    qtbot.waitUntil(lambda: not shell.workspace.pictures.is_busy)
    qtbot.waitUntil(lambda: bool(shell.hints.hints))
    assert shell.hints.has_error
    assert any("pictures" in " ".join((hint.title, hint.why, *hint.evidence)) for hint in shell.hints.hints)


@pytest.mark.parametrize("text", ["", "{}", '{"format": "lantern-studio-project", "version": 99}'])
def test_that_a_file_that_is_no_project_is_named_and_the_open_one_stays(
    shell: Shell, project_file: Path, text: str
) -> None:
    project_file.write_text(text)
    shell.openings.open_path(project_file)
    assert str(project_file) in shell.notices.words.text()
    assert shell.workspace.document.is_untouched


def test_that_a_path_that_is_not_there_is_a_sentence(shell: Shell, tmp_path: Path) -> None:
    shell.openings.open_path(tmp_path / "gone.studio.json")
    assert "gone.studio.json is not there" in shell.notices.words.text()


def test_that_a_run_s_folder_opens_its_record_and_its_project(shell: Shell, tmp_path: Path) -> None:
    run = create_run(PROJECT, tmp_path / "runs")
    say(run, started(name="tulips"))
    shell.openings.open_path(run)
    training = shell.workspace.training
    assert training.run_folder == run and training.state.started is not None
    assert shell.workspace.document.project == PROJECT and shell.place == "train"


def test_that_a_run_s_own_project_file_opens_the_run(shell: Shell, tmp_path: Path) -> None:
    run = create_run(PROJECT, tmp_path / "runs")
    shell.openings.open_path(run / "project.json")
    assert shell.workspace.training.run_folder == run
    assert shell.workspace.document.path is None  # saving must never change a run's record


def test_that_a_run_is_not_opened_over_one_that_goes_on(shell: Shell, tmp_path: Path) -> None:
    shell.workspace.training.start(PROJECT, "process")
    running = shell.workspace.training.run_folder
    shell.openings.open_path(create_run(PROJECT, tmp_path / "runs"))
    assert shell.workspace.training.run_folder == running
    assert "A run goes on" in shell.notices.words.text()


def test_that_a_file_name_without_its_ending_gets_it(shell: Shell, tmp_path: Path) -> None:
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.openings.save_to(tmp_path / "mine")
    assert (tmp_path / "mine.studio.json").exists()
    assert "mine.studio.json" in shell.notices.words.text()


def test_that_the_welcome_opens_the_sample(qtbot: QtBot, shell: Shell) -> None:
    button = shell.welcome.sample
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not button.isEnabled() and button.text() == "Unpacking…"
    document = shell.workspace.document
    qtbot.waitUntil(lambda: document.project.name == "digits", timeout=20_000)
    assert document.project.class_count == 10
    assert document.project.preprocessing.shape == (1, 28, 28)
    assert document.report.is_ready and document.is_saved
    assert button.isEnabled()
    shell.workspace.pictures.cancel()


def test_that_a_sample_that_cannot_be_unpacked_is_a_sentence(qtbot: QtBot, shell: Shell) -> None:
    data = shell.workspace.folders.data
    data.parent.mkdir(parents=True, exist_ok=True)
    data.write_text("a file where a folder should be")
    qtbot.mouseClick(shell.welcome.sample, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(shell.notices.isVisible)
    assert "sample could not be unpacked" in shell.notices.words.text()
    assert shell.welcome.sample.isEnabled()


def test_that_recent_projects_are_opened_and_forgotten(qtbot: QtBot, shell: Shell, project_file: Path) -> None:
    settings = shell.workspace.settings
    settings.change(replace(settings.value, recent=(str(project_file), "/gone/other.studio.json")))
    qtbot.waitUntil(lambda: any(button.isVisible() for button in recent_buttons(shell)))
    visible = recent_buttons(shell)
    assert [button.name.text() for button in visible] == ["tulips", "other"]
    forget = shell.welcome.findChildren(QToolButton, "welcome.forget")[1]
    qtbot.mouseClick(forget, Qt.MouseButton.LeftButton)
    assert settings.value.recent == (str(project_file),)
    end = QPoint(visible[0].width() - 8, visible[0].height() // 2)
    qtbot.mouseClick(visible[0], Qt.MouseButton.LeftButton, pos=end)
    assert visible[0].width() > shell.welcome.width() // 2  # the whole row
    assert shell.workspace.document.project == PROJECT
    qtbot.waitUntil(lambda: not shell.workspace.pictures.is_busy)


def test_that_a_new_project_is_the_welcome_again(shell: Shell) -> None:
    shell.workspace.document.open(PROJECT)
    shell.workspace.pictures.cancel()
    shell.openings.new()
    assert shell.workspace.document.is_untouched and shell.welcome.isVisible()
