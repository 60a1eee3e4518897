"""What a run says, as a closed union of typed events, one JSON object a line.

Events are past participles. Numbers are SI: seconds, bytes, images per second; `time` is seconds since the epoch (UTC).
A kind or a field that this version does not know never raises: the event becomes `Unknown`, the field is passed over.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from studio.core.codec import MalformedValue, dumps, from_plain
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem

Phase = Literal["prepare", "scan", "inspect", "build", "train", "evaluate", "save"]
Outcome = Literal["finished", "stopped", "failed", "died"]
Role = Literal["weights", "gradients", "optimiser", "data", "activations", "other"]


@dataclass(frozen=True, slots=True)
class Started:
    """A run begins, or goes on after `resumed_step` steps.

    `process_started` is the host process's creation time (seconds since the epoch), which tells a later process with
    the same `pid` apart. `forecast_bytes` is the peak predicted by `core.check`; None where it could not be.
    """

    time: float
    name: str
    launcher: str
    pid: int
    process_started: float
    device: str
    device_name: str
    world_size: int
    versions: FrozenMap[str]
    seed: int
    classes: tuple[str, ...]
    train_count: int
    validation_count: int
    batch_size: int
    steps_per_epoch: int
    epochs: int
    parameters: int
    forecast_bytes: int | None = None
    resumed_step: int = 0


@dataclass(frozen=True, slots=True)
class Progressed:
    """A phase goes on; `total` is None while it is not known."""

    time: float
    phase: Phase
    done: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Stepped:
    """One or several optimiser steps, packed: `step` is the last one's number from 1, `losses` are in order.

    `waits` is the mean share of a step's time spent in each part ("data", "transfer", "forward", "backward",
    "optimiser"), each from 0 to 1; empty where it was not measured.
    """

    time: float
    step: int
    epoch: int
    losses: tuple[float, ...]
    accuracies: tuple[float, ...]
    learning_rate: float
    images_per_second: float
    waits: FrozenMap[float] = FrozenMap()

    def __post_init__(self) -> None:
        if len(self.losses) != len(self.accuracies):
            raise ValueError("as many losses as accuracies")


@dataclass(frozen=True, slots=True)
class Metrics:
    """Mean loss per picture and share of right answers, over `count` pictures."""

    loss: float
    accuracy: float
    count: int


@dataclass(frozen=True, slots=True)
class EpochEnded:
    """An epoch's training is done and validated; `epoch` counts from 1.

    `seconds` is the time of both; `images_per_second` is of the training alone, 0 where it was not measured.
    """

    time: float
    epoch: int
    step: int
    train: Metrics
    validation: Metrics | None
    seconds: float
    images_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The final look at the validation pictures: `confusion[true][predicted]` counts, classes in order."""

    time: float
    split: str
    metrics: Metrics
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class HostMemory:
    """The host process's memory. `native_live_bytes` and `native_kept_bytes` are what the C allocator has handed out
    and what it keeps free (glibc mallinfo2); None where the platform cannot tell. `python_blocks` is
    `sys.getallocatedblocks()`. `available_bytes` is what the machine has left."""

    resident_bytes: int
    native_live_bytes: int | None = None
    native_kept_bytes: int | None = None
    python_blocks: int | None = None
    available_bytes: int | None = None
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """torch's allocator for this process, and the card as NVML sees it (None where NVML is missing)."""

    allocated_bytes: int
    reserved_bytes: int
    peak_allocated_bytes: int
    card_used_bytes: int | None = None
    card_total_bytes: int | None = None
    other_processes_bytes: int | None = None
    utilisation: float | None = None


@dataclass(frozen=True, slots=True)
class RoleTotal:
    """Live tensors of one role: how many, and the bytes of their distinct storages."""

    role: Role
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MemorySampled:
    """Memory at a step border. `tensors` is empty where no census was taken at this sample."""

    time: float
    step: int
    epoch: int
    host: HostMemory
    gpu: GpuMemory | None = None
    tensors: tuple[RoleTotal, ...] = ()


@dataclass(frozen=True, slots=True)
class LeaksFound:
    """Growth that a run's own counters show, with the evidence; the full diagnosis is in `report` (a file name)."""

    time: float
    step: int
    growth_bytes_per_step: float
    report: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointSaved:
    """A checkpoint is whole on disk; `path` is relative to the run folder."""

    time: float
    path: str
    step: int
    epoch: int
    bytes: int
    is_best: bool


@dataclass(frozen=True, slots=True)
class ModelSaved:
    """The finished artefact is whole on disk; `path` is relative to the run folder."""

    time: float
    path: str
    validation_accuracy: float | None


@dataclass(frozen=True, slots=True)
class Paused:
    """Training waits between two steps."""

    time: float
    step: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """Training goes on after a pause."""

    time: float
    step: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something harms the run but does not end it."""

    time: float
    problem: Problem


@dataclass(frozen=True, slots=True)
class Failed:
    """An exception ended the run. `kind` is the exception's class; `facts` holds what is needed to explain it."""

    time: float
    kind: str
    message: str
    trace: str
    facts: FrozenMap[Value] = FrozenMap()


@dataclass(frozen=True, slots=True)
class Beat:
    """The host is alive."""

    time: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over; always the last event. `peak_bytes` is the measured peak on the run's device."""

    time: float
    outcome: Outcome
    reason: str = ""
    best_validation_accuracy: float | None = None
    seconds: float = 0.0
    images_per_second: float = 0.0
    peak_bytes: int | None = None
    forecast_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A line that this version cannot read: of a later version, or damaged."""

    time: float
    kind: str
    line: str


Event = (
    Started
    | Progressed
    | Stepped
    | EpochEnded
    | Evaluated
    | MemorySampled
    | LeaksFound
    | CheckpointSaved
    | ModelSaved
    | Paused
    | Resumed
    | Warned
    | Failed
    | Beat
    | Ended
    | Unknown
)

_CLASSES: dict[str, type] = {cls.__name__: cls for cls in get_args(Event) if cls is not Unknown}


def event_to_line(event: Event) -> str:
    """One line of JSON without the line break. An `Unknown` gives back the line it was read from."""
    if isinstance(event, Unknown):
        return event.line
    return dumps(event, tagged=True)


# The end of the year 9999: no calendar goes further.
_LATEST_SECONDS = 253_402_300_799.0
_LONG_WHOLE_NUMBER = re.compile(r"(?<![\d.])\d{19}")
_LARGEST_WHOLE_NUMBER = 2**63 - 1


def event_from_line(line: str) -> Event:
    """The event of one line; never raises, and has a time and whole numbers that can be reckoned with."""
    try:
        plain = _parsed(line)
        kind = plain["type"]
        event = cast(Event, from_plain(_CLASSES[kind], plain, kind, ignore_unknown=True))
    except (ValueError, KeyError, TypeError, RecursionError, MalformedValue):
        return _unknown(line)
    return event if 0 <= event.time <= _LATEST_SECONDS else _unknown(line)


def _parsed(line: str) -> Any:
    return json.loads(line, parse_int=_whole_number if _LONG_WHOLE_NUMBER.search(line) else None)


def _whole_number(text: str) -> int:
    value = int(text)
    if abs(value) > _LARGEST_WHOLE_NUMBER:
        raise ValueError(f"{text[:20]}... is too large")
    return value


def _unknown(line: str) -> Unknown:
    try:
        plain = _parsed(line)
    except (ValueError, RecursionError):
        return Unknown(0.0, "", line)
    if not isinstance(plain, dict):
        return Unknown(0.0, "", line)
    time = plain.get("time")
    kind = plain.get("type")
    is_time = isinstance(time, (int, float)) and not isinstance(time, bool) and 0 <= time <= _LATEST_SECONDS
    return Unknown(float(cast(float, time)) if is_time else 0.0, kind if isinstance(kind, str) else "", line)
