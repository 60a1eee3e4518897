"""Start, pause, stop, and how far the run is."""

from __future__ import annotations

import time
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QSizePolicy

from studio.core.project import ProjectUnreadable, load_project
from studio.core.runstate import RunState
from studio.core.text import tr
from studio.runs.folder import project_file
from studio.view.pieces import Card, button, row, wrapped
from studio.view.theme import set_role
from studio.view.train.wording import ProgressWords, progress_words
from studio.view.workspace import Workspace

_BAR_STEPS = 1000


class RunControls(Card):
    """Buttons and progress of the run. What they do is also what the page's actions do."""

    start_wanted = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.setObjectName("train.controls")
        self.plan_what = wrapped("")
        self.plan_costs = wrapped("", "muted")
        self.column.addWidget(self.plan_what)
        self.column.addWidget(self.plan_costs)
        self.start = button(
            tr("Start training"), tr("Train the network with this recipe, in a new run (F5)."), "run.start",
            self.start_wanted.emit, "primary",
        )  # fmt: skip
        self.pause = button(
            tr("Pause"), tr("Wait after the step in hand; the device is free for other work (Ctrl+P)."), "run.pause",
            run=self.toggle_pause,
        )  # fmt: skip
        self.stop = button(
            tr("Stop"), tr("End the run within three seconds; what it learned is kept (Ctrl+.)."), "run.stop",
            workspace.training.stop, "danger",
        )  # fmt: skip
        self.start.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.pause.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.stop.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.column.addLayout(row(self.start, self.pause, self.stop))
        self.progress_text = wrapped("")
        self.progress_text.setObjectName("run.progress.text")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setObjectName("run.progress")
        self.bar.setAccessibleName(tr("Progress of the run"))
        self.bar.setFixedHeight(8)
        self.column.addWidget(self.progress_text)
        self.column.addWidget(self.bar)

    def show_plan(self, what: str, costs: str, why_not: str) -> None:
        """What a start would do; `why_not` says why it cannot be done now, "" when it can."""
        self.plan_what.setText(what)
        self.plan_what.setVisible(bool(what))
        self.plan_costs.setText(why_not or costs)
        set_role(self.plan_costs, "warning" if why_not else "muted")
        self.plan_costs.setVisible(bool(why_not or costs))
        self.start.setEnabled(not why_not)

    def show_start_as(self, *, is_primary: bool) -> None:
        """Whether starting anew is what a person most likely wants now."""
        set_role(self.start, "primary" if is_primary else "")

    def show_state(self, state: RunState) -> None:
        """Buttons and progress for this moment. The keyboard stays with these buttons when the one that has it goes."""
        training = self._workspace.training
        is_going = training.is_active or state.is_running
        usable = {
            self.start: not is_going and self.start.isEnabled(),
            self.pause: is_going and self.can_pause,
            self.stop: is_going and not training.is_stopping,
        }
        has_focus = self.hasFocus() or any(made.hasFocus() and not usable[made] for made in usable)
        if has_focus:
            self.setFocus()  # else Qt hands it to the next field when its button is hidden
        self._show_buttons(state, is_going=is_going)
        # Never to Stop: a second key press must not end what the first one began.
        heir = next((made for made in (self.start, self.pause) if usable[made]), None)
        if has_focus and heir is not None:
            heir.setFocus()

    def _show_buttons(self, state: RunState, *, is_going: bool) -> None:
        training = self._workspace.training
        self.start.setVisible(not is_going)
        self.pause.setVisible(is_going)
        self.stop.setVisible(is_going)
        self.pause.setText(tr("Resume") if state.is_paused else tr("Pause"))
        self.pause.setEnabled(self.can_pause)
        self.stop.setEnabled(not training.is_stopping)
        self.stop.setText(tr("Stopping…") if training.is_stopping else tr("Stop"))
        self.progress_text.setVisible(is_going)
        self.bar.setVisible(is_going)
        if is_going:
            self._show_progress(self.words(state))

    def words(self, state: RunState) -> ProgressWords:
        """Where the run is, in words."""
        training = self._workspace.training
        quiet = time.time() - state.last_time if training.is_quiet and not state.is_paused else None
        if state.ended is not None and not training.is_waking:
            return ProgressWords(tr("Finishing"), 1.0)
        return progress_words(state, is_stopping=training.is_stopping, quiet_seconds=quiet)

    def _show_progress(self, words: ProgressWords) -> None:
        if self.progress_text.text() != words.text:
            self.progress_text.setText(words.text)
            self.bar.setAccessibleDescription(words.text)
        most = 0 if words.share is None else _BAR_STEPS
        if self.bar.maximum() != most:
            self.bar.setRange(0, most)
        if words.share is not None:
            self.bar.setValue(round(words.share * _BAR_STEPS))

    @property
    def can_pause(self) -> bool:
        """Whether the run takes a pause: it trains, and is not on its way to the end."""
        state = self._workspace.training.state
        is_training = state.is_running and (state.phase in ("train", "evaluate") or state.is_paused)
        return is_training and not self._workspace.training.is_stopping

    def toggle_pause(self) -> None:
        """Pause, or go on after a pause."""
        training = self._workspace.training
        if training.state.is_paused:
            training.resume()
        else:
            training.pause()

    def go_on(self) -> None:
        """Resume the ended run that is shown from its last checkpoint, with the settings that it had."""
        training = self._workspace.training
        if training.run_folder is None:
            return
        project = training.project
        if project is None:
            try:
                project = load_project(project_file(Path(training.run_folder)))
            except ProjectUnreadable:
                project = self._workspace.document.project
        training.go_on(training.run_folder, project, self._workspace.settings.value.launcher)
