"""Runs in words: outcomes, dates, and the settings of a project under the names that the window gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import assert_never

from studio.core.augmentation import Augmentation
from studio.core.blocks import BLOCKS
from studio.core.fields import Field, Value
from studio.core.project import Data, Preprocessing, Recipe, fields_of
from studio.core.quantities import duration_text, share_text
from studio.core.templates import templates
from studio.core.text import tr, trn
from studio.dataset.labels import shown
from studio.runs.catalogue import RunOutcome, RunSummary
from studio.view.workspace import PageStatus

NOTHING = "–"
_ORDER = ("recipe", "network", "augmentation", "preprocessing", "data")
_PARTS = {"data": Data, "preprocessing": Preprocessing, "augmentation": Augmentation, "recipe": Recipe}


def outcome_word(outcome: RunOutcome) -> str:
    """What became of a run, in a word."""
    match outcome:
        case "new":
            return tr("not started")
        case "running":
            return tr("running")
        case "finished":
            return tr("finished")
        case "stopped":
            return tr("stopped")
        case "failed":
            return tr("failed")
        case "died":
            return tr("died")
    assert_never(outcome)


def outcome_status(outcome: RunOutcome) -> PageStatus:
    """The shape and colour of an outcome, the same as in the rail."""
    match outcome:
        case "new" | "stopped":  # whoever stops a run wants no warning
            return PageStatus.NOTHING
        case "running":
            return PageStatus.BUSY
        case "finished":
            return PageStatus.READY
        case "failed" | "died":
            return PageStatus.ERROR
    assert_never(outcome)


def outcome_colour(outcome: RunOutcome) -> str:
    """The name of the theme's colour for an outcome."""
    match outcome_status(outcome):
        case PageStatus.NOTHING:
            return "muted"
        case PageStatus.BUSY:
            return "accent"
        case PageStatus.READY:
            return "good"
        case PageStatus.WARNING:
            return "warning"
        case PageStatus.ERROR:
            return "error"


def outcome_sentence(run: RunSummary) -> str:
    """What became of a run, how good it is and what it took."""
    facts = {
        "epochs": trn(run.epochs_done, "{n} epoch", "{n:,} epochs"),
        "total": f"{run.epochs:,}",
        "time": duration_text(run.seconds),
    }
    match run.outcome:
        case "new":
            text = tr("Not started: its folder is there, but it has said nothing yet.")
        case "running":
            text = tr("Running: {epochs} of {total} done in {time}.", **facts)
        case "finished":
            text = tr("Finished after {epochs} in {time}.", **facts)
        case "stopped":
            text = tr("Stopped after {epochs} of {total}, {time} after the start.", **facts)
        case "failed":
            text = tr("Failed after {epochs} of {total}: {reason}", **facts, reason=run.failure or NOTHING)
        case "died":
            text = tr("Its process ended without a word after {epochs} of {total}.", **facts)
    if run.model is None and run.outcome in {"stopped", "failed", "died"}:
        rest = tr("It left no model.") if not run.is_resumable else tr("It left no model, but it can be resumed.")
        return f"{text}\n{rest}"
    return text


def date_text(seconds: float | None) -> str:
    """The local date and time in a form that every language reads and that sorts: `2026-12-01 10:22`."""
    return NOTHING if seconds is None else datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def accuracy_text(share: float | None) -> str:
    return NOTHING if share is None else share_text(share)


def run_title(run: RunSummary) -> str:
    """How a run is called in lists: its project's name, when it began, and how good it is."""
    parts = [shown(run.name), date_text(run.started)]
    if run.best_validation_accuracy is not None:
        parts.append(accuracy_text(run.best_validation_accuracy))
    return " · ".join(parts)


def shown_settings(runs: Sequence[RunSummary], *, everything: bool) -> tuple[str, ...]:
    """The settings worth a column: those that differ, or all. A block's settings are compared only where every run
    has that block: two networks that have nothing in common differ in one column, not in fifty."""
    names = in_order(name for run in runs for name in run.settings)
    if everything:
        return names
    return tuple(name for name in names if _differs(name, runs) and _is_comparable(name, runs))


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, what a person tries out most often first."""

    def place(name: str) -> int:
        part = name.partition(".")[0]
        return _ORDER.index(part) if part in _ORDER else len(_ORDER)

    return tuple(sorted(dict.fromkeys(names), key=place))


def _differs(name: str, runs: Sequence[RunSummary]) -> bool:
    first = runs[0].settings
    return any((name in run.settings, run.settings.get(name)) != (name in first, first.get(name)) for run in runs)


def _is_comparable(name: str, runs: Sequence[RunSummary]) -> bool:
    block = _block_of(name)
    if block is None:
        return True
    kinds = {run.settings.get(block) for run in runs}
    return len(kinds) == 1 and name != block


def _block_of(name: str) -> str | None:
    """`network.b1` of `network.b1.kernel` and of itself; None for a setting that is no block's."""
    part, _, rest = name.partition(".")
    if part != "network" or rest == "template":
        return None
    return f"network.{rest.partition('.')[0]}"


def setting_label(name: str, runs: Sequence[RunSummary]) -> str:
    """A setting's name as the window calls it."""
    if name == "data.folder":
        return tr("Pictures from")
    if name == "data.classes":
        return tr("Classes")
    if name == "network.template":
        return tr("Network")
    if name == "recipe.epochs":
        return tr("Epochs planned")  # beside those that were done
    block = _block_of(name)
    if block is None:
        field = _field(name, None)
        return tr(field.label) if field else name
    kind = _kind(block, runs)
    number = block.removeprefix("network.")
    title = f"{tr(BLOCKS[kind].label)} {number}" if kind in BLOCKS else number
    if name == block:
        return title
    field = _field(name, kind)
    inner = tr(field.label) if field else name.rpartition(".")[2]
    return f"{title}: {inner}"


def value_text(name: str, run: RunSummary, runs: Sequence[RunSummary]) -> str:
    """A setting's value in words, with its unit."""
    value = run.settings.get(name)
    if name not in run.settings:
        return NOTHING
    if name == "data.folder":
        return shown(PurePath(str(value)).name) or NOTHING
    if name == "network.template":
        template = templates().get(str(value))
        return template.label if template else tr("own")
    block = _block_of(name)
    if name == block:
        return tr(BLOCKS[str(value)].label) if str(value) in BLOCKS else str(value)
    return _plain_text(value, _field(name, _kind(block, runs) if block else None))


def _plain_text(value: Value, field: Field | None) -> str:
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if value is None:
        return tr(field.none_label) if field and field.none_label else NOTHING
    if field and field.kind == "choice":
        choice = next((choice for choice in field.choices if choice.value == value), None)
        return tr(choice.label) if choice else str(value)
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else shown(value)
    return f"{text} {tr(field.unit)}" if field and field.unit else text


def _kind(block: str, runs: Sequence[RunSummary]) -> str:
    return next((str(run.settings[block]) for run in runs if block in run.settings), "")


def _field(name: str, kind: str | None) -> Field | None:
    part, _, inner = name.rpartition(".")
    if kind is not None:
        return BLOCKS[kind].field(inner) if kind in BLOCKS else None
    owner = _PARTS.get(part)
    return next((field for field in fields_of(owner) if field.name == inner), None) if owner else None
