"""What the window itself can do, whatever page is shown: the File, Edit, View and Help menus."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from studio.core.text import tr
from studio.view.actions import Action
from studio.view.menus import SUBMENU
from studio.view.openings import Openings
from studio.view.places import Place
from studio.view.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Doings:
    """What the window does for these actions."""

    close: Callable[[], None]
    toggle_hints: Callable[[], None]
    show_palette: Callable[[], None]
    show_settings: Callable[[], None]
    show_guide: Callable[[], None]
    show_doctor: Callable[[], None]
    show_about: Callable[[], None]


def menu_order() -> tuple[str, ...]:
    """The titles of the menus from left to right; menus of pages that are not named come before the last."""
    work = (tr("Pictures"), tr("Network"), tr("Run"), tr("Results"), tr("Export"))
    return (tr("File"), tr("Edit"), tr("View"), *work, tr("Help"))


def own_actions(workspace: Workspace, openings: Openings, doings: Doings, places: Iterable[Place]) -> list[Action]:
    return [
        *_file_actions(openings, doings),
        *_edit_actions(workspace),
        *_view_actions(workspace, doings, places),
        *_help_actions(doings),
    ]


def _file_actions(openings: Openings, doings: Doings) -> list[Action]:
    menu = tr("File")
    return [
        Action("file.new", tr("New project"), openings.new, "Ctrl+N", menu, help=tr("Begin with nothing.")),
        Action("file.folder", tr("Choose a folder of pictures…"), openings.choose_folder_dialog, "", menu,
               help=tr("Where the pictures are; the folders in it are the classes.")),
        Action("file.sample", tr("Open the sample project"), openings.open_sample, "", menu,
               help=tr("2,000 handwritten digits that a small network learns in under a minute.")),
        Action("file.open", tr("Open a project…"), openings.open_dialog, "Ctrl+O", menu, is_separated=True,
               help=tr("Opens a file that ends in .studio.json.")),
        Action("file.open_run", tr("Open a run…"), openings.open_run_dialog, "", menu,
               help=tr("Shows the record of an earlier run, with the project that it ran.")),
        Action("file.save", tr("Save"), openings.save, "Ctrl+S", menu, is_separated=True,
               help=tr("Saves the project to its file.")),
        Action("file.save_as", tr("Save as…"), openings.save_as, "Ctrl+Shift+S", menu,
               help=tr("Saves the project to another file.")),
        Action("file.settings", tr("Settings…"), doings.show_settings, "Ctrl+,", menu, is_separated=True,
               help=tr("Language, colours, where training runs.")),
        Action("file.quit", tr("Quit"), doings.close, "Ctrl+Q", menu, is_separated=True,
               help=tr("Closes the window; asks about a run that goes on and about unsaved work.")),
    ]  # fmt: skip


def recent_actions(workspace: Workspace, openings: Openings) -> list[Action]:
    """One action for each project that was open before."""
    menu = tr("File") + SUBMENU + tr("Open recent")

    def opener(path: str) -> Callable[[], None]:
        return lambda: openings.open_project(Path(path))

    return [
        Action(f"file.recent.{number}", Path(path).name, opener(path), "", menu, help=path, before="file.save")
        for number, path in enumerate(workspace.settings.value.recent)
    ]


def _edit_actions(workspace: Workspace) -> list[Action]:
    document, menu = workspace.document, tr("Edit")

    def undo_text() -> str:
        return tr("Undo: {what}", what=document.undo_label) if document.undo_label else tr("Undo")

    def redo_text() -> str:
        return tr("Redo: {what}", what=document.redo_label) if document.redo_label else tr("Redo")

    return [
        Action("edit.undo", undo_text, document.undo, "Ctrl+Z", menu, lambda: document.undo_label is not None,
               help=tr("Takes the newest change of the project back.")),
        Action("edit.redo", redo_text, document.redo, "Ctrl+Shift+Z", menu, lambda: document.redo_label is not None,
               help=tr("Does again what was taken back.")),
    ]  # fmt: skip


def _view_actions(workspace: Workspace, doings: Doings, places: Iterable[Place]) -> list[Action]:
    menu, colours = tr("View"), tr("View") + SUBMENU + tr("Colours")

    def goer(page: str) -> Callable[[], None]:
        return lambda: workspace.navigator.go(page)

    def painter(theme: Literal["system", "light", "dark"]) -> Callable[[], None]:
        settings = workspace.settings
        return lambda: settings.change(replace(settings.value, theme=theme))

    going = [
        Action(f"view.{place.id}", tr(place.label), goer(place.id), f"Ctrl+{number}", menu, help=tr(place.help))
        for number, place in enumerate(places, start=1)
    ]
    return [
        *going,
        Action("view.hints", tr("Hints"), doings.toggle_hints, "Ctrl+H", menu, is_separated=True,
               help=tr("Opens or closes the drawer with what could be better.")),
        Action("view.palette", tr("Find a command…"), doings.show_palette, "Ctrl+K", menu,
               help=tr("Type a few letters of anything that can be done here.")),
        Action("view.system", tr("Colours as the system"), painter("system"), "", colours,
               help=tr("Light or dark, as the system is set.")),
        Action("view.light", tr("Light colours"), painter("light"), "", colours, help=tr("Dark text on light ground.")),
        Action("view.dark", tr("Dark colours"), painter("dark"), "", colours, help=tr("Light text on dark ground.")),
    ]  # fmt: skip


def _help_actions(doings: Doings) -> list[Action]:
    menu = tr("Help")
    return [
        Action("help.guide", tr("User guide"), doings.show_guide, "F1", menu, help=tr("A tour of five minutes.")),
        Action("help.doctor", tr("Check this computer…"), doings.show_doctor, "", menu,
               help=tr("Looks at everything that training depends on: torch, graphics card, memory, disk.")),
        Action("help.about", tr("About Lantern Studio"), doings.show_about, "", menu, is_separated=True,
               help=tr("The version, and the software that it is built on.")),
    ]  # fmt: skip
