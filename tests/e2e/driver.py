"""Drives the real application, with its real engine, as a person would: waits, clicks, types and looks."""

from __future__ import annotations

import locale
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox, QWidget

from studio.app import Studio
from studio.core.files import Folders
from studio.core.settings import Settings, save_settings
from studio.view.shell import Shell
from studio.view.workspace import Workspace

W = TypeVar("W", bound=QWidget)

_ROUND_MS = 10


class TimedOut(AssertionError):
    """What was waited for did not come."""


@dataclass
class Driver:
    """One open window. `studio` is the application itself; nothing in it is replaced."""

    studio: Studio

    @property
    def shell(self) -> Shell:
        assert self.studio.shell is not None, "the window is not furnished yet"
        return self.studio.shell

    @property
    def workspace(self) -> Workspace:
        return self.shell.workspace

    def wait(self, condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
        """Let the window live until `condition` holds.

        Raises:
            TimedOut: it did not within `seconds`; a generous bound, not a measurement.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimedOut(f"waited {seconds:g} s for: {what}")
            QTest.qWait(_ROUND_MS)

    def settle(self, seconds: float = 0.3) -> None:
        """Let timers and layouts come to rest before a look."""
        QTest.qWait(int(seconds * 1000))

    def find(self, kind: type[W], name: str, root: QWidget | None = None) -> W:
        """The visible widget with this object name, in the window or its dialogs."""
        roots = [root] if root is not None else [*QApplication.topLevelWidgets()]
        for top in roots:
            for widget in (top, *top.findChildren(kind)):
                if isinstance(widget, kind) and widget.objectName() == name and widget.isVisible():
                    return widget
        raise AssertionError(f"no visible {kind.__name__} is called {name!r}")

    def has(self, kind: type[QWidget], name: str) -> bool:
        try:
            self.find(kind, name)
        except AssertionError:
            return False
        return True

    def click(self, name: str) -> None:
        """Click the button with this object name, with the mouse."""
        button = self.find(QAbstractButton, name)
        assert button.isEnabled(), f"{name} is not enabled"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton, pos=button.rect().center())

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key in whatever has the focus."""
        QTest.keyClick(QApplication.focusWidget() or self.studio.window, key, modifiers)

    def go(self, place: str) -> None:
        """Click a place in the rail."""
        self.click(f"rail.{place}")
        self.settle(0.2)

    def answer(self, id: str) -> None:
        """Answer the question that is asked."""
        self.wait(lambda: self.has(QMessageBox, "question"), "a question", 10)
        self.click(f"answer.{id}")

    def move_mouse_away(self) -> None:
        """No hover and no tooltip in a picture."""
        QTest.mouseMove(self.studio.window, QPoint(700, 2))

    def close(self) -> None:
        """Close the window without being asked, as when the system ends; waits until everything is joined."""
        if self.studio.shell is not None:
            self.shell.closing.leave_now()
            self.wait(lambda: not self.studio.window.isVisible(), "the window to be gone", 30)
        self.studio.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def application() -> QApplication:
    """The one QApplication, made as the program makes it."""
    found = QApplication.instance()
    made = found if isinstance(found, QApplication) else QApplication(["studio"])
    locale.setlocale(locale.LC_NUMERIC, "C")
    return made


@contextmanager
def open_window(home: Path, settings: Settings | None = None, *paths: Path) -> Iterator[Driver]:
    """The application over the folder `home`, opened with `paths`, closed at the end."""
    application()
    folders = Folders.under(home)
    if settings is not None:
        save_settings(settings, folders.config)
    studio = Studio(folders)
    driver = Driver(studio)
    studio.open(paths)
    try:
        driver.wait(lambda: studio.shell is not None, "the window to be furnished", 30)
        driver.wait(lambda: len(driver.shell.pages) == len(driver.shell.rail.buttons), "the pages", 60)
        yield driver
    finally:
        driver.close()
