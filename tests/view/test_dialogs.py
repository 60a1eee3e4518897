"""The windows beside the window: settings, doctor, guide, about."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QComboBox, QDialog, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from studio import __version__
from studio.core.problem import Problem
from studio.core.settings import load_settings
from studio.view.doctor_dialog import DoctorDialog
from studio.view.guide import AboutDialog, GuideDialog, fit_to_page, guide_text
from studio.view.settings_dialog import SettingsDialog
from studio.view.shell import Shell
from studio.view.theme import theme
from tests.view.fakes import FakeEngine

pytestmark = pytest.mark.qt


def test_that_a_changed_setting_holds_at_once_and_is_kept(qtbot: QtBot, shell: Shell) -> None:
    shell.show_settings()
    dialog = shell.window.findChild(SettingsDialog, "settings")
    assert isinstance(dialog, SettingsDialog) and not dialog.isModal()
    combo = dialog.form.editors["theme"].input
    assert isinstance(combo, QComboBox)
    combo.setCurrentIndex(combo.findData("dark"))
    assert theme().mode == "dark"
    assert load_settings(shell.workspace.folders.config).theme == "dark"
    shell.workspace.actions.trigger("view.light")
    assert combo.currentData() == "light"


def test_that_another_language_says_when_it_comes(shell: Shell) -> None:
    shell.show_settings()
    dialog = shell.window.findChild(SettingsDialog, "settings")
    assert isinstance(dialog, SettingsDialog)
    combo = dialog.form.editors["language"].input
    assert isinstance(combo, QComboBox)
    combo.setCurrentIndex(combo.findData("zh_CN"))
    assert "opened the next time" in shell.notices.words.text()


def test_that_a_dialog_is_opened_once(shell: Shell) -> None:
    shell.show_settings()
    shell.show_settings()
    assert len(shell.window.findChildren(SettingsDialog)) == 1


def test_that_the_doctor_judges_with_the_engine_s_facts(qtbot: QtBot, shell: Shell, engine: FakeEngine) -> None:
    shell.show_doctor()
    dialog = shell.window.findChild(DoctorDialog, "doctor")
    assert isinstance(dialog, DoctorDialog)
    qtbot.waitUntil(lambda: bool(dialog.checks), timeout=10_000)
    assert ("proof",) in engine.questions
    assert [check.verdict for check in dialog.checks if check.id == "proof-cpu"] == ["ok"]
    assert not dialog.bar.isVisible() and dialog.again.isEnabled()
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text().count("\n") == len(dialog.checks)


def test_that_a_broken_engine_is_a_line_of_the_doctor(qtbot: QtBot, shell: Shell, engine: FakeEngine) -> None:
    engine.answers["proof"] = Problem("torch_missing")
    shell.show_doctor()
    dialog = shell.window.findChild(DoctorDialog, "doctor")
    assert isinstance(dialog, DoctorDialog)
    qtbot.waitUntil(lambda: bool(dialog.checks), timeout=10_000)
    assert any(check.verdict == "error" for check in dialog.checks)


def test_that_the_guide_and_the_version_can_be_read(shell: Shell) -> None:
    shell.show_guide()
    shell.show_about()
    guide = shell.window.findChild(GuideDialog, "guide")
    assert isinstance(guide, GuideDialog) and "Lantern Studio" in guide.page.toPlainText()
    assert "python3 dev.py run" in guide_text()
    about = shell.window.findChild(AboutDialog, "about")
    assert about is not None and __version__ in " ".join(_texts(about))


def _texts(dialog: QDialog) -> list[str]:
    from PySide6.QtWidgets import QLabel

    return [label.text() for label in dialog.findChildren(QLabel)]


def test_that_every_button_of_the_window_is_named_and_explained(shell: Shell) -> None:
    for show in (shell.show_settings, shell.show_doctor, shell.show_about, lambda: shell.show_drawer(True)):
        show()
    nameless = [
        button.objectName() or type(button).__name__
        for button in shell.window.findChildren(QAbstractButton)
        if button.isVisible() and not (button.toolTip() and (button.accessibleName() or button.text()))
    ]
    assert not [name for name in nameless if not name.startswith("qt_")]


def test_that_the_guide_is_as_wide_as_its_window_and_can_be_closed(qtbot: QtBot, shell: Shell) -> None:
    shell.show_guide()
    guide = shell._dialogs[GuideDialog]
    assert isinstance(guide, GuideDialog)
    guide.page.setMarkdown("A line.\n\n```\n" + "a long command " * 40 + "\n```\n")
    fit_to_page(guide.page.document())
    assert guide.page.horizontalScrollBar().maximum() == 0
    qtbot.mouseClick(guide.findChild(QPushButton, "guide.close"), Qt.MouseButton.LeftButton)
    assert not guide.isVisible()


def test_that_the_settings_grow_and_shrink_with_what_is_unfolded(qtbot: QtBot, shell: Shell) -> None:
    shell.show_settings()
    dialog = shell._dialogs[SettingsDialog]
    assert isinstance(dialog, SettingsDialog)
    before = dialog.height()
    button = dialog.findChild(QToolButton, "form.advanced")
    assert button is not None
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.height() > before)
    field = dialog.form.editors["cache_budget_gb"]
    assert field.height() >= field.minimumSizeHint().height()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.height() <= before)
