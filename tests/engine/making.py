"""Makes picture folders, projects and run folders for the engine's tests, and reads what runs said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from studio.core.commands import Command, command_to_line
from studio.core.events import Ended, Event, MemorySampled, Started, Stepped, Unknown, event_from_line
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Data, Network, Preprocessing, Project, Recipe, save_project

SIDE = 16
CLASSES = ("left", "right", "top", "bottom")
PER_CLASS = 14

NETWORK = Network(
    (
        Block("b1", "conv2d", FrozenMap(out_channels=4)),
        Block("b2", "batch_norm"),
        Block("b3", "relu"),
        Block("b4", "max_pool"),
        Block("b5", "flatten"),
        Block("b6", "dropout", FrozenMap(rate=0.25)),
        Block("b7", "linear"),
    )
)


def make_pictures(folder: Path, classes: Sequence[str] = CLASSES, count: int = PER_CLASS) -> Path:
    """Grey noise with one bright half: which one is the class."""
    rng = np.random.default_rng(7)
    for number, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for place in range(count):
            pixels = rng.integers(0, 90, (SIDE, SIDE), np.uint8)
            half = np.s_[:, : SIDE // 2] if number % 2 == 0 else np.s_[:, SIDE // 2 :]
            pixels[half if number < 2 else half[::-1]] += 150
            Image.fromarray(pixels).save(folder / name / f"{place:03}.png")
    return folder


def make_project(folder: Path, network: Network = NETWORK, **recipe: Any) -> Project:
    settings = {"epochs": 2, "batch_size": 8, "learning_rate": 0.01, "device": "cpu", **recipe}
    return Project(
        "shapes",
        Data(str(folder)),
        Preprocessing(height=SIDE, width=SIDE, channels="grey"),
        network,
        replace(Recipe(), **settings),
    )


def make_run(folder: Path, project: Project) -> Path:
    folder.mkdir(parents=True)
    save_project(project, folder / "project.json")
    (folder / "commands.jsonl").touch()
    return folder


def say(run: Path, *commands: Command) -> None:
    with (run / "commands.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(command_to_line(command) + "\n" for command in commands)


def events_of(run: Path) -> list[Event]:
    """What a run has said so far; nothing before it opened its file, and not a line that is being written."""
    path = run / "events.r0.jsonl"
    text = path.read_text("utf-8") if path.exists() else ""
    return [event_from_line(line) for line in text.split("\n")[:-1]]


E = TypeVar("E", bound=Event)


def only(events: Sequence[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def obey_laws(events: list[Event]) -> None:
    """What holds for every run, however it ended."""
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Ended)
    assert len(only(events, Ended)) == 1
    assert not only(events, Unknown)
    last = events[0].resumed_step
    for pack in only(events, Stepped):
        assert pack.step == last + len(pack.losses) == last + len(pack.accuracies)
        last = pack.step
    times = [event.time for event in events if not isinstance(event, MemorySampled)]
    assert times == sorted(times)
