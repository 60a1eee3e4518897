"""Run folders for the tests of the Results and Export pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studio.core.events import Ended, EpochEnded, Evaluated, Event, Failed, Metrics, Outcome
from studio.core.frozen import FrozenMap
from studio.core.project import Data, Preprocessing, Project, Recipe
from studio.core.templates import templates
from studio.runs.folder import create_run
from tests.view.fakes import say, started

BEGAN = 1_796_000_000.0
NO_SUCH_PID = 2**22 + 5
CONFUSION = ((8, 2), (1, 9))


def add_run(
    runs_root: Path,
    number: int = 0,
    *,
    outcome: Outcome = "finished",
    accuracies: Sequence[float] = (0.5, 0.85),
    template: str = "simple_cnn",
    name: str = "pets",
    classes: tuple[str, ...] = ("cat", "dog"),
    confusion: tuple[tuple[int, ...], ...] = CONFUSION,
    folder: str = "/pictures/pets",
    **recipe: Any,
) -> Path:
    """A run that began `number` hours after the first one; a finished one has a model, a stopped one a checkpoint."""
    when = BEGAN + 3600 * number
    project = Project(
        name, Data(folder, classes=classes), Preprocessing(), templates()[template].network, Recipe(**recipe)
    )
    run = create_run(project, runs_root, when)
    values = {"time": when, "name": name, "pid": NO_SUCH_PID, "classes": classes, "epochs": max(2, len(accuracies))}
    events: list[Event] = [started(**values)]
    for epoch, accuracy in enumerate(accuracies, start=1):
        train, validation = Metrics(0.5 / epoch, accuracy, 80), Metrics(0.6 / epoch, accuracy, 20)
        events.append(EpochEnded(when + 2 * epoch, epoch, 10 * epoch, train, validation, 2.0))
    if outcome == "finished":
        events.append(Evaluated(when + 9, "validation", Metrics(0.3, 0.85, 20), confusion))
        add_model(run / "model", classes)
    if outcome == "stopped":
        (run / "checkpoints" / "step-10.safetensors").write_bytes(b"x")
    if outcome == "failed":
        events.append(Failed(when + 9, "RuntimeError", "the loss is NaN", "trace", FrozenMap()))
    best = max(accuracies, default=None)
    events.append(Ended(when + 10, outcome, "", best, 10.0, 200.0))
    say(run, *events)
    return run


def add_model(folder: Path, classes: Sequence[str]) -> None:
    """The files of a model, without weights that a network could use."""
    folder.mkdir()
    (folder / "weights.safetensors").write_bytes(b"w" * 2048)
    (folder / "network.json").write_text('{"input_shape": [3, 64, 64]}', "utf-8")
    (folder / "preprocessing.json").write_text("{}", "utf-8")
    (folder / "labels.txt").write_text("".join(f"{label}\n" for label in classes), "utf-8")
