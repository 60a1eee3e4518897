"""The Train page: the recipe, start and stop, and the run in curves."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from studio.advice.hint import Hint
from studio.advice.live import hints_for
from studio.advice.runfacts import run_facts
from studio.core.check import check, memory_problem
from studio.core.problem import Problem, Severity
from studio.core.project import Project
from studio.core.runstate import RunState
from studio.core.text import tr
from studio.view.actions import Action
from studio.view.devices import chosen_device
from studio.view.pieces import Card, button, wrapped
from studio.view.problemcard import ProblemCards
from studio.view.scroll import ColumnScroll
from studio.view.train.charts import TrainCharts
from studio.view.train.controls import RunControls
from studio.view.train.outcome import OutcomeCard
from studio.view.train.recipe import RecipeCard
from studio.view.train.wording import Plan, plan
from studio.view.workspace import Page, PageStatus, Workspace

_CLOCK_MS = 500
# Wide enough for a label and a field side by side, in digits of the font.
_LEFT_DIGITS = 34
_LEFT_PX = 340


class TrainPage(Page):
    """Recipe on the left, curves on the right."""

    id = "train"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._trouble: Problem | None = None
        self._why_not = ""
        self.controls = RunControls(workspace)
        self.outcome = OutcomeCard()
        self.problems = ProblemCards()
        self.recipe = RecipeCard(workspace)
        self.charts = TrainCharts()
        self._build()
        self._clock = QTimer(self)
        self._clock.setInterval(_CLOCK_MS)
        self._clock.timeout.connect(self._tick)
        self._connect()
        self._show_project()
        self._show_run(workspace.training.state)

    def _build(self) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(16, 16, 8, 16)
        column.setSpacing(12)
        column.addWidget(wrapped(tr("Train"), "title"))
        for part in (self.controls, self.outcome, self.problems, self.recipe):
            column.addWidget(part)
        column.addStretch(1)
        left.setMinimumWidth(round(left.fontMetrics().horizontalAdvance("0") * _LEFT_DIGITS))
        self.right = QStackedWidget()
        self.empty = self._empty_state()
        self.right.addWidget(self.empty)
        self.charts.setContentsMargins(8, 16, 16, 16)
        self.right.addWidget(ColumnScroll(self.charts))
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(ColumnScroll(left))
        split.addWidget(self.right)
        split.setStretchFactor(1, 1)
        split.setSizes([_LEFT_PX, 3 * _LEFT_PX])
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(split)

    def _empty_state(self) -> QWidget:
        card = Card(margin_px=32)
        card.setObjectName("train.empty")
        card.column.addWidget(wrapped(tr("Nothing was trained yet"), "title"))
        card.column.addWidget(wrapped(tr("As soon as training starts, you will see here:")))
        for line in (
            tr("• the loss, step by step: how wrong the network still is"),
            tr("• the accuracy on training pictures, and on pictures that it was not trained on"),
            tr("• how fast it goes, how long it still takes, and what each step waits for"),
        ):
            card.column.addWidget(wrapped(line, "muted"))
        hint = tr("The recipe on the left is a good start for most sets of pictures.")
        card.column.addWidget(wrapped(hint, "muted"))
        self.empty_button = button("", "", "train.empty.go", self._on_empty_button, "primary")
        card.column.addWidget(self.empty_button, 0, Qt.AlignmentFlag.AlignLeft)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(8, 16, 16, 16)
        column.addWidget(card)
        column.addStretch(1)
        return holder

    def _connect(self) -> None:
        workspace, training = self.workspace, self.workspace.training
        workspace.document.changed.connect(self._on_project)
        workspace.pictures.changed.connect(self._show_project)
        training.changed.connect(self._on_run)
        training.started.connect(self._on_host)
        training.ended.connect(self._on_host)
        training.trouble.connect(self._on_trouble)
        self.controls.start_wanted.connect(self.start)
        self.problems.fixed.connect(workspace.document.apply_fix)
        self.recipe.devices_changed.connect(self._show_project)
        self.outcome.results_wanted.connect(lambda: workspace.navigator.go("results"))
        self.outcome.classify_wanted.connect(lambda: workspace.navigator.go("results", "classify"))
        self.outcome.hint_wanted.connect(workspace.navigator.hints_wanted)
        self.outcome.resume_wanted.connect(self.controls.go_on)

    # The project: what would be trained, and whether it can be

    def _on_project(self, old: Project, new: Project) -> None:
        self._show_project()

    def _show_project(self) -> None:
        document = self.workspace.document
        problems = self._problems()
        self.problems.show_problems(problems)
        self._why_not = self._reason_not_to_start(problems)
        planned = self._plan()
        what, costs = (planned.what, planned.costs) if planned else ("", "")
        self.controls.show_plan(what, costs, "" if self.is_going else self._why_not)
        self.recipe.show_running(self.workspace.training.project if self.is_going else None)
        has_data = bool(document.project.data.folder)
        self.empty_button.setText(tr("Start training") if has_data else tr("Choose pictures"))
        self.empty_button.setAccessibleName(self.empty_button.text())
        start_help = tr("Train the network with this recipe, in a new run (F5).")
        self.empty_button.setToolTip(start_help if has_data else tr("The Data page, where a folder is chosen."))
        self.empty_button.setEnabled(not has_data or not self._why_not)
        self.status_changed.emit()

    def _plan(self) -> Plan | None:
        """What a start would do or, while a run goes on, what it does."""
        document, training, split = self.workspace.document, self.workspace.training, self.workspace.pictures.split
        started = training.state.started
        if self.is_going and training.project is not None:
            project, report = training.project, check(training.project)
            # Nothing is counted yet when the run begins.
            has_counts = started is not None and started.train_count > 0
            counts = (started.train_count, started.validation_count) if started and has_counts else (None, None)
        else:
            project, report = document.project, document.report
            counts = (len(split.train), len(split.validation)) if split is not None else (None, None)
        device = chosen_device(project.recipe.device, self.recipe.devices)
        return plan(project, report, *counts, is_on_card=device is not None and device.id != "cpu")

    def _problems(self) -> tuple[Problem, ...]:
        """What stands against a run or will harm it: of the check, the pictures, the memory, and the last attempt."""
        document, pictures = self.workspace.document, self.workspace.pictures
        project = document.project
        found = [] if self._trouble is None else [self._trouble]
        if project.data.folder:
            found += [p for p in document.report.all_problems if p.code not in pictures.premature_codes]
            found += [p for p in pictures.problems if p.severity is Severity.ERROR]
            device = chosen_device(project.recipe.device, self.recipe.devices)
            if device is not None and device.memory_bytes is not None:
                batch = project.recipe.batch_size
                too_large = memory_problem(document.report, batch, device.memory_bytes, device.id)
                if too_large is not None:
                    found.append(replace(too_large, facts=too_large.facts.with_items(device=device.name)))
        return tuple(p for p in found if p.severity is not Severity.INFO)

    def _reason_not_to_start(self, problems: tuple[Problem, ...]) -> str:
        if not self.workspace.document.project.data.folder:
            return tr("Choose a folder of pictures on the Data page first.")
        if self.workspace.pictures.is_busy:
            return tr("The pictures are being looked at; training can start in a moment.")
        if any(p.severity is Severity.ERROR and p is not self._trouble for p in problems):
            return tr("Training can start once the problems below are solved.")
        return ""

    @property
    def can_start(self) -> bool:
        return not self._why_not and not self.is_going

    def start(self) -> None:
        """Begin a new run of the open project."""
        if not self.can_start:
            return
        self._trouble = None
        self.workspace.training.start(self.workspace.document.project, self.workspace.settings.value.launcher)
        self._show_project()

    def _on_empty_button(self) -> None:
        if self.workspace.document.project.data.folder:
            self.start()
        else:
            self.workspace.navigator.go("data")

    # The run

    @property
    def is_going(self) -> bool:
        training = self.workspace.training
        return training.is_active or training.state.is_running

    def _on_trouble(self, problem: Problem) -> None:
        self._trouble = problem
        self._show_project()

    def _on_run(self, old: RunState, new: RunState) -> None:
        is_other = old.started is not new.started or (old.ended is None) != (new.ended is None)
        if is_other or old.is_running != new.is_running or old is new:
            self._show_project()
        if self.isVisible():
            self._show_run(new)
        elif old.is_running != new.is_running:
            self.status_changed.emit()

    def _on_host(self) -> None:
        """A host took the run over, or let it go."""
        self._show_project()
        self._show_run(self.workspace.training.state)

    def _show_run(self, state: RunState) -> None:
        """Bring everything that shows the run up to date; a hidden page does that when it is shown."""
        training = self.workspace.training
        has_run = training.run_folder is not None
        self.right.setCurrentIndex(1 if has_run else 0)
        self.controls.show_state(state)
        self.charts.show_state(state)
        # A run that never began is told as the trouble that it is.
        has_no_run = self._trouble is not None and state.started is None
        if training.is_active or state.ended is None or has_no_run:
            self.outcome.setVisible(False)
        else:
            self.outcome.show_outcome(state, training.run_folder, self._hints(state))
        self.controls.show_start_as(is_primary=not self.outcome.has_primary)
        if self.is_going != self._clock.isActive():
            if self.is_going:
                self._clock.start()
            else:
                self._clock.stop()
            self.status_changed.emit()

    def _hints(self, state: RunState) -> tuple[Hint, ...]:
        if state.ended is None or state.ended.outcome not in ("failed", "died"):
            return ()
        project = self.workspace.training.project or self.workspace.document.project
        return hints_for(project, (), run_facts(state, project))

    def _tick(self) -> None:
        """Time passes, and a run may have gone quiet, without any event."""
        self.controls.show_state(self.workspace.training.state)

    # The page in the window

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.recipe.ask_devices()
        self._show_run(self.workspace.training.state)

    def status(self) -> PageStatus:
        if self.is_going:
            return PageStatus.BUSY
        ended = self.workspace.training.state.ended
        if ended is not None and ended.outcome in ("failed", "died"):
            return PageStatus.ERROR
        if (ended is not None and ended.outcome == "finished") or not self._why_not:
            return PageStatus.READY
        return PageStatus.NOTHING

    def status_text(self) -> str:
        match self.status():
            case PageStatus.BUSY:
                return self.controls.words(self.workspace.training.state).text
            case PageStatus.ERROR:
                return self.outcome.title.text()
            case _:
                return self._why_not or tr("Ready to train.")

    def actions_of_page(self) -> list[Action]:
        training, menu = self.workspace.training, tr("Run")

        def pause_title() -> str:
            return tr("Resume") if training.state.is_paused else tr("Pause")

        def is_training() -> bool:
            return self.controls.can_pause

        def can_stop() -> bool:
            return self.is_going and not training.is_stopping

        return [
            Action("run.start", tr("Start training"), self.start, "F5", menu, lambda: self.can_start,
                   tr("Train the network with this recipe, in a new run (F5).")),
            Action("run.pause", pause_title, self.controls.toggle_pause, "Ctrl+P", menu, is_training,
                   tr("Wait after the step in hand; the device is free for other work (Ctrl+P).")),
            Action("run.stop", tr("Stop"), training.stop, "Ctrl+.", menu, can_stop,
                   tr("End the run within three seconds; what it learned is kept (Ctrl+.).")),
            Action("run.checkpoint", tr("Save a checkpoint now"), training.save_checkpoint, "", menu, is_training,
                   tr("Write what the network has learned so far to disk; training can go on from there."),
                   is_separated=True),
            Action("memory.snapshot", tr("Count tensors now"), training.take_snapshot, "", menu, is_training,
                   tr("Record at the next step which tensors are alive, for the Memory page.")),
        ]  # fmt: skip
