"""The Data page: where the pictures are, what is in them, how they are split and prepared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
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

from studio.core.problem import Severity
from studio.core.project import Project
from studio.core.text import tr, trn
from studio.dataset.labels import shown
from studio.dataset.layout import describe
from studio.dataset.progress import Progress
from studio.dataset.split import class_counts
from studio.view.actions import Action
from studio.view.data.browser import PictureBrowser
from studio.view.data.classes import ClassModel, ClassRow, ClassTable
from studio.view.data.side import SIDE_WIDTH_PX, SettingsColumn
from studio.view.emptystate import EmptyState
from studio.view.filedialogs import file_dialog
from studio.view.form import CalmCombo
from studio.view.pieces import button
from studio.view.workspace import Page, PageStatus, Workspace


class DataPage(Page):
    """Folder, class bars, thumbnails, findings, split and working size."""

    id = "data"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty_state())
        self._stack.addWidget(self._full_state())
        workspace.pictures.changed.connect(self._refresh)
        workspace.pictures.progressed.connect(self._show_progress)
        workspace.document.changed.connect(self._on_project)
        self._refresh()

    # The parts

    def _empty_state(self) -> QWidget:
        text = tr(
            "Choose a folder that holds one folder of pictures for each class. You can also drop it on this window."
        )
        choose = button(
            tr("Choose a folder of pictures"), tr("Your files are never changed."), "data.choose_first",
            self.ask_for_folder, "primary",
        )  # fmt: skip
        return EmptyState(tr("No pictures yet"), text, choose)

    def _full_state(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        column.addLayout(self._header())
        column.addWidget(self._progress_row())
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        self._side = SettingsColumn(self.workspace)
        split.addWidget(self._middle())
        self._side.show_files.connect(self._browser.show_files)
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
        split.addWidget(self._classes)
        self._browser = PictureBrowser(self.workspace)
        self._browser.current_changed.connect(self._side.preview)
        self._browser.cleared.connect(self._classes.clearSelection)
        self._classes.chosen.connect(self._browser.show_class)
        split.addWidget(self._browser)
        split.setStretchFactor(1, 1)
        split.setSizes([230, 500])
        return split

    # What a person does

    def ask_for_folder(self) -> None:
        """Let the person choose the folder of pictures."""
        folder = self.workspace.document.project.data.folder
        dialog = file_dialog(
            self, self.workspace.settings, tr("Choose a folder of pictures"), "pictures",
            QFileDialog.FileMode.Directory, start=Path(folder).parent if folder else None,
        )  # fmt: skip
        dialog.fileSelected.connect(lambda chosen: self.workspace.pictures.choose(Path(chosen)))
        dialog.open()

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
            Action("data.show_all", tr("Show all pictures"), self._browser.show_all, "", menu, has_folder),
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
        elif old.augmentation is not new.augmentation:
            self._side.refresh()

    def _refresh(self) -> None:
        self._stack.setCurrentIndex(1 if self._has_folder() else 0)
        if self._has_folder():
            self._refresh_header()
            self._side.refresh()
            self._refresh_classes()
            self._browser.refresh()
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
