"""How a run ended: what it reached and where its model is, or what went wrong and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from PySide6.QtCore import Qt, Signal

from studio.advice.hint import Hint
from studio.core.events import Ended, Outcome
from studio.core.quantities import duration_text, share_text, size_text
from studio.core.runstate import RunState
from studio.core.text import tr, trn
from studio.runs.folder import has_checkpoint, has_model, model_folder
from studio.view.elided import ElidedLabel
from studio.view.pieces import Card, button, row, wrapped
from studio.view.theme import set_role


class OutcomeCard(Card):
    """Shown when a run is over. Its signals follow its buttons."""

    results_wanted = Signal()
    classify_wanted = Signal()
    resume_wanted = Signal()
    hint_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("train.outcome")
        self.title = wrapped("", "heading")
        self.facts = wrapped("", is_selectable=True)
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        set_role(self.place, "muted")
        self.results = button(
            tr("See results"), tr("The table of runs, the confusion matrix and the mistakes."), "outcome.results",
            run=self.results_wanted.emit,
        )  # fmt: skip
        self.classify = button(
            tr("Classify a picture"), tr("Try the new model on a picture of yours."), "outcome.classify",
            self.classify_wanted.emit, "primary",
        )  # fmt: skip
        self.resume = button(
            tr("Resume training"), tr("Go on from the last checkpoint; nothing that was learned is lost."),
            "outcome.resume",  self.resume_wanted.emit, "primary",
        )  # fmt: skip
        self.hint = button(
            tr("Show hint"), tr("What was measured, why it happens, and what mends it."), "outcome.hint",
            run=self.hint_wanted.emit,
        )  # fmt: skip
        for part in (self.title, self.facts, self.place):
            self.column.addWidget(part)
        # One below the other: side by side they would make the column wider when a run ends.
        self.column.addWidget(self.resume)
        self.column.addWidget(self.classify)
        self.column.addLayout(row(self.results, self.hint))
        self.setVisible(False)

    @property
    def has_primary(self) -> bool:
        """Whether it is shown with a button that is the likeliest next step."""
        return not self.isHidden() and not (self.resume.isHidden() and self.classify.isHidden())

    def show_outcome(self, state: RunState, run_folder: Path | None, hints: tuple[Hint, ...]) -> None:
        """Show how the run ended; hidden while it goes on."""
        ended = state.ended
        self.setVisible(ended is not None and run_folder is not None)
        if ended is None or run_folder is None:
            return
        is_good = ended.outcome == "finished"
        is_bad = ended.outcome in ("failed", "died")
        set_role(self, "card-good" if is_good else "card-error" if is_bad else "card")
        self.title.setText(outcome_title(ended.outcome, _accuracy(state)))
        self.facts.setText(failure_text(state, hints) if is_bad else outcome_facts(state))
        model = has_model(run_folder)
        self.place.setText(
            tr("Model: {folder}", folder=str(model_folder(run_folder))) if model else _record(run_folder)
        )
        self.classify.setVisible(model)
        set_role(self.classify, "primary" if is_good else "")
        self.results.setVisible(not is_bad)
        self.resume.setVisible(not is_good and has_checkpoint(run_folder))
        self.hint.setVisible(is_bad and bool(hints))


def _record(run_folder: Path) -> str:
    return tr("Record of the run: {folder}", folder=str(run_folder))


def _accuracy(state: RunState) -> float | None:
    best = state.best_validation_accuracy
    return best if best is not None or state.ended is None else state.ended.best_validation_accuracy


def outcome_title(outcome: Outcome, accuracy: float | None) -> str:
    """The headline of an ended run."""
    match outcome:
        case "finished":
            if accuracy is None:
                return tr("Finished")
            return tr("Finished: {accuracy} validation accuracy", accuracy=share_text(accuracy))
        case "stopped":
            return tr("Stopped by you")
        case "failed":
            return tr("Training failed")
        case "died":
            return tr("Training ended without a word")
    assert_never(outcome)


def outcome_facts(state: RunState) -> str:
    """Accuracy, time, pace and memory of an ended run."""
    ended = state.ended
    if ended is None:
        return ""
    accuracy = _accuracy(state)
    parts = []
    if ended.outcome == "stopped" and ended.reason:
        parts.append(ended.reason)
    if ended.outcome != "finished" and accuracy is not None:
        parts.append(tr("{accuracy} validation accuracy so far", accuracy=share_text(accuracy)))
    if state.epochs:
        parts.append(trn(len(state.epochs), "1 epoch", "{n} epochs"))
    parts.append(duration_text(state.active_seconds))
    if ended.images_per_second:
        parts.append(tr("{n:,.0f} images/s", n=ended.images_per_second))
    if ended.peak_bytes:
        parts.append(_peak(ended, ended.peak_bytes))
    return " · ".join(parts)


def _peak(ended: Ended, peak_bytes: int) -> str:
    if ended.forecast_bytes:
        return tr(
            "peak memory {peak} (forecast {forecast})",
            peak=size_text(peak_bytes),
            forecast=size_text(ended.forecast_bytes),
        )
    return tr("peak memory {peak}", peak=size_text(peak_bytes))


def failure_text(state: RunState, hints: tuple[Hint, ...]) -> str:
    """What went wrong: the best hint's title where one is known, and else the exception or the reason itself."""
    if hints:
        return hints[0].title
    if state.failed is not None:
        return f"{state.failed.kind}: {state.failed.message}" if state.failed.kind else state.failed.message
    return state.ended.reason if state.ended else ""
