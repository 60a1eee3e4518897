"""The Data page: where the pictures are, what is in them, how they are split and prepared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from studio.core.problem import Problem, Severity
from studio.core.project import Project
from studio.core.text import tr, trn
from studio.dataset.labels import shown
from studio.dataset.layout import describe
from studio.dataset.progress import Progress
from studio.dataset.split import class_counts
from studio.view.actions import Action
from studio.view.data.classes import ClassModel, ClassRow, ClassTable
from studio.view.data.grid import PATH_ROLE, PictureGrid, PictureModel
from studio.view.data.side import SIDE_WIDTH_PX, SettingsColumn
from studio.view.data.thumbnails import Thumbnails
from studio.view.form import CalmCombo
from studio.view.theme import theme
from studio.view.workspace import Page, PageStatus, Workspace


class DataPage(Page):
    """Folder, class bars, thumbnails, findings, split and working size."""

    id = "data"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._file_filter: Problem | None = None
        self._thumbnails = Thumbnails()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty_state())
        self._stack.addWidget(self._full_state())
        workspace.pictures.changed.connect(self._refresh)
        workspace.pictures.progressed.connect(self._show_progress)
        workspace.document.changed.connect(self._on_project)
        self._refresh()

    # The parts

    def _empty_state(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.addStretch(1)
        title = QLabel(tr("No pictures yet"))
        title.setProperty("role", "title")
        text = QLabel(
            tr("Choose a folder that holds one folder of pictures for each class. You can also drop it on this window.")
        )
        text.setProperty("role", "muted")
        text.setWordWrap(True)
        text.setMaximumWidth(520)
        text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        button = QPushButton(tr("Choose a folder of pictures"))
        button.setProperty("role", "primary")
        button.setObjectName("data.choose_first")
        button.clicked.connect(self.ask_for_folder)
        for widget in (title, text, button):
            column.addWidget(widget, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        return holder

    def _full_state(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        column.addLayout(self._header())
        column.addWidget(self._progress_row())
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(self._middle())
        self._side = SettingsColumn(self.workspace)
        self._side.show_files.connect(self.show_files)
        split.addWidget(self._side)
        split.setStretchFactor(0, 1)
        split.setSizes([900, SIDE_WIDTH_PX])
        column.addWidget(split, 1)
        return holder

    def _header(self) -> QHBoxLayout:
        row = QHBoxLayout()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        self._title = QLabel()
        self._title.setProperty("role", "title")
        self._where = QLabel()
        self._where.setProperty("role", "muted")
        self._where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._where.setMinimumWidth(120)
        texts.addWidget(self._title)
        texts.addWidget(self._where)
        row.addLayout(texts, 1)
        self._readings = CalmCombo()
        self._readings.setObjectName("data.readings")
        self._readings.setAccessibleName(tr("How the folder is read"))
        self._readings.setToolTip(tr("This folder can be read in several ways. Choose the one you mean."))
        self._readings.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._readings.setMinimumContentsLength(28)
        self._readings.activated.connect(self._choose_reading)
        row.addWidget(self._readings)
        self._again = QPushButton(tr("Look again"))
        self._again.setToolTip(tr("Scans the folder anew; only changed files are opened."))
        self._again.setObjectName("data.rescan")
        self._again.clicked.connect(self.workspace.pictures.rescan)
        choose = QPushButton(tr("Choose another folder…"))
        choose.setObjectName("data.choose")
        choose.setToolTip(tr("Takes the pictures from another folder. Your files are never changed."))
        choose.clicked.connect(self.ask_for_folder)
        row.addWidget(self._again)
        row.addWidget(choose)
        return row

    def _progress_row(self) -> QWidget:
        self._busy = QFrame()
        self._busy.setProperty("role", "card")
        row = QHBoxLayout(self._busy)
        row.setContentsMargins(12, 8, 12, 8)
        self._busy_text = QLabel()
        self._busy_bar = QProgressBar()
        self._busy_bar.setTextVisible(False)
        self._busy_bar.setAccessibleName(tr("Progress"))
        stop = QPushButton(tr("Stop"))
        stop.setObjectName("data.stop")
        stop.setToolTip(tr("Stops looking at the pictures. What is known so far stays."))
        stop.clicked.connect(self.workspace.pictures.cancel)
        row.addWidget(self._busy_text)
        row.addWidget(self._busy_bar, 1)
        row.addWidget(stop)
        return self._busy

    def _middle(self) -> QWidget:
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        self._class_model = ClassModel()
        self._classes = ClassTable(self._class_model)
        self._classes.setMinimumHeight(110)
        self._classes.chosen.connect(lambda _: self._refresh_grid())
        split.addWidget(self._classes)
        lower = QWidget()
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, 6, 0, 0)
        column.addLayout(self._filter_row())
        self._picture_model = PictureModel(self._thumbnails)
        self._grid = PictureGrid(self._picture_model)
        self._grid.selectionModel().currentChanged.connect(lambda *_: self._refresh_preview())
        column.addWidget(self._grid, 1)
        split.addWidget(lower)
        split.setStretchFactor(1, 1)
        split.setSizes([230, 500])
        return split

    def _filter_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self._part = CalmCombo()
        self._part.setObjectName("data.part")
        self._part.setAccessibleName(tr("Which pictures are shown"))
        self._part.setToolTip(tr("Shows all pictures, or only those of one part of the split."))
        for key, text in (
            ("all", tr("All pictures")),
            ("train", tr("Training")),
            ("validation", tr("Validation")),
            ("test", tr("Test")),
            ("refused", tr("Left out")),
        ):
            self._part.addItem(text, key)
        self._part.currentIndexChanged.connect(lambda _: self._refresh_grid())
        self._legend = QLabel()
        theme().changed.connect(self._show_legend)
        self._show_legend()
        self._filter_text = QLabel()
        self._filter_text.setProperty("role", "muted")
        self._clear_filter = QPushButton(tr("Show all"))
        self._clear_filter.setProperty("role", "link")
        self._clear_filter.setObjectName("data.show_all")
        self._clear_filter.clicked.connect(self.show_all)
        row.addWidget(self._part)
        row.addWidget(self._filter_text, 1)
        row.addWidget(self._clear_filter)
        row.addWidget(self._legend)
        return row

    def _show_legend(self) -> None:
        """What the two colours of the class bars stand for."""
        names = (tr("Training"), tr("Validation"))
        squares = [f'<span style="color:{theme().series(n).name()}">■</span> {name}' for n, name in enumerate(names)]
        self._legend.setText("&nbsp;&nbsp;".join(squares))

    # What a person does

    def ask_for_folder(self) -> None:
        """Let the person choose the folder of pictures."""
        start = self.workspace.document.project.data.folder or str(Path.home())
        dialog = QFileDialog(self, tr("Choose a folder of pictures"), start)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda chosen: self.workspace.pictures.choose(Path(chosen)))
        dialog.open()

    def show_files(self, problem: Problem) -> None:
        """Show only the files of a finding."""
        self._file_filter = problem
        self._refresh_grid()

    def show_all(self) -> None:
        """Take every filter back."""
        self._file_filter = None
        self._classes.clearSelection()
        self._part.setCurrentIndex(0)
        self._refresh_grid()

    def show_target(self, target: str) -> None:
        """Choose a class by name."""
        index = self.workspace.pictures.index
        if index is not None and target in index.classes:
            self._classes.selectRow(index.classes.index(target))

    def actions_of_page(self) -> list[Action]:
        menu = tr("Pictures")
        has_folder = self._has_folder
        return [
            Action("data.choose", tr("Choose a folder of pictures…"), self.ask_for_folder, "Ctrl+Shift+O", menu),
            Action("data.rescan", tr("Look again"), self.workspace.pictures.rescan, "", menu, has_folder),
            Action("data.show_all", tr("Show all pictures"), self.show_all, "", menu, has_folder),
        ]

    def _has_folder(self) -> bool:
        return bool(self.workspace.document.project.data.folder)

    def _choose_reading(self, number: int) -> None:
        reading = str(self._readings.itemData(number))
        index = self.workspace.pictures.index
        if index is None or reading == index.reading.id:
            return
        self.workspace.document.edit(
            tr("Read the folder another way"), lambda p: replace(p, data=replace(p.data, reading=reading, classes=()))
        )

    # What is shown

    def status(self) -> PageStatus:
        pictures = self.workspace.pictures
        if not self._has_folder():
            return PageStatus.NOTHING
        if pictures.is_busy:
            return PageStatus.BUSY
        severities = {problem.severity for problem in pictures.problems}
        if pictures.error is not None or Severity.ERROR in severities:
            return PageStatus.ERROR
        if Severity.WARNING in severities:
            return PageStatus.WARNING
        return PageStatus.READY if pictures.index is not None else PageStatus.NOTHING

    def status_text(self) -> str:
        match self.status():
            case PageStatus.NOTHING:
                return tr("No pictures are chosen yet.")
            case PageStatus.BUSY:
                return self._busy_text.text()
            case _:
                return self._title.text()

    def _on_project(self, old: Project, new: Project) -> None:
        if old.preprocessing is not new.preprocessing or old.data is not new.data:
            self._refresh()

    def _refresh(self) -> None:
        self._stack.setCurrentIndex(1 if self._has_folder() else 0)
        if self._has_folder():
            self._refresh_header()
            self._side.refresh()
            self._refresh_classes()
            self._refresh_grid()
        self.status_changed.emit()

    def _refresh_header(self) -> None:
        pictures = self.workspace.pictures
        index = pictures.index
        folder = self.workspace.document.project.data.folder
        place = f"{folder}/{index.base}" if index is not None and index.base else folder
        self._where.setText(shown(place))
        self._where.setToolTip(shown(place))
        if index is None:
            self._title.setText(tr("Looking at the folder…") if pictures.is_busy else tr("The folder was not read"))
        else:
            usable = sum(pictures.inspection.counts() if pictures.inspection is not None else index.counts())
            classes = len(index.classes)
            text = trn(classes, "{count:,} pictures in one class", "{count:,} pictures in {n} classes", count=usable)
            self._title.setText(text)
        self._show_readings()
        self._again.setEnabled(not pictures.is_busy)
        self._busy.setVisible(pictures.is_busy)
        if pictures.is_busy and pictures.progress is None:
            self._busy_text.setText(tr("Looking at the folder…"))
            self._busy_bar.setRange(0, 0)

    def _show_readings(self) -> None:
        index = self.workspace.pictures.index
        readings = index.readings if index is not None else ()
        self._readings.setVisible(len(readings) > 1)
        self._readings.blockSignals(True)
        self._readings.clear()
        for number, reading in enumerate(readings):
            self._readings.addItem(describe(reading), reading.id)
            self._readings.setItemData(number, describe(reading), Qt.ItemDataRole.ToolTipRole)
        if index is not None:
            self._readings.setCurrentIndex(self._readings.findData(index.reading.id))
        self._readings.blockSignals(False)

    def _show_progress(self, progress: Progress) -> None:
        if progress.phase == "scan":
            self._busy_text.setText(trn(progress.done, "Found {n} file", "Found {n:,} files"))
        else:
            self._busy_text.setText(
                tr("Opening every picture once: {done:,} of {total:,}", done=progress.done, total=progress.total or 0)
            )
        self._busy_bar.setRange(0, progress.total or 0)
        self._busy_bar.setValue(progress.done)

    def _refresh_classes(self) -> None:
        pictures = self.workspace.pictures
        if pictures.index is None:
            self._class_model.show(())
            return
        if pictures.inspection is None or pictures.split is None:
            rows = tuple(map(ClassRow, pictures.index.classes, pictures.index.counts()))
        else:
            counts = pictures.inspection.counts()
            train = class_counts(pictures.inspection, pictures.split.train)
            validation = class_counts(pictures.inspection, pictures.split.validation)
            rows = tuple(map(ClassRow, pictures.index.classes, counts, train, validation))
        self._class_model.show(rows)

    def _shown_places(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        pictures = self.workspace.pictures
        index, inspection, split = pictures.index, pictures.inspection, pictures.split
        if index is None:
            return np.zeros(0, np.int64)
        part = self._part.currentData()
        if part == "refused" and inspection is not None:
            places = np.flatnonzero(~inspection.usable())
        elif split is not None and part in ("train", "validation", "test"):
            places = {"train": split.train, "validation": split.validation, "test": split.test}[part]
        else:
            places = np.arange(len(index.pictures))
        row = self._classes.chosen_row()
        if row >= 0:
            places = places[index.pictures.labels[places] == row]
        if self._file_filter is not None:
            wanted = set(self._file_filter.files)
            places = np.array([p for p in places if index.pictures.paths[p] in wanted], np.int64)
        return places.astype(np.int64)

    def _refresh_grid(self) -> None:
        pictures = self.workspace.pictures
        if pictures.index is None or pictures.is_busy:
            self._thumbnails.forget()
        if self._file_filter is not None and self._file_filter not in pictures.problems:
            self._file_filter = None
        places = self._shown_places()
        refused = dict(pictures.inspection.refused.items()) if pictures.inspection is not None else {}
        self._picture_model.show(pictures.index, places, refused)
        is_filtered = (
            self._file_filter is not None or self._classes.chosen_row() >= 0 or self._part.currentData() != "all"
        )
        self._clear_filter.setVisible(is_filtered)
        self._filter_text.setText(trn(len(places), "{n} picture", "{n:,} pictures"))
        if len(places) and not self._grid.currentIndex().isValid():
            first = self._picture_model.index(0)
            self._grid.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.SelectCurrent)
        self._refresh_preview()

    def _refresh_preview(self) -> None:
        self._side.preview(self._grid.currentIndex().data(PATH_ROLE))
