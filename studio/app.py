"""Puts the window together; the only module that knows every side of it.

The frame is on the screen before anything else is imported; the parts follow as soon as it has been painted.
"""

from __future__ import annotations

import locale
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from studio.folders import user_folders
from studio.view.window import NAME, MainWindow
from studio.view.windowstate import load_window_state, save_window_state

if TYPE_CHECKING:
    from studio.core.files import Folders
    from studio.runs.launchers import Launcher
    from studio.view.shell import Shell
    from studio.view.workspace import Workspace

# Python's own signal handlers run only between two pieces of Python; the strip's clock gives them that every second.
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def main(argv: Sequence[str]) -> int:
    """Open the window, with the project, run, folder or picture that `argv` names; the exit code."""
    # On Windows, the task bar groups by this name; elsewhere the desktop finds the program's entry by it.
    QApplication.setApplicationName(NAME)
    QApplication.setDesktopFileName("lantern-studio")
    application = QApplication([sys.argv[0]])
    # Qt takes the system's locale for C as well, and code that writes numbers as text would write 0,5.
    locale.setlocale(locale.LC_NUMERIC, "C")
    studio = Studio(user_folders())
    studio.open([Path(name) for name in argv])
    code = application.exec()
    return studio.leave(code)


class Studio:
    """One window with everything behind it. `shell` and `workspace` are there once the first paint is done."""

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self._state = load_window_state(folders.config)
        self._paths: list[Path] = []
        self._keeps_engine = False
        self.workspace: Workspace | None = None
        self.shell: Shell | None = None
        self.window = MainWindow(self._state)
        self.window.painted.connect(self.furnish)

    def open(self, paths: Sequence[Path]) -> None:
        """Show the window; `paths` are opened in it."""
        self._paths = list(paths)
        self.window.show()

    def furnish(self) -> None:
        """Put everything into the window, right after its first paint; a window is furnished only once."""
        if self.workspace is not None:
            return
        from studio.core.text import set_language
        from studio.view.shell import Shell
        from studio.view.theme import theme

        workspace = self.workspace = make_workspace(self.folders)
        set_language(workspace.settings.value.language)
        theme().use(workspace.settings.value.theme)
        theme().follow_system()
        workspace.engine.warm()
        shell = self.shell = Shell(self.window, workspace, self._state)
        shell.closing.left.connect(self._on_left)
        shell.begin()
        for path in self._paths[:1]:
            shell.openings.open_path(path.absolute())
        for name in _SIGNALS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda *_: shell.closing.leave_now())

    def _on_left(self, keeps_engine: bool) -> None:
        """Nothing stands in the way: put everything away, then let the window go."""
        from studio.view.background import join_all
        from studio.view.theme import theme

        self._keeps_engine = keeps_engine
        shell, workspace = self.shell, self.workspace
        if shell is None or workspace is None:
            return
        with suppress(OSError):
            save_window_state(shell.state(theme().mode == "dark"), self.folders.config)
        self.window.hide()
        shell.end()
        workspace.pictures.cancel()
        workspace.training.detach()
        join_all()
        if not keeps_engine:
            workspace.engine.close()
        self.window.close()
        QApplication.quit()

    def leave(self, code: int) -> int:
        """The end of the program: at once where an engine was left to finish a run, whose answers a thread awaits."""
        if self._keeps_engine:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            os._exit(code)
        return code


def make_workspace(folders: Folders) -> Workspace:
    """Everything that the pages share, over the real engine and launchers."""
    from studio.core.settings import load_settings
    from studio.runs.launchers.process import EngineProcess, ProcessLauncher
    from studio.runs.launchers.thread import ThreadLauncher
    from studio.view.actions import Actions
    from studio.view.document import Document
    from studio.view.pictures import Pictures
    from studio.view.training import Training
    from studio.view.workspace import Navigator, SettingsHolder, Workspace

    engine = EngineProcess(folders.cache)
    launchers: dict[str, Launcher] = {
        "process": ProcessLauncher(folders.cache, engine),
        "thread": ThreadLauncher(folders.cache),
    }
    document = Document()
    return Workspace(
        folders=folders,
        settings=SettingsHolder(load_settings(folders.config), folders),
        document=document,
        pictures=Pictures(document, folders.cache),
        training=Training(folders, launchers),
        engine=engine,
        actions=Actions(),
        navigator=Navigator(),
    )
