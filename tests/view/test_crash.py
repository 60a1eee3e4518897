"""A bug saves the work and becomes a report that holds nothing personal."""

from __future__ import annotations

import getpass
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from studio.core.project import Data
from studio.view.crash import BugDialog
from studio.view.report import private_words, report_text, without_private
from studio.view.shell import Shell

pytestmark = pytest.mark.qt


def fail() -> None:
    raise ValueError("a wheel came off")


def dialog_of(shell: Shell) -> BugDialog | None:
    return shell.window.findChild(BugDialog, "bug")


@pytest.fixture
def catching(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell that has taken the hooks; what it prints goes nowhere."""
    monkeypatch.setattr(sys, "stderr", None)
    shell.safekeeping.start()
    return shell


def test_that_an_uncaught_exception_keeps_the_project_and_shows_a_report(
    qtbot: QtBot, catching: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    catching.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    hook = sys.excepthook
    try:
        fail()
    except ValueError:
        hook(*sys.exc_info())
    dialog = dialog_of(catching)
    assert dialog is not None and dialog.isVisible() and not dialog.isModal()
    text = dialog.report.toPlainText()
    assert "ValueError: a wheel came off" in text and text.startswith("Lantern Studio")
    assert catching.safekeeping.file.file.exists()
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == text


def test_that_an_exception_in_another_thread_arrives_in_the_window_s(qtbot: QtBot, catching: Shell) -> None:
    thread = threading.Thread(target=fail, name="worker")
    # pytest watches for exceptions in threads by the same hook; ours is in place while the thread runs.
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: dialog_of(catching) is not None)
    dialog = dialog_of(catching)
    assert dialog is not None and "a wheel came off" in dialog.report.toPlainText()


def test_that_a_bug_that_repeats_is_counted_in_one_window(qtbot: QtBot, catching: Shell) -> None:
    for _ in range(3):
        catching.safekeeping.report(ValueError("again"))
    dialogs = catching.window.findChildren(BugDialog, "bug")
    assert len(dialogs) == 1 and "3 times" in dialogs[0].words.text()


def test_that_the_hooks_are_given_back(shell: Shell) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    shell.safekeeping.start()
    assert sys.excepthook != before[0]
    shell.safekeeping.stop()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before


def test_that_a_failing_copy_does_not_hide_the_report(catching: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = catching.workspace.folders.data
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where a folder should be")
    catching.workspace.document.edit("Name", lambda project: replace(project, name="tulips"))
    catching.safekeeping.report(ValueError("again"))
    assert dialog_of(catching) is not None


def test_that_a_report_names_neither_folders_nor_the_user(shell: Shell, tmp_path: Path) -> None:
    pictures = tmp_path / "Secret Patients"
    shell.workspace.document.edit("Choose", lambda project: replace(project, data=Data(str(pictures))))
    shell.workspace.pictures.cancel()
    trace = (
        f'File "{Path.home()}/code/x.py"\nOSError: {pictures}/anna/1.png of {getpass.getuser()} in {tmp_path}/home/runs'
    )
    text = report_text(trace, shell.safekeeping._private())
    assert "Secret Patients" not in text and str(Path.home()) + "/" not in text
    assert "<pictures>/anna/1.png" in text and '"<home>/code/x.py"' in text and "<runs>" in text


def test_that_windows_paths_go_in_each_way_they_are_written() -> None:
    private = private_words([(r"C:\Users\Eve\pics", "<pictures>")])
    text = without_private(r"C:\Users\Eve\pics\a.png 'C:\\Users\\Eve\\pics\\b.png' C:/Users/Eve/pics/c.png", private)
    assert "Eve" not in text and text.count("<pictures>") == 3


def test_that_short_names_do_not_tear_words_apart() -> None:
    assert without_private("parameters of root", (("root", "<user>"),)) == "parameters of <user>"
    assert without_private("uprooted", (("root", "<user>"),)) == "uprooted"
