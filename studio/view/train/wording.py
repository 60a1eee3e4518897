"""What the Train page says, as functions of values: phases, progress, waits and what will be trained. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from studio.core.check import Report
from studio.core.project import Project
from studio.core.quantities import count_text, size_text
from studio.core.runstate import RunState
from studio.core.templates import templates
from studio.core.text import tr, trn
from studio.view.runwords import training_words, whole_seconds

# A part is named as the brake when it takes this share of a step: two fifths is clearly more than a fair fifth.
_BRAKE_SHARE = 0.4
WAIT_PARTS = ("data", "transfer", "forward", "backward", "optimiser")


@dataclass(frozen=True, slots=True)
class ProgressWords:
    """A line and a share from 0 to 1 for the progress bar; None where the end is not known."""

    text: str
    share: float | None


def progress_words(state: RunState, *, is_stopping: bool, quiet_seconds: float | None) -> ProgressWords:
    """Where a run is that goes on. `quiet_seconds` is how long nothing was heard, once that is too long."""
    words = _phase_words(state)
    if is_stopping:
        return ProgressWords(tr("Stopping…"), words.share)
    if quiet_seconds is not None:
        quiet = tr(
            "Nothing heard for {time}. It may be busy with a long step, or hang.", time=whole_seconds(quiet_seconds)
        )
        return ProgressWords(quiet, words.share)
    if state.is_paused:
        return ProgressWords(tr("Paused. {where}", where=words.text), words.share)
    return words


def _phase_words(state: RunState) -> ProgressWords:
    if state.first_time is None or state.ended is not None:
        return ProgressWords(tr("Waking the engine"), None)
    done, total = state.phase_done, state.phase_total
    share = done / total if total else None
    match state.phase:
        case "prepare":
            return ProgressWords(tr("Preparing"), None)
        case "scan":
            return ProgressWords(_counted(tr("Looking for pictures"), done, total), share)
        case "inspect":
            return ProgressWords(_counted(tr("Looking at the pictures"), done, total), share)
        case "build":
            return ProgressWords(tr("Building the network"), None)
        case "train":
            return ProgressWords(training_words(state), training_share(state))
        case "evaluate":
            text = tr("Measuring on the validation pictures")
            epoch = tr(", epoch {n} of {of}", n=state.epoch, of=state.started.epochs) if state.started else ""
            return ProgressWords(_counted(text, done, total) + epoch, training_share(state))
        case "save":
            return ProgressWords(tr("Saving the model"), 1.0)
    assert_never(state.phase)


def _counted(text: str, done: int, total: int | None) -> str:
    if total:
        return tr("{text}, {done:,} of {total:,}", text=text, done=done, total=total)
    return tr("{text}, {done:,}", text=text, done=done) if done else text


def training_share(state: RunState) -> float | None:
    """How much of all steps is done; None before the number of steps is known."""
    return min(1.0, state.step / state.total_steps) if state.total_steps else None


def wait_label(part: str) -> str:
    """What a part of a step is called."""
    match part:
        case "data":
            return tr("Pictures")
        case "transfer":
            return tr("Transfer")
        case "forward":
            return tr("Forward")
        case "backward":
            return tr("Backward")
        case "optimiser":
            return tr("Optimiser")
    return part


def wait_help(part: str) -> str:
    """What happens in a part of a step."""
    match part:
        case "data":
            return tr("Waiting for the next batch of pictures to be decoded and put together.")
        case "transfer":
            return tr("Moving the batch to the device and normalising it there.")
        case "forward":
            return tr("The network computes its answer and the loss.")
        case "backward":
            return tr("The gradient of the loss is computed for every weight.")
        case "optimiser":
            return tr("The weights are changed.")
    return ""


def waits_advice(waits: Mapping[str, float], device: str) -> str:
    """One sentence on what a step waits for most, and what could be done."""
    if not waits:
        return tr("Measured during the first steps.")
    part, share = max(waits.items(), key=lambda item: item[1])
    percent = round(share * 100)
    if part == "data" and share >= _BRAKE_SHARE:
        return tr(
            "{n}% of each step waits for pictures. The first epoch fills the cache; if it stays like this, use a "
            "smaller working size.",
            n=percent,
        )
    if part == "transfer" and share >= _BRAKE_SHARE:
        return tr("{n}% of each step moves pictures to the device. A larger batch makes fewer moves.", n=percent)
    if part == "optimiser" and share >= _BRAKE_SHARE:
        return tr("{n}% of each step changes the weights. A larger batch does that less often.", n=percent)
    computing = round((waits.get("forward", 0.0) + waits.get("backward", 0.0)) * 100)
    if device.startswith("cpu"):
        return tr("{n}% of each step computes, as it should. A GPU or a smaller network would be faster.", n=computing)
    return tr("{n}% of each step computes, as it should. The device is put to good use.", n=computing)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a start would do: one sentence, and a second one with its costs."""

    what: str
    costs: str


def plan(
    project: Project, report: Report, train_count: int | None, validation_count: int | None, *, is_on_card: bool = False
) -> Plan | None:
    """What will be trained; None while the project has no pictures. Counts are None while they are not known.

    A graphics card holds the tensors only, the machine's memory the framework too.
    """
    if not project.data.folder:
        return None
    template = templates().get(project.network.template)
    network = template.label if template else tr("your network")
    classes = trn(project.class_count, "1 class", "{n} classes")
    if train_count is not None and validation_count is not None:
        what = tr(
            "{network} learns {classes} from {train:,} pictures and is measured on {validation:,} others.",
            network=network, classes=classes, train=train_count, validation=validation_count,
        )  # fmt: skip
    elif project.class_count:
        what = tr("{network} learns {classes}.", network=network, classes=classes)
    else:
        what = tr("{network} learns the classes of this folder.", network=network)
    parts = [trn(project.recipe.epochs, "1 epoch", "{n} epochs")]
    if report.parameters:
        parts.append(tr("{n} weights", n=count_text(report.parameters)))
    if report.forecast is not None:
        training = report.forecast.training
        needed_bytes = training.tensors if is_on_card else training.total
        parts.append(tr("about {size} of memory", size=size_text(needed_bytes)))
    return Plan(_capitalised(what), " · ".join(parts))


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
