"""Small pages that stand in the places of a window under test, and a page that cannot be made."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QVBoxLayout

from studio.core.text import tr
from studio.view.actions import Action
from studio.view.places import Place
from studio.view.workspace import Page, PageStatus, Workspace


class StagePage(Page):
    """Remembers the targets it was asked to show and what its actions did."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.targets: list[str] = []
        self.done: list[str] = []
        self.shown_status = PageStatus.NOTHING
        self.field = QLineEdit(self)
        QVBoxLayout(self).addWidget(self.field)

    def status(self) -> PageStatus:
        return self.shown_status

    def status_text(self) -> str:
        return f"{self.id} is {self.shown_status.value}"

    def show_target(self, target: str) -> None:
        self.targets.append(target)


class DataStage(StagePage):
    id = "data"


class NetworkStage(StagePage):
    id = "network"

    def actions_of_page(self) -> list[Action]:
        return [Action("network.twice", "Twice", lambda: self.done.append("twice"), "Ctrl+D", tr("Network"))]


class TrainStage(StagePage):
    id = "train"

    def actions_of_page(self) -> list[Action]:
        return [Action("run.start", "Start training", lambda: self.done.append("start"), "F5", tr("Run"))]


class ResultsStage(StagePage):
    id = "results"


def broken_page(workspace: Workspace) -> Page:
    raise RuntimeError("this page has a bug")


PLACES = (
    Place("data", "Data", "Pictures.", "data", "tests.view.stage:DataStage"),
    Place("network", "Network", "Blocks.", "network", "tests.view.stage:NetworkStage"),
    Place("train", "Train", "Training.", "train", "tests.view.stage:TrainStage"),
    Place("results", "Results", "Runs.", "results", "tests.view.stage:ResultsStage"),
)
BROKEN = Place("memory", "Memory", "Memory.", "memory", "tests.view.stage:broken_page")
