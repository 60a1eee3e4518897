"""The Export page: take a finished model out of the studio, as one file, and use it from the terminal."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QProgressBar,
    QScrollArea,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from studio.core.files import safe_name
from studio.core.problem import Problem
from studio.core.quantities import size_text
from studio.core.text import problem_message, problem_repair, problem_why, tr, trn
from studio.dataset.labels import shown
from studio.dataset.progress import IsCancelled, Progress, ReportProgress
from studio.runs.bundle import SUFFIX, ModelContents, contents_of, write_bundle
from studio.runs.catalogue import RunSummary
from studio.runs.commandline import command_name, quoted
from studio.view.actions import Action
from studio.view.background import BackgroundTask
from studio.view.emptystate import EmptyState
from studio.view.filedialogs import file_dialog
from studio.view.form import CalmCombo
from studio.view.notices import NoticeBar
from studio.view.pieces import button, card, wrapped
from studio.view.results.flow import FlowLayout
from studio.view.results.inventory import Inventory
from studio.view.results.runlist import RunList
from studio.view.results.wording import date_text, run_title
from studio.view.theme import theme
from studio.view.workspace import Page, PageStatus, Workspace

_SIDE_PX = 320


class ExportPage(Page):
    """The model of a finished run. `show_target` takes a run folder."""

    id = "export"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._run: RunSummary | None = None
        self._contents: ModelContents | None = None
        self._saved: Path | None = None
        self._task: BackgroundTask | None = None
        self._wanted_path = ""
        # What a person has chosen stays until another run ends or another project is opened.
        self._is_own_choice = False
        self._list = RunList(workspace)
        self._list.changed.connect(self._on_runs)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty_state())
        self._stack.addWidget(self._full_state())
        workspace.training.ended.connect(self._choose_anew)
        workspace.document.opened.connect(self._choose_anew)
        self._list.reload()

    # The parts

    def _empty_state(self) -> QWidget:
        to_train = button(
            tr("Go to the Train page"), tr("Shows where training is started."), "export.to_train",
            lambda: self.workspace.navigator.go("train"), "primary",
        )  # fmt: skip
        return EmptyState(
            tr("No model yet"),
            tr("A finished run leaves a model. It can be saved here as one file, for other machines and programs."),
            to_train,
        )

    def _full_state(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        column.addLayout(self._header())
        self.notice = NoticeBar("export.notice")
        column.addWidget(self.notice)
        across = QHBoxLayout()
        across.setSpacing(12)
        inner = QWidget()
        left = QVBoxLayout(inner)
        left.setContentsMargins(0, 0, 4, 0)
        left.setSpacing(12)
        left.addWidget(self._file_card())
        left.addWidget(self._terminal_card())
        left.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        across.addWidget(scroll, 1)
        across.addWidget(self._labels_card())
        column.addLayout(across, 1)
        return holder

    def _header(self) -> QHBoxLayout:
        row = QHBoxLayout()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        title = QLabel(tr("Export"))
        title.setProperty("role", "title")
        self._subtitle = QLabel()
        self._subtitle.setProperty("role", "muted")
        self._subtitle.setMinimumWidth(120)
        texts.addWidget(title)
        texts.addWidget(self._subtitle)
        row.addLayout(texts, 1)
        self.runs = CalmCombo()
        self.runs.setObjectName("export.runs")
        self.runs.setAccessibleName(tr("Model of the run"))
        self.runs.setToolTip(tr("Chooses the run whose model is exported. Only runs that left a model are listed."))
        self.runs.setMinimumContentsLength(30)
        self.runs.activated.connect(lambda _: self._choose(str(self.runs.currentData())))
        row.addWidget(self.runs)
        return row

    def _file_card(self) -> QWidget:
        self.inventory = Inventory()
        self.save_button = button(
            tr("Save model file…"), tr("Writes the model as one .zip file to the place you choose."),
            "export.save", self.ask_for_file, "primary",
        )  # fmt: skip
        self.folder_button = button(
            tr("Open the folder"), tr("Shows the folder that holds these files."), "export.folder", self.show_folder
        )
        buttons = QWidget()
        flow = FlowLayout(buttons)
        flow.addWidget(self.save_button)
        flow.addWidget(self.folder_button)
        text = wrapped(
            tr(
                "Everything that is needed to use the network elsewhere, in one file. Loading it runs no code, so it "
                "is safe to pass on and to receive."
            ),
            "muted",
        )
        return card(tr("Model file"), text, self.inventory, buttons, self._progress_row())

    def _progress_row(self) -> QWidget:
        self._busy = QWidget()
        row = QHBoxLayout(self._busy)
        row.setContentsMargins(0, 0, 0, 0)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Progress"))
        self._busy_text = QLabel()
        self._busy_text.setProperty("role", "muted")
        stop = button(tr("Stop"), tr("Stops saving. No file is left behind."), "export.stop", self._stop)
        row.addWidget(self._bar, 1)
        row.addWidget(self._busy_text)
        row.addWidget(stop)
        self._busy.hide()
        return self._busy

    def _terminal_card(self) -> QWidget:
        text = wrapped(
            tr("The same model answers in the terminal. Put one or more pictures, or a folder, in place of PICTURE."),
            "muted",
        )
        self.command = QLineEdit()
        self.command.setReadOnly(True)
        self.command.setObjectName("export.command")
        self.command.setAccessibleName(tr("Command"))
        self.command.setToolTip(tr("Classifies pictures with this model and prints the likeliest labels."))
        font = theme().font()
        font.setFamilies(["monospace", *font.families()])
        self.command.setFont(font)
        copy = button(tr("Copy"), tr("Copies the command to the clipboard."), "export.copy", self.copy_command)
        row = QHBoxLayout()
        row.addWidget(self.command, 1)
        row.addWidget(copy)
        return card(tr("Use it in the terminal"), text, row)

    def _labels_card(self) -> QWidget:
        self._labels_text = wrapped("", "muted")
        self.labels = QListWidget()
        self.labels.setObjectName("export.labels")
        self.labels.setAccessibleName(tr("Labels"))
        self.labels.setToolTip(tr("What the model can answer, in the order of its outputs."))
        self.labels.setUniformItemSizes(True)
        self.labels.setSpacing(2)
        made = card(tr("Labels"), self._labels_text, self.labels)
        made.setFixedWidth(_SIDE_PX)
        return made

    # What is shown

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._list.reload()

    def show_target(self, target: str) -> None:
        self._wanted_path, self._is_own_choice = target, bool(target)
        self._list.reload()

    def status(self) -> PageStatus:
        if self._task is not None:
            return PageStatus.BUSY
        return PageStatus.READY if self._run is not None else PageStatus.NOTHING

    def status_text(self) -> str:
        if self._task is not None:
            return tr("Saving the model…")
        return self._subtitle.text() if self._run is not None else tr("No run has left a model yet.")

    def _choose_anew(self) -> None:
        self._is_own_choice = False
        self._list.reload()

    def _on_runs(self) -> None:
        runs = [run for run in self._list.runs if run.model is not None]
        self._stack.setCurrentIndex(1 if runs else 0)
        is_kept = self._run is not None and (self._is_own_choice or self._task is not None)
        wanted = self._wanted_path or (self._run.path if self._run is not None and is_kept else "")
        self._wanted_path = ""
        chosen = next((run for run in runs if run.path == wanted), self._list.preferred(with_model=True))
        titles = [(run_title(run), run.path) for run in runs]
        if titles != [(self.runs.itemText(n), self.runs.itemData(n)) for n in range(self.runs.count())]:
            self.runs.clear()
            for title, path in titles:
                self.runs.addItem(title, path)
        self.runs.setCurrentIndex(runs.index(chosen) if chosen is not None else -1)
        self._show(chosen)
        self.status_changed.emit()

    def _choose(self, path: str) -> None:
        self._is_own_choice = True
        self._show(self._list.find(path))
        self.status_changed.emit()

    def _show(self, run: RunSummary | None) -> None:
        if run == self._run:
            return
        is_other = self._run is None or run is None or run.path != self._run.path
        self._run = run
        if is_other:
            self._saved = None
            self.notice.hide()
        found = contents_of(run.model) if run is not None and run.model is not None else None
        self._contents = found if isinstance(found, ModelContents) else None
        if isinstance(found, Problem):
            self._say_problem(found)
        self._show_buttons()
        if run is None:
            return
        self._subtitle.setText(
            tr("The model of {name}, trained {date}", name=shown(run.name), date=date_text(run.started))
        )
        self.inventory.show_model(run, self._contents)
        labels = self._contents.labels if self._contents else ()
        self.labels.clear()
        self.labels.addItems([shown(label) for label in labels])
        self._labels_text.setText(trn(len(labels), "{n} class that the model knows", "{n:,} classes it tells apart"))
        self._show_command()

    def _show_command(self) -> None:
        if self._run is not None and self._run.model is not None:
            model = self._saved or self._run.model
            program = command_name(from_anywhere=True)
            self.command.setText(f"{program} predict {quoted(str(model))} PICTURE")
            self.command.setCursorPosition(0)

    def _show_buttons(self) -> None:
        is_busy = self._task is not None
        self._busy.setVisible(is_busy)
        self.save_button.setEnabled(self._contents is not None and not is_busy)
        self.folder_button.setEnabled(self._run is not None)
        self.runs.setEnabled(not is_busy)

    # What a person does

    def actions_of_page(self) -> list[Action]:
        menu = tr("Export")
        return [
            Action("export.save", tr("Save model file…"), self.ask_for_file, "Ctrl+Shift+E", menu,
                   self.save_button.isEnabled, tr("Writes the model as one .zip file to the place you choose.")),
            Action("export.copy", tr("Copy the command for the terminal"), self.copy_command, "", menu,
                   lambda: self._run is not None),
            Action("export.folder", tr("Open the model's folder"), self.show_folder, "", menu,
                   lambda: self._run is not None),
        ]  # fmt: skip

    def ask_for_file(self) -> None:
        """Let the person choose where the model file goes."""
        if self._run is None:
            return
        dialog = file_dialog(self, self.workspace.settings, tr("Save model file"), "model")
        dialog.setNameFilter(f"{tr('Model file')} (*{SUFFIX})")
        dialog.setDefaultSuffix(SUFFIX.removeprefix("."))
        dialog.selectFile(f"{safe_name(self._run.name)}{SUFFIX}")
        dialog.fileSelected.connect(lambda chosen: self.save(Path(chosen)))
        dialog.open()

    def save(self, destination: Path) -> None:
        """Write the model file to `destination`, in the background."""
        run = self._run
        if run is None or run.model is None or self._task is not None:
            return
        model = run.model

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> Problem | None:
            return write_bundle(model, destination, progress=report, cancelled=is_cancelled)

        task = BackgroundTask("save-model", work)
        task.progressed.connect(self._on_progress)
        task.done.connect(lambda problem: self._on_saved(destination, problem))
        task.cancelled.connect(self._on_cancelled)
        task.failed.connect(lambda error: self._on_failed(destination, error))
        self._task = task
        self.notice.hide()
        self._bar.setRange(0, 0)
        self._busy_text.setText(tr("Saving the model…"))
        self._show_buttons()
        self.status_changed.emit()
        task.start()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _on_progress(self, progress: Progress) -> None:
        # Thousandths: a model may have more bytes than a progress bar can count.
        total = progress.total or 1
        self._bar.setRange(0, 1000)
        self._bar.setValue(round(1000 * progress.done / total))
        self._busy_text.setText(tr("{done} of {total}", done=size_text(progress.done), total=size_text(total)))

    def _end(self) -> None:
        self._task = None
        self._show_buttons()
        self.status_changed.emit()

    def _on_saved(self, destination: Path, problem: Problem | None) -> None:
        self._end()
        if problem is not None:
            self._say_problem(problem)
            return
        self._saved = destination
        self._show_command()
        self.notice.say(tr("Saved as {file}.", file=shown(str(destination))), "good")

    def _on_cancelled(self) -> None:
        self._end()
        self.notice.say(tr("Saving was stopped. No file was left behind."))

    def _on_failed(self, destination: Path, error: Exception) -> None:
        self._end()
        text = tr("{file} could not be written: {reason}.", file=shown(str(destination)), reason=str(error))
        self.notice.say(text, "error")

    def copy_command(self) -> None:
        """Put the command on the clipboard."""
        QGuiApplication.clipboard().setText(self.command.text())
        self.notice.say(tr("The command is on the clipboard."))

    def show_folder(self) -> None:
        """Open the model's folder in the system's file browser."""
        if self._run is not None and self._run.model is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._run.model)))

    def _say_problem(self, problem: Problem) -> None:
        parts = (problem_message(problem), problem_why(problem), problem_repair(problem))
        self.notice.say(" ".join(part for part in parts if part), "error")
