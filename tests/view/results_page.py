"""Opens the Results page for tests, and reads and clicks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from studio.view.pages.results import ResultsPage
from studio.view.workspace import Workspace

MakePage = Callable[[], ResultsPage]


def results_pages(qtbot: QtBot, workspace: Workspace) -> MakePage:
    """Makes the page and waits until it has read the runs."""

    def make() -> ResultsPage:
        page = ResultsPage(workspace)
        qtbot.addWidget(page)
        page.resize(1200, 760)
        page.show()
        qtbot.waitUntil(lambda: page._list.is_known)
        settle(qtbot, page)
        return page

    return make


def settle(qtbot: QtBot, page: ResultsPage) -> None:
    """Wait until nothing is being read any more."""
    qtbot.waitUntil(lambda: page._list._task is None and page.detail._records._task is None)


def click(qtbot: QtBot, page: ResultsPage, name: str) -> None:
    button = page.findChild(QPushButton, name) or page.findChild(QToolButton, name)
    assert button is not None and button.isEnabled() and button.isVisible(), name
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def column(page: ResultsPage, name: str) -> list[str]:
    names = [column.name for column in page.run_model.columns]
    place = names.index(name)
    return [page.run_model.index(row, place).data() for row in range(page.run_model.rowCount())]


def picture(folder: Path, name: str = "a.png") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((8, 8, 3), 90, np.uint8)).save(path)
    return path
