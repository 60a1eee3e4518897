"""What a run is doing, as one short sentence: for the strip, whatever page is shown."""

from __future__ import annotations

from typing import assert_never

from studio.core.events import Ended
from studio.core.quantities import duration_text, share_text
from studio.core.runstate import RunState
from studio.core.text import tr, trn
from studio.dataset.progress import Progress
from studio.view.workspace import PageStatus


def run_sentence(state: RunState, *, is_stopping: bool = False, quiet_seconds: float | None = None) -> str:
    """`quiet_seconds` is how long nothing was heard of a run that should beat; None where all is well."""
    if state.ended is not None:
        return _ended_sentence(state, state.ended)
    if is_stopping:
        return tr("Stopping…")
    if quiet_seconds is not None:
        return tr("Nothing heard of the run for {time}", time=duration_text(quiet_seconds))
    if state.is_paused:
        return tr("Paused after step {step:,}", step=state.step)
    return _phase_sentence(state)


def _phase_sentence(state: RunState) -> str:
    match state.phase:
        case "prepare":
            return tr("Starting the run…")
        case "scan":
            return trn(state.phase_done, "Found {n:,} picture", "Found {n:,} pictures")
        case "inspect":
            if state.phase_total is None:
                return tr("Looking at the pictures")
            return tr("Looking at the pictures, {done:,} of {total:,}", done=state.phase_done, total=state.phase_total)
        case "build":
            return tr("Building the network")
        case "train":
            return training_words(state)
        case "evaluate":
            return tr("Measuring on the validation pictures")
        case "save":
            return tr("Saving the model")
    assert_never(state.phase)


def training_words(state: RunState) -> str:
    """`Training, epoch 3 of 10, step 120 of 500, 12 s left`: the same on the Train page and in the strip, with steps
    counted from the start of the run, as the plots do."""
    started = state.started
    if started is None:
        return tr("Training")
    epoch = min(started.epochs, max(1, state.epoch))
    facts = {"epoch": epoch, "epochs": started.epochs, "step": state.step, "steps": state.total_steps}
    left = state.seconds_left
    if left is None:
        return tr("Training, epoch {epoch} of {epochs}, step {step:,} of {steps:,}", **facts)
    time = whole_seconds(left)
    return tr("Training, epoch {epoch} of {epochs}, step {step:,} of {steps:,}, {time} left", time=time, **facts)


def whole_seconds(seconds: float) -> str:
    """Whole seconds: tenths of what is only estimated would flicker."""
    return duration_text(max(0.0, seconds)) if seconds >= 10 else tr("{n} s", n=round(max(0.0, seconds)))


def number_text(value: float) -> str:
    """Three digits that carry meaning: `0.0123`, `2.3`, `1.2e-05`."""
    return f"{value:.3g}"


def _ended_sentence(state: RunState, ended: Ended) -> str:
    match ended.outcome:
        case "finished":
            best = ended.best_validation_accuracy
            if best is None:
                return tr("Finished in {time}", time=duration_text(state.active_seconds))
            return tr(
                "Finished in {time}: {share} of the validation pictures right",
                time=duration_text(state.active_seconds),
                share=share_text(best),
            )
        case "stopped":
            return tr("Stopped after step {step:,}", step=state.step)
        case "failed":
            return tr("The run failed; the hints say why")
        case "died":
            return tr("The run ended unexpectedly")
    assert_never(ended.outcome)


def run_status(state: RunState) -> PageStatus:
    """The shape beside the sentence."""
    if state.ended is None:
        return PageStatus.BUSY if state.is_running else PageStatus.NOTHING
    match state.ended.outcome:
        case "finished":
            return PageStatus.READY
        case "stopped":
            return PageStatus.NOTHING  # as it was wanted: no reason to warn
        case "failed" | "died":
            return PageStatus.ERROR
    assert_never(state.ended.outcome)


def run_share(state: RunState) -> float | None:
    """How much of the present phase is done, 0 to 1; None while it cannot be told."""
    if not state.is_running:
        return None
    if state.phase == "train" and state.total_steps:
        return min(1.0, state.step / state.total_steps)
    return min(1.0, state.phase_done / state.phase_total) if state.phase_total else None


def pictures_sentence(progress: Progress | None) -> str:
    """What the look at a folder is doing."""
    if progress is None or progress.phase == "scan":
        done = progress.done if progress else 0
        return trn(done, "Found {n:,} picture", "Found {n:,} pictures")
    if progress.total is None:
        return tr("Looking at the pictures")
    return tr("Looking at the pictures, {done:,} of {total:,}", done=progress.done, total=progress.total)
