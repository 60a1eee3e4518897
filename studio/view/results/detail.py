"""The chosen runs: what became of them, what can be done with them, and their curves, scores and settings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from studio.core.runstate import RunState
from studio.core.text import tr, trn
from studio.dataset.labels import shown
from studio.runs.catalogue import RunSummary
from studio.runs.scores import class_scores, macro_f1, most_mixed_up
from studio.view.badges import StatusBadge
from studio.view.pieces import button, wrapped
from studio.view.results.confusion import ConfusionModel, ConfusionTable
from studio.view.results.flow import FlowLayout
from studio.view.results.overlay import RunCurves
from studio.view.results.runlist import Records
from studio.view.results.scoretable import ScoreModel, ScoreTable
from studio.view.results.settingstable import SettingsModel, SettingsTable
from studio.view.results.wording import accuracy_text, date_text, outcome_sentence, outcome_status, run_title

_MIX_UPS = 3


class RunDetail(QWidget):
    """Header, buttons and tabs. The signals follow the buttons; each is about the runs that are shown."""

    open_wanted = Signal()
    use_wanted = Signal()
    resume_wanted = Signal()
    folder_wanted = Signal()
    export_wanted = Signal()
    delete_wanted = Signal()

    def __init__(self, records: Records) -> None:
        super().__init__()
        self._records = records
        self._runs: tuple[RunSummary, ...] = ()
        self._scored: tuple[RunSummary | None, RunState | None, bool] | None = None
        records.arrived.connect(self._on_record)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(6)
        column.addLayout(self._header())
        column.addWidget(self._buttons())
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setObjectName("results.tabs")
        self.curves = RunCurves()
        self.tabs.addTab(self.curves, tr("Curves"))
        self.tabs.addTab(self._matrix_tab(), tr("Mix-ups"))
        self.tabs.addTab(self._scores_tab(), tr("Classes"))
        self.tabs.addTab(self._settings_tab(), tr("Settings"))
        for number, text in enumerate(
            (
                tr("Accuracy and loss of the chosen runs, epoch by epoch."),
                tr("Which classes the network takes for which: the confusion matrix of the validation pictures."),
                tr("Precision, recall and F1 of each class."),
                tr("With what the chosen runs were trained, and where they differ."),
            )
        ):
            self.tabs.setTabToolTip(number, text)
        column.addWidget(self.tabs, 1)

    # The parts

    def _header(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._badge = StatusBadge()
        self.title = QLabel()
        self.title.setProperty("role", "heading")
        self.sentence = wrapped("", "muted")
        row.addWidget(self._badge)
        row.addWidget(self.title)
        row.addWidget(self.sentence, 1)
        return row

    def _buttons(self) -> QWidget:
        holder = QWidget()
        flow = FlowLayout(holder)
        self.open_button = button(
            tr("Open on the Train page"), tr("Shows the whole course of this run: every step, its memory, its waits."),
            "results.open", self.open_wanted.emit,
        )  # fmt: skip
        self.use_button = button(
            tr("Use its settings"),
            tr("Gives the open project this run's network, picture preparation and recipe. This can be undone."),
            "results.use", self.use_wanted.emit,
        )  # fmt: skip
        self.resume_button = button(
            tr("Resume training"), tr("Goes on from the last checkpoint of this run."),
            "results.resume", self.resume_wanted.emit,
        )  # fmt: skip
        self.export_button = button(
            tr("Export…"), tr("Takes this run's model out of the studio, as a file for other programs."),
            "results.export", self.export_wanted.emit,
        )  # fmt: skip
        self.folder_button = button(
            tr("Show folder"), tr("Opens the folder of this run, with its record, checkpoints and model."),
            "results.folder", self.folder_wanted.emit,
        )  # fmt: skip
        self.delete_button = button(
            tr("Move to trash"), tr("Takes the chosen runs out of the list. This can be undone for 30 days."),
            "results.delete", self.delete_wanted.emit, "danger",
        )  # fmt: skip
        for made in self._all_buttons():
            flow.addWidget(made)
        return holder

    def _all_buttons(self) -> tuple[QPushButton, ...]:
        return (
            self.open_button, self.use_button, self.resume_button, self.export_button, self.folder_button,
            self.delete_button,
        )  # fmt: skip

    def _matrix_tab(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 8, 0, 0)
        self.mix_up_text = wrapped("", "muted")
        self.confusion_model = ConfusionModel()
        self.confusion = ConfusionTable(self.confusion_model)
        column.addWidget(self.mix_up_text)
        column.addWidget(self.confusion, 1)
        self._matrix_stack, self._matrix_missing = _with_reason(page)
        return self._matrix_stack

    def _scores_tab(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 8, 0, 0)
        self.score_text = wrapped("", "muted")
        self.score_model = ScoreModel()
        self.scores = ScoreTable(self.score_model)
        column.addWidget(self.score_text)
        column.addWidget(self.scores, 1)
        self._score_stack, self._score_missing = _with_reason(page)
        return self._score_stack

    def _settings_tab(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 8, 0, 0)
        self._only_differing = QCheckBox(tr("Only what differs"))
        self._only_differing.setToolTip(tr("Hides the settings that are the same in all chosen runs."))
        self._only_differing.setObjectName("results.only_differing")
        self._only_differing.toggled.connect(lambda _: self._show_settings())
        self.settings_model = SettingsModel()
        column.addWidget(self._only_differing)
        column.addWidget(SettingsTable(self.settings_model), 1)
        return page

    # What is shown

    def show_runs(self, runs: Sequence[RunSummary], *, is_training: bool) -> None:
        """Show these runs, the first one in detail; while `is_training` no other run can be opened or resumed."""
        self._runs = tuple(runs)
        self.setEnabled(bool(runs))
        self._show_header()
        self._show_buttons(is_training)
        self._show_settings()
        for run in self._runs:
            self._records.get(run.path)
        self._show_records()

    def _show_header(self) -> None:
        if not self._runs:
            self.title.setText(tr("No run is chosen"))
            self.sentence.setText("")
            return
        run = self._runs[0]
        self._badge.show_status(outcome_status(run.outcome))
        self._badge.setVisible(len(self._runs) == 1)
        if len(self._runs) == 1:
            measured_text = accuracy_text(run.best_validation_accuracy) if run.best_validation_accuracy else ""
            self.title.setText(f"{shown(run.name)}  {measured_text}".rstrip())
            self.sentence.setText(outcome_sentence(run))
            return
        self.title.setText(trn(len(self._runs), "{n} run", "{n:,} runs"))
        measured = [r for r in self._runs if r.best_validation_accuracy is not None]
        if not measured:
            self.sentence.setText(tr("None of them has been validated."))
            return
        best = max(measured, key=lambda r: r.best_validation_accuracy or 0.0)
        self.sentence.setText(
            tr(
                "The best is {name} of {date} with {accuracy}.",
                name=shown(best.name),
                date=date_text(best.started),
                accuracy=accuracy_text(best.best_validation_accuracy),
            )
        )

    def _show_buttons(self, is_training: bool) -> None:
        one = self._runs[0] if len(self._runs) == 1 else None
        self.open_button.setEnabled(one is not None and not is_training)
        self.use_button.setEnabled(one is not None and bool(one.settings))
        self.resume_button.setEnabled(one is not None and one.is_resumable and not is_training)
        self.resume_button.setVisible(one is not None and one.is_resumable)
        self.export_button.setEnabled(one is not None and one.model is not None)
        self.folder_button.setEnabled(one is not None)
        self.delete_button.setEnabled(bool(self._runs) and all(run.outcome != "running" for run in self._runs))

    def _show_settings(self) -> None:
        self._only_differing.setEnabled(len(self._runs) > 1)
        self.settings_model.show(self._runs, only_differing=self._only_differing.isChecked())

    def _on_record(self, path: str) -> None:
        if any(run.path == path for run in self._runs):
            self._show_records()

    def _show_records(self) -> None:
        states = {run.path: state for run in self._runs if (state := self._records.known(run.path)) is not None}
        self.curves.show_runs(self._runs, states)
        first = self._runs[0] if self._runs else None
        state = states.get(first.path) if first else None
        key = (first, state, len(self._runs) > 1)
        # Not compared by value: a state may hold a matrix of a million numbers.
        if self._scored is None or any(a is not b for a, b in zip(key, self._scored, strict=True)):
            self._scored = key
            self._show_scores(first, state)

    def _show_scores(self, run: RunSummary | None, state: RunState | None) -> None:
        evaluated = state.evaluated if state else None
        labels = state.started.classes if state and state.started else ()
        is_whole = evaluated is not None and len(labels) == len(evaluated.confusion)
        for stack, missing in (
            (self._matrix_stack, self._matrix_missing),
            (self._score_stack, self._score_missing),
        ):
            stack.setCurrentIndex(0 if is_whole else 1)
            missing.setText(_why_missing(run, state))
        if evaluated is None or not is_whole:
            self.confusion_model.show((), ())
            self.score_model.show(())
            return
        scores = class_scores(labels, evaluated.confusion)
        self.confusion_model.show(labels, evaluated.confusion)
        self.score_model.show(scores)
        self.score_text.setText(
            tr(
                "{accuracy} of {count:,} validation pictures are right. Mean F1 over the classes: {f1}.",
                accuracy=accuracy_text(evaluated.metrics.accuracy),
                count=evaluated.metrics.count,
                f1=accuracy_text(macro_f1(scores)),
            )
        )
        self._say_mix_ups(labels, evaluated.confusion)
        if run is not None and len(self._runs) > 1:
            for text in (self.score_text, self.mix_up_text):
                text.setText(f"{run_title(run)}: {text.text()}")

    def _say_mix_ups(self, labels: Sequence[str], confusion: Sequence[Sequence[int]]) -> None:
        found = most_mixed_up(confusion, _MIX_UPS)
        if not found:
            self.mix_up_text.setText(tr("Every validation picture was recognised."))
            return
        parts = [
            trn(
                one.count,
                "“{true}” for “{predicted}” (once)",
                "“{true}” for “{predicted}” ({n:,} times)",
                true=shown(labels[one.true]),
                predicted=shown(labels[one.predicted]),
            )
            for one in found
        ]
        listed = tr(", ").join(parts)
        self.mix_up_text.setText(
            tr("Rows: the true class; columns: what the network said. Most often it took {list}.", list=listed)
        )


def _why_missing(run: RunSummary | None, state: RunState | None) -> str:
    if run is None:
        return tr("Choose a run in the table above.")
    if state is None:
        return tr("Reading the record of the run…")
    if run.outcome == "running":
        return tr("The classes are measured at the end of the run.")
    return tr("This run ended before its classes were measured. Resume it, or train again, to see them here.")


def _with_reason(page: QWidget) -> tuple[QStackedWidget, QLabel]:
    """The page, or in its place a sentence that says why there is nothing to see."""
    stack = QStackedWidget()
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(24, 24, 24, 24)
    reason = wrapped("", "muted")
    column.addWidget(reason)
    column.addStretch(1)
    stack.addWidget(page)
    stack.addWidget(holder)
    return stack, reason
