"""What every page may use: the open project, its pictures, the run, the settings and the actions, handed in once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from studio.core.files import Folders
from studio.core.settings import Settings, save_settings
from studio.view.actions import Action, Actions
from studio.view.document import Document
from studio.view.pictures import Pictures
from studio.view.training import Training

if TYPE_CHECKING:
    from studio.runs.launchers.process import EngineProcess


class PageStatus(Enum):
    """What the rail shows beside a page."""

    NOTHING = "nothing"
    READY = "ready"
    BUSY = "busy"
    WARNING = "warning"
    ERROR = "error"


class SettingsHolder(QObject):
    """The settings in use; `changed(old, new)` follows every change, which is saved at once."""

    changed = Signal(object, object)

    def __init__(self, settings: Settings, folders: Folders) -> None:
        super().__init__()
        self.value = settings
        self._folders = folders

    def change(self, settings: Settings) -> None:
        old, self.value = self.value, settings
        if old != settings:
            save_settings(settings, self._folders.config)
            self.changed.emit(old, settings)


class Navigator(QObject):
    """Asks the window to show a page ("data", "network", "train", "memory", "results", "export"); `target` says where
    on it (a block id, a class name). `hints_wanted` opens the hint drawer."""

    wanted = Signal(str, str)
    hints_wanted = Signal()

    def go(self, page: str, target: str = "") -> None:
        self.wanted.emit(page, target)


@dataclass(frozen=True)
class Workspace:
    """Handed to every page. No page reaches for anything else."""

    folders: Folders
    settings: SettingsHolder
    document: Document
    pictures: Pictures
    training: Training
    engine: EngineProcess
    actions: Actions
    navigator: Navigator


class Page(QWidget):
    """One of the six places of the window."""

    id: str = ""
    status_changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self.setObjectName(f"page.{self.id}")
        self.setProperty("role", "page")

    def status(self) -> PageStatus:
        return PageStatus.NOTHING

    def status_text(self) -> str:
        """One sentence about the status, for the rail's tooltip and screen readers."""
        return ""

    def actions_of_page(self) -> list[Action]:
        """What can be done here, for menus, shortcuts and the palette."""
        return []

    def show_target(self, target: str) -> None:
        """Bring what `target` names into view."""
