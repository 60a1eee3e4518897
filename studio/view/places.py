"""The six places of the window as a table; a page's module is imported when the page is first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from studio.core.registry import resolve
from studio.view.workspace import Page, Workspace


@dataclass(frozen=True, slots=True)
class Place:
    """A place. `label` and `help` are English source texts; `target` makes the page ("module:class")."""

    id: str
    label: str
    help: str
    icon: str
    target: str

    def make(self, workspace: Workspace) -> Page:
        """The page; whatever its module raises goes through."""
        return cast(Callable[[Workspace], Page], resolve(self.target))(workspace)


PLACES: tuple[Place, ...] = (
    Place("data", "Data", "The pictures that the network learns from.", "data", "studio.view.pages.data:DataPage"),
    Place(
        "network",
        "Network",
        "The blocks that a picture passes through, from input to output.",
        "network",
        "studio.view.pages.network:NetworkPage",
    ),
    Place("train", "Train", "How training goes, live.", "train", "studio.view.pages.train:TrainPage"),
    Place("memory", "Memory", "Where the memory goes.", "memory", "studio.view.pages.memory:MemoryPage"),
    Place(
        "results",
        "Results",
        "All runs compared, and what a trained network says of a picture.",
        "results",
        "studio.view.pages.results:ResultsPage",
    ),
    Place("export", "Export", "Take the trained network elsewhere.", "export", "studio.view.pages.export:ExportPage"),
)
