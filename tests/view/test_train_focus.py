"""Where the keyboard is on the Train page, and which button is the likeliest next step."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from studio.view.pages.train import TrainPage
from studio.view.workspace import Workspace
from tests.view.fakes import FakeLauncher, started
from tests.view.train_page import ended, hear, run_of, stepped, train_page

pytestmark = pytest.mark.qt


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> TrainPage:
    return train_page(qtbot, workspace, tmp_path)


def test_that_the_keyboard_stays_with_the_run_s_buttons(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    page.window().activateWindow()
    with qtbot.waitActive(page.window()):
        pass
    controls = page.controls
    controls.start.setFocus()
    qtbot.keyClick(controls.start, Qt.Key.Key_Space)
    handle = launchers["process"].handles[-1]
    handle.ends_when_stopped = False
    assert controls.hasFocus()
    hear(page, handle, started(), stepped(1))
    assert controls.pause.hasFocus()
    controls.stop.setFocus()
    qtbot.keyClick(controls.stop, Qt.Key.Key_Space)
    assert controls.hasFocus()
    hear(page, handle, ended("stopped"))
    handle.end()
    page.workspace.training.poll()
    assert controls.start.hasFocus()


def test_that_focus_elsewhere_is_left_alone(page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot) -> None:
    page.window().activateWindow()
    with qtbot.waitActive(page.window()):
        pass
    handle = run_of(page, launchers)
    field = page.recipe.findChild(QSpinBox, "field.epochs")
    assert field is not None
    field.setFocus()
    hear(page, handle, started(), stepped(1), ended("stopped"))
    handle.end()
    page.workspace.training.poll()
    assert field.hasFocus()


def test_that_after_a_stop_only_resuming_is_the_likeliest_step(
    page: TrainPage, launchers: dict[str, FakeLauncher]
) -> None:
    assert primary_buttons(page) == ["run.start", "train.empty.go"]
    handle = run_of(page, launchers)
    checkpoint = handle.run_folder / "checkpoints" / "step-1.safetensors"
    checkpoint.write_bytes(b"x")
    hear(page, handle, started(), stepped(1), ended("stopped"))
    handle.end()
    page.workspace.training.poll()
    assert primary_buttons(page) == ["outcome.resume"]


def primary_buttons(page: TrainPage) -> list[str]:
    made = [b for b in page.findChildren(QPushButton) if b.isVisible() and b.property("role") == "primary"]
    return sorted(button.objectName() for button in made)
