"""File dialogs begin where the last one for the same purpose ended."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from studio.core.settings import load_settings
from studio.view.filedialogs import Purpose, file_dialog
from studio.view.workspace import Workspace

pytestmark = pytest.mark.qt


def folder_of(parent: QWidget, workspace: Workspace, purpose: Purpose, start: Path | None = None) -> Path:
    dialog = file_dialog(parent, workspace.settings, "Choose", purpose, QFileDialog.FileMode.Directory, start=start)
    found = Path(dialog.directory().absolutePath())
    dialog.deleteLater()
    return found


def test_that_a_dialog_begins_where_the_last_one_ended(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    chosen, start = tmp_path / "sets" / "flowers", tmp_path / "start"
    chosen.mkdir(parents=True)
    start.mkdir()
    assert folder_of(parent, workspace, "pictures") == Path.home()
    assert folder_of(parent, workspace, "pictures", start) == start
    dialog = file_dialog(parent, workspace.settings, "Choose", "pictures", QFileDialog.FileMode.Directory)
    dialog.filesSelected.emit([str(chosen)])
    dialog.deleteLater()
    assert folder_of(parent, workspace, "pictures", start) == chosen.parent
    assert folder_of(parent, workspace, "model", start) == start
    assert load_settings(workspace.folders.config).last_folders["pictures"] == str(chosen.parent)


def test_that_a_folder_that_is_gone_is_not_begun_with(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    (tmp_path / "gone").mkdir()
    dialog = file_dialog(parent, workspace.settings, "Save", "model")
    dialog.filesSelected.emit([str(tmp_path / "gone" / "a.zip")])
    dialog.deleteLater()
    (tmp_path / "gone").rmdir()
    assert folder_of(parent, workspace, "model", tmp_path) == tmp_path
