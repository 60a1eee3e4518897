"""The pictures of the folder to look through: filters above a grid, with repairs for what is chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from studio.core.edits import Edit, LeaveOut, Relabel
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.text import tr, trn
from studio.dataset.labels import shown
from studio.view.data.enlarged import EnlargedPicture
from studio.view.data.grid import LABEL_ROLE, PATH_ROLE, PLACE_ROLE, PictureGrid, PictureModel
from studio.view.data.thumbnails import Thumbnails
from studio.view.form import CalmCombo
from studio.view.theme import theme
from studio.view.workspace import Workspace

Places = NDArray[np.int64]
# More classes than this do not fit into a menu that one can still read.
_MOST_CLASSES_IN_MENU = 30


class PictureBrowser(QWidget):
    """Grid and filters. `current_changed(Path or None)` follows the chosen picture; `cleared()` "Show all"."""

    current_changed = Signal(object)
    cleared = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._class_row = -1
        self._finding: Problem | None = None
        self.thumbnails = Thumbnails()
        self.model = PictureModel(self.thumbnails)
        self.grid = PictureGrid(self.model)
        self.grid.selectionModel().currentChanged.connect(lambda *_: self.current_changed.emit(self.current_path()))
        self.grid.setToolTip(tr("Double-click, or press Enter, to see a picture large. Right-click for repairs."))
        self.grid.doubleClicked.connect(self.enlarge)
        self.grid.entered_key.connect(self.enlarge)
        self._enlarged: EnlargedPicture | None = None
        self.grid.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.grid.customContextMenuRequested.connect(self._open_menu)
        delete = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.grid, context=Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.leave_out_or_back)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 0)
        column.addLayout(self._filter_row())
        column.addWidget(self.grid, 1)

    def _filter_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.part = CalmCombo()
        self.part.setObjectName("data.part")
        self.part.setAccessibleName(tr("Which pictures are shown"))
        self.part.setToolTip(tr("Shows all pictures, or only those of one part of the split."))
        for key, text in (
            ("all", tr("All pictures")),
            ("train", tr("Training")),
            ("validation", tr("Validation")),
            ("test", tr("Test")),
            ("refused", tr("Left out")),
        ):
            self.part.addItem(text, key)
        self.part.currentIndexChanged.connect(lambda _: self.refresh())
        self._legend = QLabel()
        theme().changed.connect(self._show_legend)
        self._show_legend()
        self._count = QLabel()
        self._count.setProperty("role", "muted")
        self._clear = QPushButton(tr("Show all"))
        self._clear.setProperty("role", "link")
        self._clear.setObjectName("data.show_all")
        self._clear.setToolTip(tr("Shows the pictures of all classes and findings again."))
        self._clear.clicked.connect(self.show_all)
        row.addWidget(self.part)
        row.addWidget(self._count, 1)
        row.addWidget(self._clear)
        row.addWidget(self._legend)
        return row

    def _show_legend(self) -> None:
        """What the two colours of the class bars stand for."""
        names = (tr("Training"), tr("Validation"))
        squares = [f'<span style="color:{theme().series(n).name()}">■</span> {name}' for n, name in enumerate(names)]
        self._legend.setText("&nbsp;&nbsp;".join(squares))

    # What is shown

    def current_path(self) -> Path | None:
        """The file of the chosen picture."""
        path = self.grid.currentIndex().data(PATH_ROLE)
        return path if isinstance(path, Path) else None

    def show_class(self, row: int) -> None:
        """Only the pictures of this class; -1 for all."""
        self._class_row = row
        self.refresh()

    def show_files(self, finding: Problem) -> None:
        """Only the files of a finding."""
        self._finding = finding
        self.part.setCurrentIndex(0)
        self.refresh()

    def show_all(self) -> None:
        """Take every filter back."""
        self._finding = None
        self.part.setCurrentIndex(0)
        self.cleared.emit()
        self.refresh()

    def refresh(self) -> None:
        """Show what the folder's scan and inspection say now, as far as the filters let it through."""
        pictures = self._workspace.pictures
        if pictures.index is None or pictures.is_busy:
            self.thumbnails.forget()
        if self._finding is not None and self._finding not in pictures.problems:
            self._finding = None
        places = self._places()
        self.model.show(pictures.index, places, self._not_used())
        is_filtered = self._finding is not None or self._class_row >= 0 or self.part.currentData() != "all"
        self._clear.setVisible(is_filtered)
        self._count.setText(trn(len(places), "{n} picture", "{n:,} pictures"))
        if len(places) and not self.grid.currentIndex().isValid():
            first = self.model.index(0)
            self.grid.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.SelectCurrent)
        self.current_changed.emit(self.current_path())

    def _places(self) -> Places:
        pictures = self._workspace.pictures
        index, inspection, split = pictures.index, pictures.inspection, pictures.split
        if index is None:
            return np.zeros(0, np.int64)
        part = self.part.currentData()
        if part == "refused" and inspection is not None:
            places = np.flatnonzero(~inspection.usable())
        elif split is not None and part in ("train", "validation", "test"):
            places = {"train": split.train, "validation": split.validation, "test": split.test}[part]
        else:
            places = np.arange(len(index.pictures))
        if self._class_row >= 0:
            places = places[index.pictures.labels[places] == self._class_row]
        if self._finding is not None:
            wanted = set(self._finding.files)
            places = np.array([p for p in places if index.pictures.paths[p] in wanted], np.int64)
        return places.astype(np.int64)

    def _not_used(self) -> dict[str, Problem]:
        """Why pictures are left out: refused by the decoder, or by the person's own choice."""
        inspection = self._workspace.pictures.inspection
        if inspection is None:
            return {}
        reasons = dict(inspection.refused.items())
        for place in inspection.left_out:
            path = inspection.index.pictures.paths[int(place)]
            reasons[path] = Problem("picture.left_out_by_choice", Severity.INFO, path)
        return reasons

    def enlarge(self) -> None:
        """Show the chosen picture large, in the one window for that."""
        path, row = self.current_path(), self.grid.currentIndex()
        if path is None:
            return
        if self._enlarged is None:
            self._enlarged = EnlargedPicture(self)
        self._enlarged.show_picture(path, str(row.data(LABEL_ROLE)))

    # Repairs

    def chosen(self) -> tuple[str, ...]:
        """The names of the chosen pictures, as the project stores them."""
        index = self._workspace.pictures.index
        rows = self.grid.selectionModel().selectedIndexes()
        return tuple(shown(index.pictures.paths[row.data(PLACE_ROLE)]) for row in rows) if index is not None else ()

    def leave_out_or_back(self) -> None:
        """Leave the chosen pictures out; those that are all left out already are used again."""
        names = self.chosen()
        if names:
            is_back = set(names) <= set(self._workspace.document.project.data.left_out)
            label = tr("Use pictures again") if is_back else tr("Leave pictures out")
            self._workspace.document.apply(LeaveOut(names, use_again=is_back), label)

    def menu(self) -> QMenu:
        """What can be done with the chosen pictures: undoable edits of the project, never of a file."""
        names, project = self.chosen(), self._workspace.document.project
        menu = QMenu(self)
        if not names:
            return menu
        is_back = set(names) <= set(project.data.left_out)
        menu.addAction(tr("Use again") if is_back else tr("Leave out"), self.leave_out_or_back)
        if 2 <= len(project.data.classes) <= _MOST_CLASSES_IN_MENU:
            others = menu.addMenu(tr("It belongs to another class"))
            for name in project.data.classes:
                others.addAction(
                    shown(name), self._edit(tr("Change the class"), Relabel(FrozenMap(dict.fromkeys(names, name))))
                )
        if set(names) & set(project.data.relabelled):
            back = Relabel(FrozenMap(dict.fromkeys(names, "")))
            menu.addAction(tr("Back to the folder's class"), self._edit(tr("Change the class"), back))
        menu.addSeparator()
        menu.addAction(tr("Show it large"), self.enlarge)
        menu.addAction(tr("Show the folder"), self._show_folder)
        return menu

    def _edit(self, label: str, edit: Edit) -> Callable[[], None]:
        return lambda: self._workspace.document.apply(edit, label)

    def _open_menu(self, place: QPoint) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if not menu.isEmpty():
            menu.popup(self.grid.viewport().mapToGlobal(place))

    def _show_folder(self) -> None:
        path = self.current_path()
        if path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
