"""The Results page: all runs in a table, what the chosen ones have learned, and a place to classify pictures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QSplitter, QStackedLayout, QVBoxLayout, QWidget

from studio.core.events import Ended, EpochEnded, Event, Started
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project, ProjectUnreadable, load_project
from studio.core.quantities import share_text
from studio.core.runstate import RunState
from studio.core.text import problem_message, problem_repair, problem_why, tr, trn
from studio.dataset.labels import shown
from studio.runs.catalogue import RunSummary, resume_project
from studio.runs.folder import project_file
from studio.runs.trash import TrashedRun, empty_old, move_to_trash, restore, trashed_runs
from studio.view.actions import Action
from studio.view.background import BackgroundTask
from studio.view.emptystate import EmptyState
from studio.view.notices import NoticeBar
from studio.view.pieces import button
from studio.view.results.classify import Classifier
from studio.view.results.detail import RunDetail
from studio.view.results.runlist import Records, RunList
from studio.view.results.runtable import RunModel, RunTable
from studio.view.results.wording import date_text, run_title
from studio.view.workspace import Page, PageStatus, Workspace

_SIDE_PX = 300
# Short epochs would have hundreds of runs listed several times a second.
_REFRESH_MS = 1000
_CLASSIFY = "classify"


class ResultsPage(Page):
    """Runs, details, classifier. `show_target` takes a run folder, "classify", or "classify:<picture>"."""

    id = "results"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._list = RunList(workspace)
        self._pictures_waiting: list[Path] = []
        self._wanted_path = ""
        self._is_to_choose = True
        self._list.changed.connect(self._on_runs)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty_state())
        self._stack.addWidget(self._full_state())
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_REFRESH_MS)
        self._soon.timeout.connect(self._list.reload)
        training = workspace.training
        training.started.connect(self._list.reload)
        training.ended.connect(self._on_ended)
        workspace.document.opened.connect(self._choose_anew)
        training.arrived.connect(self._on_events)
        BackgroundTask("empty-trash", lambda report, is_cancelled: empty_old(workspace.folders.runs)).start()
        self._list.reload()

    # The parts

    def _empty_state(self) -> QWidget:
        to_train = button(
            tr("Go to the Train page"), tr("Shows where training is started."), "results.to_train",
            lambda: self.workspace.navigator.go("train"), "primary",
        )  # fmt: skip
        return EmptyState(
            tr("No run yet"),
            tr(
                "Train a network on the Train page. Each run is kept and listed here, with its settings, its curves, "
                "the classes it mixes up, and a place to try it on your own pictures."
            ),
            to_train,
        )

    def _full_state(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(10)
        column.addLayout(self._header())
        self.notice = NoticeBar("results.notice")
        column.addWidget(self.notice)
        across = QSplitter(Qt.Orientation.Horizontal)
        across.setChildrenCollapsible(False)
        across.addWidget(self._left())
        self.classifier = Classifier(self.workspace.engine, self.workspace.settings)
        self.classifier.setMinimumWidth(250)
        self.classifier.train_wanted.connect(lambda: self.workspace.navigator.go("train"))
        across.addWidget(self.classifier)
        across.setStretchFactor(0, 1)
        across.setSizes([1000, _SIDE_PX])
        column.addWidget(across, 1)
        return holder

    def _left(self) -> QWidget:
        self.run_model = RunModel()
        self.table = RunTable(self.run_model)
        self.table.chosen.connect(self._on_chosen)
        self.table.delete_wanted.connect(self.delete_chosen)
        self.detail = RunDetail(Records(self._live_state))
        self.detail.open_wanted.connect(self.open_chosen)
        self.detail.use_wanted.connect(self.use_settings)
        self.detail.resume_wanted.connect(self.resume_chosen)
        self.detail.folder_wanted.connect(self.show_folder)
        self.detail.export_wanted.connect(self._export)
        self.detail.delete_wanted.connect(self.delete_chosen)
        down = QSplitter(Qt.Orientation.Vertical)
        down.setChildrenCollapsible(False)
        down.addWidget(self.table)
        down.addWidget(self.detail)
        down.setStretchFactor(1, 1)
        down.setSizes([170, 480])
        return down

    def _header(self) -> QHBoxLayout:
        row = QHBoxLayout()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        self._title = QLabel(tr("Results"))
        self._title.setProperty("role", "title")
        self._subtitle = QLabel()
        self._subtitle.setProperty("role", "muted")
        self._subtitle.setMinimumWidth(120)
        texts.addWidget(self._title)
        texts.addWidget(self._subtitle)
        row.addLayout(texts, 1)
        self.everything = QCheckBox(tr("Show all settings"))
        self.everything.setToolTip(tr("Also shows a column for each setting that is the same in all runs."))
        self.everything.setObjectName("results.everything")
        self.everything.toggled.connect(lambda _: self._show_runs())
        row.addWidget(self.everything)
        return row

    # What is shown

    def _live_state(self, path: str) -> RunState | None:
        training = self.workspace.training
        return training.state if training.is_active and path == str(training.run_folder) else None

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._list.reload()

    def show_target(self, target: str) -> None:
        word, _, rest = target.partition(":")
        if word == _CLASSIFY:
            self._is_to_choose = self._is_to_choose or not rest
            self._pictures_waiting += [Path(rest)] if rest else []
        elif target:
            self._wanted_path = target
        self._list.reload()

    def status(self) -> PageStatus:
        if not self._list.runs:
            return PageStatus.NOTHING
        if self._list.preferred(with_model=True) is not None:
            return PageStatus.READY
        is_going = self.workspace.training.is_active or any(run.outcome == "running" for run in self._list.runs)
        return PageStatus.BUSY if is_going else PageStatus.WARNING

    def status_text(self) -> str:
        return self._subtitle.text() if self._list.runs else tr("No run yet.")

    def _on_events(self, events: list[Event]) -> None:
        is_news = any(isinstance(event, (Started, EpochEnded, Ended)) for event in events)
        if is_news and self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _on_ended(self) -> None:
        """The run that has just ended is the one a person wants to see."""
        self._is_to_choose = self._is_to_choose or not self.isVisible()
        self._list.reload()

    def _choose_anew(self) -> None:
        """Another project is open: what was chosen before is not what a person wants to see."""
        self._is_to_choose = True
        self._list.reload()

    def _on_runs(self) -> None:
        runs = self._list.runs
        self._stack.setCurrentIndex(1 if runs else 0)
        best = max((run.best_validation_accuracy or 0.0 for run in runs), default=0.0)
        text = trn(len(runs), "{n} run", "{n:,} runs")
        self._subtitle.setText(tr("{runs}, the best with {share}", runs=text, share=share_text(best)) if best else text)
        # Hidden, it keeps still: rebuilding the curves takes the window half a second, and showing it reloads anyway.
        if self.isVisible() or self._pictures_waiting:
            self._show_runs()
        if self._pictures_waiting:
            pictures, self._pictures_waiting = self._pictures_waiting, []
            self._stack.setCurrentIndex(1)
            self.classifier.classify(pictures)
        self.status_changed.emit()

    def _show_runs(self) -> None:
        self.table.show_runs(self._list.runs, everything=self.everything.isChecked())
        preferred = self._list.preferred() if self._is_to_choose else None
        if preferred is not None:
            self._wanted_path, self._is_to_choose = self._wanted_path or preferred.path, False
        if self._wanted_path and self._list.find(self._wanted_path) is not None:
            self.table.choose([self._wanted_path])
            self._wanted_path = ""
        self._on_chosen(self.table.chosen_runs())

    def _on_chosen(self, runs: list[RunSummary]) -> None:
        self.detail.show_runs(runs, is_training=self.workspace.training.is_active)
        with_model = next((run for run in runs if run.model is not None), None)
        self.classifier.use_run(with_model or self._list.preferred(with_model=True))

    # What a person does

    def actions_of_page(self) -> list[Action]:
        menu = tr("Results")
        return [
            Action("results.classify", tr("Classify pictures…"), self.classifier.ask_for_pictures, "Ctrl+Shift+C", menu,
                   lambda: self._list.preferred(with_model=True) is not None,
                   tr("Picks pictures and shows what the chosen run's model says of them.")),
            Action("results.use", tr("Use the settings of the chosen run"), self.use_settings, "", menu,
                   lambda: self._one() is not None,
                   tr("Gives the open project that run's network, picture preparation and recipe.")),
            Action("results.open", tr("Open the chosen run on the Train page"), self.open_chosen, "", menu,
                   lambda: self._one() is not None and not self.workspace.training.is_active),
            Action("results.resume", tr("Resume the chosen run"), self.resume_chosen, "", menu, self._can_resume),
            Action("results.folder", tr("Show the folder of the chosen run"), self.show_folder, "", menu,
                   lambda: self._one() is not None),
            Action("results.delete", tr("Move the chosen runs to the trash"), self.delete_chosen, "", menu,
                   lambda: bool(self._deletable()), is_separated=True),
            Action("results.restore", tr("Bring back the run deleted last"), self.restore_last, "", menu,
                   lambda: bool(trashed_runs(self.workspace.folders.runs)),
                   tr("Takes the newest run out of the trash.")),
            Action("results.reload", tr("Look for runs again"), self._list.reload, "", menu,
                   help=tr("Reads the folder of runs anew, for runs that other programs have started.")),
        ]  # fmt: skip

    def _one(self) -> RunSummary | None:
        chosen = self.table.chosen_runs()
        return chosen[0] if len(chosen) == 1 else None

    def _can_resume(self) -> bool:
        run = self._one()
        return run is not None and run.is_resumable and not self.workspace.training.is_active

    def _deletable(self) -> list[RunSummary]:
        return [run for run in self.table.chosen_runs() if run.outcome != "running"]

    def _project(self, run: RunSummary) -> Project | None:
        """The project of a run; says in the notice why there is none."""
        try:
            return load_project(project_file(run.folder))
        except ProjectUnreadable as error:
            self.notice.say(str(error), "error")
            return None

    def open_chosen(self) -> None:
        """Show the chosen run on the Train page."""
        run = self._one()
        if run is None or self.workspace.training.is_active:
            return
        project = None
        with suppress(ProjectUnreadable):
            project = load_project(project_file(run.folder))
        self.workspace.training.open(run.folder, project)
        self.workspace.navigator.go("train")

    def use_settings(self) -> None:
        """Give the open project the chosen run's network, picture preparation and recipe."""
        run = self._one()
        project = self._project(run) if run is not None else None
        if run is None or project is None:
            return

        def edit(old: Project) -> Project:
            return replace(project, name=old.name, data=old.data)

        document = self.workspace.document
        before = document.project
        document.edit(tr("Use the settings of a run"), edit)
        document.seal()
        if document.project == before:
            self.notice.say(tr("The open project has these settings already."))
            return
        after = document.project

        def undo() -> None:
            if document.project is after:
                document.undo()

        text = tr("The open project now has the network, picture preparation and recipe of {run}.", run=run_title(run))
        self.notice.say(text, "good", tr("Undo"), undo)

    def resume_chosen(self) -> None:
        """Go on with the chosen run from its last checkpoint."""
        run = self._one()
        training = self.workspace.training
        if run is None or training.is_active:
            return
        project = resume_project(run.folder)
        if isinstance(project, Problem):
            self._say_problem(project)
            return
        training.go_on(run.folder, project, self.workspace.settings.value.launcher)
        self.workspace.navigator.go("train")

    def show_folder(self) -> None:
        """Open the chosen run's folder in the system's file browser."""
        run = self._one()
        if run is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(run.path))

    def _export(self) -> None:
        run = self._one()
        if run is not None:
            self.workspace.navigator.go("export", run.path)

    def delete_chosen(self) -> None:
        """Move the chosen runs to the trash; the notice takes it back."""
        runs = self._deletable()
        trashed: list[TrashedRun] = []
        try:
            for run in runs:
                trashed += [move_to_trash(run.folder)]
        except OSError as error:
            self._say_os_error("run.not_trashed", error, runs[len(trashed)].path)
            self._list.reload()
            return
        if not trashed:
            return
        text = trn(
            len(trashed),
            "The run {name} of {date} is in the trash, where it is kept for 30 days.",
            "{n:,} runs are in the trash, where they are kept for 30 days.",
            name=shown(runs[0].name),
            date=date_text(runs[0].started),
        )
        self.notice.say(text, "warning", tr("Undo"), lambda: self._restore(trashed))
        self._list.reload()

    def restore_last(self) -> None:
        """Bring back the run that was deleted last."""
        self._restore(trashed_runs(self.workspace.folders.runs)[:1])

    def _restore(self, trashed: Sequence[TrashedRun]) -> None:
        for one in trashed:
            try:
                self._wanted_path = str(restore(one))
            except OSError as error:
                self._say_os_error("run.not_restored", error, shown(str(one.folder)))
                break
        self._list.reload()

    def _say_os_error(self, code: str, error: OSError, folder: str) -> None:
        reason = error.strerror or str(error)
        self._say_problem(Problem(code, place=folder, facts=FrozenMap(folder=shown(folder), reason=reason)))

    def _say_problem(self, problem: Problem) -> None:
        parts = (problem_message(problem), problem_why(problem), problem_repair(problem))
        self.notice.say(" ".join(part for part in parts if part), "error")
