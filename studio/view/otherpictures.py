"""Says so in place when the open project takes its pictures from another folder, and offers the other ways."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject

from studio.core.project import Project
from studio.core.text import tr
from studio.dataset.labels import shown
from studio.view.notices import NoticeBar, Offer
from studio.view.pictures import CHOOSE_FOLDER
from studio.view.workspace import Workspace


class OtherPictures(QObject):
    """Follows the choice of another folder, from whichever button it comes."""

    def __init__(self, workspace: Workspace, notices: NoticeBar) -> None:
        super().__init__()
        self._document, self._notices = workspace.document, notices
        self._text = ""
        self._folder = ""
        workspace.pictures.replaced.connect(self._on_replaced)
        self._document.changed.connect(self._on_project)

    def _on_replaced(self, before: Project) -> None:
        project = self._document.project
        self._folder = project.data.folder
        name = shown(project.name) or tr("This project")
        self._text = tr("{name} now uses the pictures in {folder}.", name=name, folder=shown(self._folder))
        as_new = Offer(
            tr("Make it a new project"),
            tr("Names it after the folder and leaves the old project's file as it is; network and recipe go along."),
            self._make_new,
        )
        back = Offer(
            tr("Undo"), tr("Takes the pictures from the folder before again."), lambda: self._take_back(before)
        )
        self._notices.say(self._text, "warning", offers=(as_new, back))

    def _make_new(self) -> None:
        name = Path(self._folder).name
        self._document.become_new(name, merge=CHOOSE_FOLDER)
        self._notices.say(tr("{name} is a new project now. It has no file yet.", name=shown(name)))

    def _take_back(self, before: Project) -> None:
        """Undo, or where more was done since then, only the choice of the folder."""
        document = self._document
        if document.undo_label == tr("Choose pictures"):
            document.undo()
            return
        document.edit(tr("Choose pictures"), lambda p: replace(p, data=before.data, preprocessing=before.preprocessing))

    def _on_project(self, old: Project, new: Project) -> None:
        """Nothing is offered about pictures that are no longer the project's."""
        if self._text and new.data.folder != self._folder:
            if self._notices.words.text() == self._text:
                self._notices.hide()
            self._text = ""
