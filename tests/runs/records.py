"""Small made-up records of runs for tests."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import psutil

from studio.core.events import (
    Beat,
    CheckpointSaved,
    Ended,
    EpochEnded,
    Event,
    HostMemory,
    MemorySampled,
    Metrics,
    Outcome,
    Started,
    Stepped,
    event_to_line,
)
from studio.core.frozen import FrozenMap
from studio.core.project import Project
from studio.runs.folder import create_run, events_file

NO_SUCH_PID = 2**22 + 5


def started(
    *, pid: int = NO_SUCH_PID, process_started: float = 1.0, time: float = 100.0, resumed_step: int = 0
) -> Started:
    return Started(
        time=time,
        name="flowers",
        launcher="process",
        pid=pid,
        process_started=process_started,
        device="cpu",
        device_name="A processor",
        world_size=1,
        versions=FrozenMap(torch="2"),
        seed=0,
        classes=("a", "b"),
        train_count=40,
        validation_count=10,
        batch_size=10,
        steps_per_epoch=4,
        epochs=3,
        parameters=123,
        forecast_bytes=1000,
        resumed_step=resumed_step,
    )


def alive(time: float = 100.0) -> Started:
    """A run that this very process hosts."""
    return started(pid=os.getpid(), process_started=psutil.Process().create_time(), time=time)


def stepped(step: int, loss: float = 0.5) -> Stepped:
    return Stepped(100.0 + step, step, 1 + (step - 1) // 4, (loss,), (0.5,), 1e-3, 200.0)


def epoch_ended(epoch: int, accuracy: float) -> EpochEnded:
    step = 4 * epoch
    return EpochEnded(100.2 + step, epoch, step, Metrics(0.5, 0.7, 40), Metrics(0.6, accuracy, 10), 4.0)


def sampled(step: int, resident_bytes: int = 10**8) -> MemorySampled:
    return MemorySampled(100.1 + step, step, 1 + (step - 1) // 4, HostMemory(resident_bytes))


def ended(outcome: Outcome = "finished", time: float = 120.0) -> Ended:
    return Ended(time, outcome, "", 0.9, 20.0, 210.0, 2000, 1000)


def story(outcome: Outcome = "finished") -> list[Event]:
    events: list[Event] = [started()]
    for step in range(1, 13):
        events += [stepped(step), sampled(step), Beat(100.5 + step)]
        if step % 4 == 0:
            events.append(epoch_ended(step // 4, 0.5 + step / 30))
            events.append(CheckpointSaved(100.3 + step, f"checkpoints/{step}", step, step // 4, 10, True))
    return [*events, ended(outcome)]


def written(events: Iterable[Event]) -> bytes:
    return b"".join(event_to_line(event).encode() + b"\n" for event in events)


def make_run(root: Path, events: Iterable[Event], project: Project | None = None) -> Path:
    folder = create_run(project or Project("flowers"), root, when=1_796_000_000.0)
    content = written(events)
    if content:
        events_file(folder).write_bytes(content)
    return folder
