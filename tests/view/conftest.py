"""What the tests of the window share: a workspace over temporary folders, fakes at its seams, no thread left behind."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

pytest.importorskip("PySide6")

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.core.files import Folders
from studio.core.settings import Settings
from studio.core.text import set_language
from studio.view.actions import Actions
from studio.view.background import join_all
from studio.view.document import Document
from studio.view.pictures import Pictures
from studio.view.shell import Shell
from studio.view.theme import theme
from studio.view.training import Training
from studio.view.window import USUAL_PX, MainWindow
from studio.view.windowstate import WindowState
from studio.view.workspace import Navigator, SettingsHolder, Workspace
from tests.view.fakes import FakeEngine, FakeLauncher
from tests.view.stage import PLACES

_PATIENCE_SECONDS = 5.0


@pytest.fixture(autouse=True)
def no_leftover_threads() -> Iterator[None]:
    """A test that leaves a thread running fails: such a thread would keep the program from ending."""
    before = set(threading.enumerate())
    yield
    join_all()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (left := [t for t in threading.enumerate() if t not in before]) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left, f"threads left running: {left}"


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Tests read English, whatever the machine speaks and whatever the test before has set."""
    set_language("en")
    yield
    set_language("en")


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders.under(tmp_path / "home")


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def launchers() -> dict[str, FakeLauncher]:
    return {"process": FakeLauncher(), "thread": FakeLauncher()}


@pytest.fixture
def workspace(
    qapp: QApplication, folders: Folders, engine: FakeEngine, launchers: dict[str, FakeLauncher]
) -> Iterator[Workspace]:
    """The real parts over temporary folders; only the engine and the launchers are fakes."""
    document = Document()
    made = Workspace(
        folders=folders,
        settings=SettingsHolder(Settings(), folders),
        document=document,
        pictures=Pictures(document, folders.cache),
        training=Training(folders, dict(launchers)),
        engine=engine,  # type: ignore[arg-type]  # the fake has the same methods
        actions=Actions(),
        navigator=Navigator(),
    )
    yield made
    made.pictures.cancel()
    made.training.detach()
    join_all()


@pytest.fixture
def shell(qtbot: QtBot, workspace: Workspace) -> Iterator[Shell]:
    """A furnished window over `workspace`, with small pages in its places."""
    theme().use("light")
    window = MainWindow(WindowState())
    # The screen that tests see is small, and a new window keeps within its screen.
    window.resize(QSize(*USUAL_PX))
    made = Shell(window, workspace, WindowState(), PLACES)
    window.show()
    # A bare X server has no window manager that would make a new window the active one.
    window.activateWindow()
    with qtbot.waitActive(window):
        pass
    yield made
    made.end()
    workspace.training.detach()
    window.is_furnished = False
    window.close()
    window.deleteLater()
