"""Closing loses nothing: a run is asked about, then unsaved work; a refusal leaves everything as it was."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from studio.core.events import Ended
from studio.core.project import Project
from studio.view.shell import Shell
from tests.view.fakes import FakeLauncher, started

pytestmark = pytest.mark.qt


def question(qtbot: QtBot, shell: Shell) -> QMessageBox:
    qtbot.waitUntil(lambda: any(box.isVisible() for box in shell.window.findChildren(QMessageBox, "question")))
    return next(box for box in shell.window.findChildren(QMessageBox, "question") if box.isVisible())


def answer(qtbot: QtBot, shell: Shell, id: str) -> None:
    box = question(qtbot, shell)
    button = next(b for b in box.findChildren(QPushButton) if b.objectName() == f"answer.{id}")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not box.isVisible())


@pytest.fixture
def left(shell: Shell) -> list[bool]:
    """What `left` has said: empty while the window stays."""
    said: list[bool] = []
    shell.closing.left.connect(said.append)
    return said


def start_run(shell: Shell, launcher: str = "process") -> None:
    shell.workspace.training.start(Project("digits"), launcher)


def test_that_a_window_with_nothing_to_lose_closes_at_once(shell: Shell, left: list[bool]) -> None:
    assert not shell.window.close()  # the parts are put away first; the application then closes it
    assert left == [False]
    assert shell.window.close()


def test_that_unsaved_work_is_asked_about_and_cancel_stays(qtbot: QtBot, shell: Shell, left: list[bool]) -> None:
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.window.close()
    assert "tulips" in question(qtbot, shell).text()
    answer(qtbot, shell, "cancel")
    assert left == [] and shell.window.isVisible()
    shell.window.close()
    answer(qtbot, shell, "discard")
    assert left == [False]


def test_that_escape_means_cancel(qtbot: QtBot, shell: Shell, left: list[bool]) -> None:
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.window.close()
    qtbot.keyClick(question(qtbot, shell), Qt.Key.Key_Escape)
    qtbot.wait(20)
    assert left == []


def test_that_saving_first_saves_and_closes(qtbot: QtBot, shell: Shell, left: list[bool], tmp_path: Path) -> None:
    path = tmp_path / "tulips.studio.json"
    document = shell.workspace.document
    document.save(path)
    document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.window.close()
    answer(qtbot, shell, "save")
    assert left == [False] and '"tulips"' in path.read_text("utf-8")


def test_that_a_refused_file_dialog_stays_and_asks_again_next_time(
    qtbot: QtBot, shell: Shell, left: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialog.reject())
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    for _ in range(2):
        shell.window.close()
        answer(qtbot, shell, "save")
        assert left == []


def test_that_a_save_that_fails_says_so_and_stays(qtbot: QtBot, shell: Shell, left: list[bool], tmp_path: Path) -> None:
    document = shell.workspace.document
    document.save(tmp_path / "folder" / "p.studio.json")
    document.edit("Name", lambda project: replace(project, name="tulips"))
    document.path = tmp_path / "folder" / "p.studio.json" / "q.studio.json"
    shell.window.close()
    answer(qtbot, shell, "save")
    assert left == [] and "could not be saved" in shell.notices.words.text()


def test_that_stop_and_close_waits_for_the_run_s_end(
    qtbot: QtBot, shell: Shell, left: list[bool], launchers: dict[str, FakeLauncher]
) -> None:
    start_run(shell)
    handle = launchers["process"].handles[0]
    handle.ends_when_stopped = False
    handle.say(started())
    qtbot.waitUntil(lambda: shell.workspace.training.state.started is not None)
    shell.window.close()
    answer(qtbot, shell, "stop")
    assert (handle.stops, left) == (1, [])
    handle.say(Ended(time.time(), "stopped"))
    handle.end()
    qtbot.waitUntil(lambda: left == [False])


def test_that_a_run_can_be_left_to_the_engine(
    qtbot: QtBot, shell: Shell, left: list[bool], launchers: dict[str, FakeLauncher]
) -> None:
    start_run(shell)
    shell.window.close()
    answer(qtbot, shell, "keep")
    assert left == [True] and launchers["process"].handles[0].stops == 0


def test_that_a_run_in_this_window_cannot_be_left_behind(
    qtbot: QtBot, shell: Shell, left: list[bool], launchers: dict[str, FakeLauncher]
) -> None:
    start_run(shell, "thread")
    shell.window.close()
    names = {button.objectName() for button in question(qtbot, shell).findChildren(QPushButton)}
    assert "answer.stop" in names and "answer.keep" not in names
    answer(qtbot, shell, "cancel")
    assert left == [] and shell.workspace.training.is_active
    assert launchers["thread"].handles[0].stops == 0


def test_that_cancelling_the_second_question_leaves_the_run_alone(
    qtbot: QtBot, shell: Shell, left: list[bool], launchers: dict[str, FakeLauncher]
) -> None:
    start_run(shell)
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.window.close()
    answer(qtbot, shell, "stop")
    answer(qtbot, shell, "cancel")
    assert left == [] and launchers["process"].handles[0].stops == 0


def test_that_the_system_s_wish_is_not_discussed(qtbot: QtBot, shell: Shell, left: list[bool]) -> None:
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.closing.leave_now()
    assert left == [False]
    shell.end()
    assert shell.safekeeping.file.file.exists()


def test_that_work_that_nobody_wants_leaves_no_copy(qtbot: QtBot, shell: Shell, left: list[bool]) -> None:
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.safekeeping.keep()
    shell.window.close()
    answer(qtbot, shell, "discard")
    assert left == [False]
    shell.end()
    assert not shell.safekeeping.file.file.exists()
