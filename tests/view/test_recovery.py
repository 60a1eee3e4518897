"""Recovery copies: written whole, offered after a crash, never while their window lives."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton
from pytestqt.qtbot import QtBot

from studio.core.project import Project
from studio.core.templates import default_network
from studio.view.recovery import RecoveryFile, left_behind
from studio.view.shell import Shell

pytestmark = pytest.mark.qt

PROJECT = Project("flowers", network=default_network())


def orphan(folder: Path, project: Project = PROJECT, path: Path | None = None) -> Path:
    """A copy whose window is gone: its process has another start time."""
    file = RecoveryFile(folder)
    file.write(project, path)
    plain = json.loads(file.file.read_text("utf-8"))
    plain["process_started"] -= 1000
    left = folder / f"left-{project.name}.json"
    left.write_text(json.dumps(plain), "utf-8")
    file.remove()
    return left


def test_that_a_copy_of_a_living_window_is_not_offered(tmp_path: Path) -> None:
    RecoveryFile(tmp_path).write(PROJECT, None)
    assert left_behind(tmp_path) == ()


def test_that_a_copy_brings_back_the_project_and_where_it_was(tmp_path: Path) -> None:
    orphan(tmp_path, path=Path("/somewhere/flowers.studio.json"))
    (copy,) = left_behind(tmp_path)
    assert (copy.project, copy.path) == (PROJECT, Path("/somewhere/flowers.studio.json"))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "lantern-studio-recovery"}', '{"format": "other"}'])
def test_that_a_damaged_copy_is_passed_over_and_kept(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    orphan(tmp_path)
    assert [copy.project.name for copy in left_behind(tmp_path)] == ["flowers"]
    assert file.exists()


def test_that_unsaved_work_is_kept_and_saved_work_is_not(shell: Shell, tmp_path: Path) -> None:
    keeping, document = shell.safekeeping, shell.workspace.document
    keeping.keep()
    assert not keeping.file.file.exists()
    document.edit("Name", lambda project: replace(project, name="tulips"))
    keeping.keep()
    assert json.loads(keeping.file.file.read_text("utf-8"))["project"]["name"] == "tulips"
    document.save(tmp_path / "tulips.studio.json")
    assert not keeping.file.file.exists()


def test_that_the_welcome_recovers_what_a_crash_left(qtbot: QtBot, shell: Shell) -> None:
    left = orphan(shell.workspace.folders.data / "recovery")
    shell.safekeeping.offer(shell.welcome)
    button = shell.welcome.findChild(QPushButton, "welcome.recover")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    document = shell.workspace.document
    assert document.project == PROJECT and not document.is_saved
    assert not left.exists()


def test_that_recovered_work_is_kept_anew_before_its_copy_goes(qtbot: QtBot, shell: Shell) -> None:
    left = orphan(shell.workspace.folders.data / "recovery")
    shell.safekeeping.offer(shell.welcome)
    qtbot.mouseClick(shell.welcome.findChild(QPushButton, "welcome.recover"), Qt.MouseButton.LeftButton)
    assert json.loads(shell.safekeeping.file.file.read_text("utf-8"))["project"]["name"] == "flowers"
    assert not left.exists()


def test_that_a_copy_stays_while_recovered_work_cannot_be_kept(
    qtbot: QtBot, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = orphan(shell.workspace.folders.data / "recovery")
    shell.safekeeping.offer(shell.welcome)

    def full(project: Project, path: Path | None) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shell.safekeeping.file, "write", full)
    qtbot.mouseClick(shell.welcome.findChild(QPushButton, "welcome.recover"), Qt.MouseButton.LeftButton)
    assert left.exists() and shell.workspace.document.project == PROJECT


def test_that_a_copy_can_be_discarded(qtbot: QtBot, shell: Shell) -> None:
    left = orphan(shell.workspace.folders.data / "recovery")
    shell.safekeeping.offer(shell.welcome)
    qtbot.mouseClick(shell.welcome.findChild(QPushButton, "welcome.discard"), Qt.MouseButton.LeftButton)
    assert not left.exists() and shell.workspace.document.is_untouched
    qtbot.waitUntil(lambda: shell.welcome.findChild(QFrame, "welcome.recovered") is None)


def test_that_a_full_disk_is_said_once(shell: Shell) -> None:
    folder = shell.workspace.folders.data
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where a folder should be")
    shell.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    shell.safekeeping.keep()
    assert "recovery copy" in shell.notices.words.text()
    shell.notices.hide()
    shell.safekeeping.keep()
    assert not shell.notices.isVisible()
