"""The furnished window: places, menus, status, drops and what it remembers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from studio.app import Studio
from studio.core.files import Folders
from studio.core.problem import Problem
from studio.core.project import Data, Project
from studio.core.templates import default_network
from studio.view.actions import Action
from studio.view.shell import Shell
from studio.view.unopened import UnopenedPage
from studio.view.window import MainWindow
from studio.view.windowstate import WindowState, load_window_state, save_window_state
from studio.view.workspace import PageStatus, Workspace
from tests.view.stage import BROKEN, PLACES, NetworkStage, StagePage, TrainStage

pytestmark = pytest.mark.qt


def menu_titles(shell: Shell) -> list[str]:
    shell.menus.rebuild()
    return [action.text() for action in shell.window.menuBar().actions()]


def menu(shell: Shell, title: str) -> QMenu:
    found = next(action.menu() for action in shell.window.menuBar().actions() if action.text() == title)
    assert isinstance(found, QMenu)
    return found


def drop(window: MainWindow, path: Path) -> bool:
    """Drag `path` over the window and let it go; whether the window takes it."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPointF(300, 300).toPoint(), Qt.DropAction.CopyAction, data, left, none)
    window.dragEnterEvent(enter)
    if enter.isAccepted():
        window.dropEvent(QDropEvent(QPointF(300, 300), Qt.DropAction.CopyAction, data, left, none))
    return enter.isAccepted()


def test_that_the_keyboard_in_the_rail_goes_along_to_another_place(qtbot: QtBot, shell: Shell) -> None:
    shell.rail.buttons["data"].setFocus()
    shell.show_place("network")
    qtbot.waitUntil(shell.rail.buttons["network"].hasFocus)


def test_that_trouble_of_a_run_is_said_once_and_forgotten_with_the_next_try(shell: Shell) -> None:
    trouble = Problem("torch_missing")
    shell.show_place("train")
    shell.workspace.training.say(trouble)
    assert not shell.notices.isVisible()  # the Train page shows it itself
    shell.show_place("results")
    shell.workspace.training.say(trouble)
    assert shell.notices.isVisible()
    shell.workspace.training.start(Project("digits"), "process")
    assert not shell.notices.isVisible()


def test_that_an_untouched_window_welcomes(shell: Shell) -> None:
    assert shell.welcome.isVisible()
    assert shell.window.windowTitle() == "Lantern Studio[*]"
    assert not shell.window.isWindowModified()


def test_that_the_data_page_takes_the_welcome_s_place_and_gives_it_back(shell: Shell) -> None:
    document = shell.workspace.document
    document.edit("Name", lambda project: replace(project, name="flowers"))
    assert shell.pages["data"].isVisible() and not shell.welcome.isVisible()
    assert shell.window.windowTitle() == "flowers[*] — Lantern Studio"
    assert shell.window.isWindowModified()
    document.undo()
    assert shell.welcome.isVisible()


def test_that_a_page_is_made_only_when_it_is_needed(qtbot: QtBot, shell: Shell) -> None:
    assert "network" not in shell.pages
    qtbot.mouseClick(shell.rail.buttons["network"], Qt.MouseButton.LeftButton)
    assert shell.pages["network"].isVisible()
    shell.begin()
    qtbot.waitUntil(lambda: len(shell.pages) == len(PLACES))


@pytest.mark.parametrize(("key", "place"), [(Qt.Key.Key_2, "network"), (Qt.Key.Key_4, "results")])
def test_that_ctrl_and_a_number_go_to_a_place(qtbot: QtBot, shell: Shell, key: Qt.Key, place: str) -> None:
    shell.menus.rebuild()
    qtbot.keyClick(shell.window, key, Qt.KeyboardModifier.ControlModifier)
    assert shell.place == place and shell.rail.buttons[place].isChecked()


def test_that_the_rail_is_walked_with_the_arrow_keys(qtbot: QtBot, shell: Shell) -> None:
    first = shell.rail.buttons["data"]
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert shell.rail.buttons["network"].hasFocus()
    qtbot.keyClick(shell.rail.buttons["network"], Qt.Key.Key_Space)
    assert shell.place == "network"


def test_that_the_rail_tells_a_state_by_words_too(shell: Shell) -> None:
    shell.show_place("network")
    page = shell.pages["network"]
    assert isinstance(page, StagePage)
    page.shown_status = PageStatus.ERROR
    page.status_changed.emit()
    button = shell.rail.buttons["network"]
    assert button.status is PageStatus.ERROR
    assert button.accessibleDescription() == "error. network is error"
    assert "Ctrl+2" in button.toolTip()


def test_that_the_navigator_shows_what_it_names(shell: Shell) -> None:
    shell.workspace.navigator.go("network", "b3")
    page = shell.pages["network"]
    assert isinstance(page, StagePage)
    assert page.isVisible() and page.targets == ["b3"]
    shell.workspace.navigator.go("nowhere")
    assert shell.place == "network"


def test_that_the_menu_bar_comes_from_the_actions(shell: Shell) -> None:
    shell.show_place("network")
    shell.show_place("train")
    assert menu_titles(shell) == ["File", "Edit", "View", "Network", "Run", "Help"]
    assert [action.text() for action in menu(shell, "Run").actions()] == ["Start training"]


def test_that_menus_stand_in_the_order_of_the_work_whatever_page_was_opened_first(shell: Shell) -> None:
    actions = shell.workspace.actions
    for title in ("Export", "Results", "Run", "Network", "Pictures"):
        actions.add([Action(f"test.{title}", title, lambda: None, menu=title)])
    shell.menus.rebuild()
    titles = [menu.text() for menu in shell.window.menuBar().actions()]
    assert titles == ["File", "Edit", "View", "Pictures", "Network", "Run", "Results", "Export", "Help"]


def test_that_recent_projects_stand_below_open_and_above_save(shell: Shell, tmp_path: Path) -> None:
    settings = shell.workspace.settings
    settings.change(replace(settings.value, recent=(str(tmp_path / "a.studio.json"),)))
    shell.menus.rebuild()
    file_menu = next(a for a in shell.window.menuBar().actions() if a.text() == "File").menu()
    assert isinstance(file_menu, QMenu)
    texts = [action.text() for action in file_menu.actions()]
    place = texts.index("Open recent")
    assert texts[place - 1] == "Open a run…" and texts[place + 1 : place + 3] == ["", "Save"]
    recent = file_menu.actions()[place].menu()
    assert isinstance(recent, QMenu) and [a.text() for a in recent.actions()] == ["a.studio.json"]


def test_that_undo_says_what_it_takes_back(shell: Shell) -> None:
    shell.workspace.document.edit("Rename", lambda project: replace(project, name="x"))
    shell.menus.rebuild()
    edit = menu(shell, "Edit")
    edit.aboutToShow.emit()
    undo, redo = edit.actions()
    assert (undo.text(), undo.isEnabled()) == ("Undo: Rename", True)
    assert (redo.text(), redo.isEnabled()) == ("Redo", False)
    undo.trigger()
    assert shell.workspace.document.project.name == ""


def test_that_a_page_s_keys_work_only_there_and_those_of_runs_everywhere(qtbot: QtBot, shell: Shell) -> None:
    shell.show_place("train")
    shell.show_place("network")
    network, train = shell.pages["network"], shell.pages["train"]
    assert isinstance(network, NetworkStage) and isinstance(train, TrainStage)
    shell.menus.rebuild()
    network.field.setFocus()
    qtbot.keyClick(network.field, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(network.field, Qt.Key.Key_F5)
    assert (network.done, train.done) == (["twice"], ["start"])
    shell.show_place("train")
    train.field.setFocus()
    qtbot.keyClick(train.field, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert network.done == ["twice"]


def test_that_a_page_s_action_shows_its_page_first(shell: Shell) -> None:
    shell.show_place("network")
    shell.show_place("data")
    shell.workspace.actions.trigger("network.twice")
    assert shell.place == "network"


def test_that_no_two_of_the_window_s_own_actions_share_a_key(shell: Shell) -> None:
    keys = [action.shortcut for action in shell.workspace.actions if action.shortcut]
    assert len(keys) == len(set(keys))


def test_that_every_own_action_is_explained(shell: Shell) -> None:
    assert not [a.id for a in shell.workspace.actions if a.id.split(".")[0] in {"file", "edit", "help"} and not a.help]


def test_that_one_broken_page_leaves_the_others(
    qtbot: QtBot, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    window = MainWindow(WindowState())
    qtbot.addWidget(window)
    shell = Shell(window, workspace, WindowState(), (*PLACES, BROKEN))
    reports: list[str] = []
    shell.safekeeping.catcher.caught.connect(reports.append)
    shell.show_place("memory")
    page = shell.pages["memory"]
    assert isinstance(page, UnopenedPage) and "this page has a bug" in page.status_text()
    assert shell.rail.buttons["memory"].status is PageStatus.ERROR
    assert "RuntimeError: this page has a bug" in reports[0]
    assert "this page has a bug" in capsys.readouterr().err
    shell.show_place("network")
    assert isinstance(shell.pages["network"], NetworkStage)
    window.is_furnished = False


def test_that_a_dropped_folder_becomes_the_pictures(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "animals"
    (folder / "cats").mkdir(parents=True)
    assert drop(shell.window, folder)
    project = shell.workspace.document.project
    assert (project.data.folder, project.name) == (str(folder), "animals")
    assert project.network == default_network()
    qtbot.waitUntil(lambda: not shell.workspace.pictures.is_busy)


def test_that_a_dropped_picture_is_classified(shell: Shell, tmp_path: Path) -> None:
    picture = tmp_path / "CAT.JPG"
    picture.write_bytes(b"")
    assert drop(shell.window, picture)
    page = shell.pages["results"]
    assert isinstance(page, StagePage)
    assert page.isVisible() and page.targets == [f"classify:{picture}"]


def test_that_a_dropped_file_of_no_use_is_answered_in_place(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("x")
    assert drop(shell.window, file)
    assert shell.notices.isVisible() and "notes.txt" in shell.notices.words.text()


def test_that_text_from_a_browser_is_not_taken(shell: Shell) -> None:
    data = QMimeData()
    data.setText("hello")
    event = QDragEnterEvent(
        QPointF(9, 9).toPoint(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.ignore()
    shell.window.dragEnterEvent(event)
    assert not event.isAccepted()


def test_that_the_theme_follows_the_settings(shell: Shell) -> None:
    shell.workspace.actions.trigger("view.dark")
    assert shell.workspace.settings.value.theme == "dark"
    assert shell.window.palette().window().color().lightness() < 80
    shell.workspace.actions.trigger("view.light")
    assert shell.window.palette().window().color().lightness() > 200


def test_that_the_window_remembers_where_it_was(shell: Shell, tmp_path: Path) -> None:
    shell.window.resize(1234, 777)
    shell.show_drawer(True)
    save_window_state(shell.state(is_dark=True), tmp_path)
    state = load_window_state(tmp_path)
    window = MainWindow(state)
    assert window.height() <= 777  # less where the screen is smaller; a window without memory is 860 high
    assert (state.is_drawer_open, state.is_dark) == (True, True)
    window.deleteLater()


def test_that_a_window_without_a_project_begins_with_the_welcome(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "window.json").write_text('{"page": "results", "is_drawer_open": true}')
    window = MainWindow(WindowState())
    qtbot.addWidget(window)
    shell = Shell(window, workspace, load_window_state(tmp_path), PLACES)
    window.show()
    assert shell.place == "data" and shell.welcome.isVisible() and shell.drawer.isVisible()
    shell.end()
    window.is_furnished = False


@pytest.mark.parametrize("text", ["", "[]", "{", '{"geometry": 5, "drawer_px": "wide"}', "\xff"])
def test_that_a_damaged_memory_of_the_window_means_defaults(tmp_path: Path, text: str) -> None:
    (tmp_path / "window.json").write_bytes(text.encode("latin-1"))
    assert load_window_state(tmp_path) == WindowState()


def test_that_the_smallest_window_shows_everything(qtbot: QtBot, shell: Shell) -> None:
    document = shell.workspace.document
    document.open(Project("digits", Data("/nowhere")))
    shell.window.resize(1100, 700)
    shell.show_drawer(True)
    qtbot.wait(50)
    assert shell.window.width() == 1100 and shell.window.height() == 700
    area = shell.window.rect()
    for widget in (shell.rail, shell.strip, shell.drawer, shell.strip.hints):
        corner = widget.mapTo(shell.window, widget.rect().bottomRight())
        assert area.contains(corner), widget.objectName()


def test_that_a_window_is_furnished_only_once(
    qtbot: QtBot, folders: Folders, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.app.make_workspace", lambda _: workspace)
    monkeypatch.setattr("studio.app._SIGNALS", ())
    studio = Studio(folders)
    qtbot.addWidget(studio.window)
    studio.furnish()
    shell = studio.shell
    assert shell is not None
    studio.furnish()
    assert studio.shell is shell and studio.workspace is workspace
    shell.end()
    studio.window.is_furnished = False


def test_that_a_new_window_keeps_within_a_small_screen(qtbot: QtBot) -> None:
    window = MainWindow(WindowState())
    qtbot.addWidget(window)
    room = window.screen().availableSize()
    assert window.width() <= room.width() and window.height() <= room.height()
    assert window.minimumWidth() <= room.width() and window.minimumHeight() <= room.height()
