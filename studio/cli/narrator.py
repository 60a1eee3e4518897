"""A run told in the terminal: a bar for what goes on now, a line for each epoch, and a story's end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol, assert_never

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from studio.cli.console import percent, print_text, problem_text, safe, seconds_text
from studio.core.events import (
    Beat,
    CheckpointSaved,
    Ended,
    EpochEnded,
    Evaluated,
    Event,
    Failed,
    LeaksFound,
    MemorySampled,
    Metrics,
    ModelSaved,
    Paused,
    Phase,
    Progressed,
    Resumed,
    Started,
    Stepped,
    Unknown,
    Warned,
    event_to_line,
)
from studio.core.problem import Severity
from studio.core.quantities import size_text
from studio.core.runstate import RunState
from studio.core.text import tr

# Where there is little room, numbers say more than a bar.
_BAR_WIDTH, _SHORT_BAR_WIDTH, _ROOMY_WIDTH = 24, 10, 100


class Teller(Protocol):
    """Something that listens to a run."""

    def __enter__(self) -> Teller: ...
    def __exit__(self, *error: object) -> None: ...
    def tell(self, event: Event, state: RunState) -> None:
        """`event` has happened and led to `state`."""
        ...

    def show(self, state: RunState) -> None:
        """Called about ten times a second, also when nothing happens."""
        ...

    def say(self, sentence: str) -> None:
        """A sentence that is not an event."""
        ...


class LineTeller:
    """Each event as a line of JSON on standard output; sentences go to `console` (standard error)."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> LineTeller:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def tell(self, event: Event, state: RunState) -> None:
        if not isinstance(event, Unknown):
            print_text(event_to_line(event))

    def show(self, state: RunState) -> None:
        """Lines need no refreshing."""

    def say(self, sentence: str) -> None:
        self._console.print(safe(sentence))


class Narrator:
    """For people: rich's progress bar in a terminal, plain lines where output is kept in a file."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said_phase: Phase | None = None
        self._is_ended = False
        self._bar_width = _BAR_WIDTH if console.width >= _ROOMY_WIDTH else _SHORT_BAR_WIDTH
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=self._bar_width),
            MofNCompleteColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task(tr("Starting the engine"), total=None, detail="")

    def __enter__(self) -> Narrator:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def tell(self, event: Event, state: RunState) -> None:
        match event:
            case Started():
                # The first one only announces the host; the pictures are counted later.
                if event.train_count:
                    self.say(_start_text(event))
            case EpochEnded():
                self.say(_epoch_text(event, state))
            case Warned(problem=problem):
                # What ends the run is told once, at its end and with its hints.
                if problem.severity is not Severity.ERROR:
                    self.say(tr("Warning: {sentence}", sentence=problem_text(problem)))
            case Paused():
                self.say(tr("Paused."))
            case Resumed():
                self.say(tr("Goes on."))
            case Ended():
                self._is_ended = True
            case Progressed():
                self._tell_phase(event.phase)
            case Stepped() | Evaluated() | MemorySampled() | LeaksFound() | CheckpointSaved():
                pass
            case ModelSaved() | Failed() | Beat() | Unknown():
                pass
            case _:
                assert_never(event)

    def _tell_phase(self, phase: Phase) -> None:
        """Where there is no bar, one line says that a phase began."""
        if not self._console.is_terminal and phase not in {self._said_phase, "prepare", "train"}:
            self.say(phase_text(phase) + " ...")
        self._said_phase = phase

    def show(self, state: RunState) -> None:
        if self._is_ended or state.last_time == 0:
            return
        if state.phase == "train" and state.started is not None:
            description = tr("Epoch {n} of {count}", n=max(1, state.epoch), count=state.started.epochs)
            done, total = state.step, state.total_steps
        else:
            description, done, total = phase_text(state.phase), state.phase_done, state.phase_total or 0
        counted = 2 * len(str(total or done)) + 1
        # A spinner, the bar and a space between the columns, with one to spare.
        room = self._console.width - cell_len(description) - counted - self._bar_width - 7
        self._progress.update(
            self._task,
            description=description,
            completed=done,
            total=total or None,
            detail=safe(_that_fit(_details(state), room)),
        )

    def say(self, sentence: str) -> None:
        self._progress.console.print(safe(sentence))


def phase_text(phase: Phase) -> str:
    """What goes on in this phase."""
    match phase:
        case "prepare":
            return tr("Getting ready")
        case "scan":
            return tr("Looking through the folder")
        case "inspect":
            return tr("Looking into the pictures")
        case "build":
            return tr("Building the network")
        case "train":
            return tr("Training")
        case "evaluate":
            return tr("Evaluating")
        case "save":
            return tr("Saving the model")
    assert_never(phase)


def _start_text(event: Started) -> str:
    sentence = tr(
        "{train} training and {validation} validation pictures in {classes} classes, {parameters} parameters, on "
        "{device}.",
        train=f"{event.train_count:,}",
        validation=f"{event.validation_count:,}",
        classes=len(event.classes),
        parameters=f"{event.parameters:,}",
        device=event.device_name or event.device,
    )
    if event.resumed_step:
        return sentence + " " + tr("Goes on after step {step}.", step=event.resumed_step)
    return sentence


def _epoch_text(event: EpochEnded, state: RunState) -> str:
    count = state.started.epochs if state.started else event.epoch
    parts = [
        tr("Epoch {n}/{count}", n=event.epoch, count=count),
        tr("training {metrics}", metrics=_metrics_text(event.train)),
    ]
    if event.validation is not None:
        parts.append(tr("validation {metrics}", metrics=_metrics_text(event.validation)))
    if event.images_per_second:
        parts.append(tr("{pace} pictures/s", pace=f"{event.images_per_second:,.0f}"))
    memory = _memory_text(state)
    left = state.seconds_left
    parts += [memory] if memory else []
    if left is not None and event.epoch < count:
        parts.append(tr("{time} left", time=seconds_text(left)))
    return "  ".join(parts)


def _metrics_text(metrics: Metrics) -> str:
    return tr("loss {loss}, accuracy {accuracy}", loss=f"{metrics.loss:.4f}", accuracy=percent(metrics.accuracy))


def _memory_text(state: RunState) -> str:
    latest = state.memory.latest
    if latest is None:
        return ""
    if latest.gpu is not None:
        return tr("GPU memory {size}", size=size_text(latest.gpu.allocated_bytes))
    return tr("memory {size}", size=size_text(latest.host.resident_bytes))


def _details(state: RunState) -> list[str]:
    """What is worth knowing beside the bar, the most telling first."""
    if state.is_paused:
        return [tr("Paused.")]
    if state.phase != "train":
        return []
    parts = []
    quiet = time.time() - state.last_time
    if quiet > 10:
        parts.append(tr("nothing heard for {time}", time=seconds_text(quiet)))
    if state.losses.last is not None:
        parts.append(tr("loss {loss}", loss=f"{state.losses.last:.3f}"))
    left = state.seconds_left
    if left is not None:
        parts.append(tr("{time} left", time=seconds_text(left)))
    if state.images_per_second:
        parts.append(tr("{pace} pictures/s", pace=f"{state.images_per_second:,.0f}"))
    memory = _memory_text(state)
    return [*parts, memory] if memory else parts


def _that_fit(parts: Sequence[str], room: int) -> str:
    """As many of `parts` in a line as `room` has cells for; a narrow terminal would cut through the bar's numbers."""
    line = ""
    for part in parts:
        longer = f"{line}  {part}" if line else part
        if cell_len(longer) <= room:
            line = longer
    return line
