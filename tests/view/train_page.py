"""Opens the Train page for tests, starts runs on it and lets them speak."""

from __future__ import annotations

import time
from pathlib import Path

from pytestqt.qtbot import QtBot

from studio.core.commands import Command, command_from_line
from studio.core.events import Ended, EpochEnded, Event, Metrics, Stepped
from studio.core.frozen import FrozenMap
from studio.core.project import Data, Preprocessing, Project
from studio.core.templates import default_network
from studio.runs.folder import commands_file
from studio.view.pages.train import TrainPage
from studio.view.workspace import Workspace
from tests.view.fakes import FakeHandle, FakeLauncher


def project(folder: Path) -> Project:
    data = Data(str(folder), classes=("cat", "dog"))
    return Project("pets", data, Preprocessing(height=28, width=28, channels="grey"), default_network())


def train_page(qtbot: QtBot, workspace: Workspace, folder: Path) -> TrainPage:
    """The page over a project that can be trained; its folder counts as looked at already."""
    workspace.document.blockSignals(True)  # no scan of the made-up folder
    workspace.document.open(project(folder))
    workspace.document.blockSignals(False)
    made = TrainPage(workspace)
    qtbot.addWidget(made)
    made.resize(1000, 640)
    made.show()
    return made


def run_of(page: TrainPage, launchers: dict[str, FakeLauncher], name: str = "process") -> FakeHandle:
    """Start by a click and give the run's handle."""
    page.controls.start.click()
    return launchers[name].handles[-1]


def hear(page: TrainPage, handle: FakeHandle, *events: Event) -> None:
    handle.say(*events)
    page.workspace.training.poll()


def stepped(step: int, epoch: int = 1, loss: float = 0.5) -> Stepped:
    waits = FrozenMap(data=0.6, transfer=0.1, forward=0.1, backward=0.1, optimiser=0.1)
    return Stepped(time.time(), step, epoch, (loss,), (0.75,), 1e-3, 123.0, waits)


def epoch_ended(epoch: int = 1, step: int = 10) -> EpochEnded:
    return EpochEnded(time.time(), epoch, step, Metrics(0.4, 0.8, 80), Metrics(0.3, 0.9, 20), 1.0)


def ended(outcome: str = "finished") -> Ended:
    return Ended(time.time(), outcome, best_validation_accuracy=0.9, seconds=12.0)  # type: ignore[arg-type]


def sent(page: TrainPage) -> list[Command | None]:
    folder = page.workspace.training.run_folder
    assert folder is not None
    return [command_from_line(line) for line in commands_file(folder).read_text().splitlines()]
