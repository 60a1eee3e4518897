"""File dialogs that begin where the last one for the same purpose ended."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from studio.core.frozen import FrozenMap
from studio.view.workspace import SettingsHolder

Purpose = Literal["project", "pictures", "classify", "model"]


def file_dialog(
    parent: QWidget,
    settings: SettingsHolder,
    title: str,
    purpose: Purpose,
    mode: QFileDialog.FileMode = QFileDialog.FileMode.AnyFile,
    *,
    start: Path | None = None,
) -> QFileDialog:
    """A dialog that is not modal to the program and deletes itself; `open()` shows it.

    It begins in the folder that was used last for `purpose`, else in `start`, else in the home folder. Saving is
    meant with `AnyFile`, opening with the other modes.
    """
    dialog = QFileDialog(parent, title, str(_beginning(settings, purpose, start)))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setFileMode(mode)
    if mode is QFileDialog.FileMode.AnyFile:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    if mode is QFileDialog.FileMode.Directory:
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.filesSelected.connect(lambda names: _remember(settings, purpose, names))
    return dialog


def _beginning(settings: SettingsHolder, purpose: Purpose, start: Path | None) -> Path:
    used = settings.value.last_folders.get(purpose)
    places = (Path(used) if used else None, start)
    return next((place for place in places if place is not None and place.is_dir()), Path.home())


def _remember(settings: SettingsHolder, purpose: Purpose, names: list[str]) -> None:
    """Of a chosen folder the one that it lies in, which shows it among its neighbours."""
    if names:
        folders = FrozenMap({**settings.value.last_folders, purpose: str(Path(names[0]).parent)})
        settings.change(replace(settings.value, last_folders=folders))
