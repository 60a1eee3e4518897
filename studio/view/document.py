"""The project that is open: its value, its history and its file. The only place where a project is changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.core.check import Report, check
from studio.core.edits import Edit
from studio.core.history import History
from studio.core.problem import Fix
from studio.core.project import Project, load_project, save_project
from studio.core.text import fix_label, tr


class Document(QObject):
    """The open project.

    `changed(old, new)` follows every edit, undo, redo and opening; views compare parts with `is` and redraw what
    differs. `saved_changed()` follows when it becomes saved or unsaved, or its path changes. `opened()` follows when
    another project is in place.
    """

    changed = Signal(object, object)
    saved_changed = Signal()
    opened = Signal()

    def __init__(self, project: Project | None = None, path: Path | None = None) -> None:
        super().__init__()
        self._history = History(project or Project())
        self._saved: Project | None = self._history.value
        self.path = path

    @property
    def project(self) -> Project:
        return self._history.value

    @property
    def report(self) -> Report:
        """Shapes, counts, forecast and problems of the present project; cached by `check`."""
        return check(self.project)

    @property
    def is_saved(self) -> bool:
        return self.project == self._saved

    @property
    def is_untouched(self) -> bool:
        """Whether this is the empty project of a fresh window."""
        return self.path is None and self.project == Project()

    @property
    def undo_label(self) -> str | None:
        return self._history.undo_label

    @property
    def redo_label(self) -> str | None:
        return self._history.redo_label

    def edit(self, label: str, function: Callable[[Project], Project], merge: str | None = None) -> None:
        """Change the project. `label` is shown as "Undo <label>"; edits with the same `merge` key become one step.

        Raises:
            ValueError: the function made a value outside its limits; nothing is changed then.
        """
        old = self.project
        self._history.push(label, function(old), merge)
        self._announce(old)

    def apply(self, edit: Edit, label: str) -> None:
        """Apply an edit that is stored as data."""
        self.edit(label, edit.apply)

    def apply_fix(self, fix: Fix) -> None:
        """Apply a proposed fix as an ordinary undoable edit."""
        self.apply(fix.edit, fix_label(fix))

    def undo(self) -> None:
        old = self.project
        self._history.undo()
        self._announce(old)

    def redo(self) -> None:
        old = self.project
        self._history.redo()
        self._announce(old)

    def seal(self) -> None:
        """A drag or a run of key presses is over: the next edit is an undo step of its own."""
        self._history.seal()

    def open(self, project: Project, path: Path | None = None, *, saved: bool = True) -> None:
        """Put another project in place, with a fresh history."""
        old = self.project
        self._history = History(project)
        self._saved = project if saved else None
        self.path = path
        self.changed.emit(old, project)
        self.saved_changed.emit()
        self.opened.emit()

    def become_new(self, name: str, merge: str | None = None) -> None:
        """Go on as another project called `name` that has no file yet; the file it came from stays as it is. The
        name is an undoable edit, the file does not come back."""
        self.edit(tr("Make it a new project"), lambda project: replace(project, name=name), merge)
        self.path = self._saved = None
        self.saved_changed.emit()
        self.opened.emit()

    def load(self, path: Path) -> None:
        """Open the project file at `path`.

        Raises:
            ProjectUnreadable: the file cannot be used; the open project stays.
        """
        self.open(load_project(path), path)

    def save(self, path: Path) -> None:
        """Write the project to `path`.

        Raises:
            OSError: it cannot be written; the old file is whole.
        """
        save_project(self.project, path)
        self.path = path
        self._saved = self.project
        self.saved_changed.emit()

    def _announce(self, old: Project) -> None:
        if self.project is not old:
            self.changed.emit(old, self.project)
            self.saved_changed.emit()
