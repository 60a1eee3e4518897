"""A project that is opened brings the newest of its runs along."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6")

from pytestqt.qtbot import QtBot

from studio.core.project import Data, Project
from studio.runs.folder import create_run
from studio.view.lastrun import LastRun
from studio.view.workspace import Workspace
from tests.view.made_runs import add_run

pytestmark = pytest.mark.qt

PETS = Project("pets", Data("/gone/pets"))


def settle(qtbot: QtBot, workspace: Workspace, last: LastRun) -> None:
    """Wait until pictures and runs have been looked for."""
    qtbot.waitUntil(lambda: not workspace.pictures.is_busy)
    qtbot.waitUntil(lambda: last._task is None or not last._task._thread.is_alive())
    qtbot.wait(20)


def test_that_a_project_is_opened_with_its_newest_run(qtbot: QtBot, workspace: Workspace) -> None:
    runs = workspace.folders.runs
    add_run(runs, 0, folder="/gone/pets")
    newest = add_run(runs, 1, folder="/gone/pets")
    add_run(runs, 2, folder="/gone/other")
    add_run(runs, 3, name="other", folder="/gone/pets")
    create_run(PETS, runs)  # one that never began has nothing to show
    last = LastRun(workspace)
    workspace.document.open(PETS)
    settle(qtbot, workspace, last)
    training = workspace.training
    assert training.run_folder == newest
    assert training.state.ended is not None and training.state.best_validation_accuracy == 0.85
    assert training.project is not None and training.project.name == "pets"


def test_that_a_project_without_runs_shows_none_of_another_s(qtbot: QtBot, workspace: Workspace) -> None:
    training = workspace.training
    training.open(add_run(workspace.folders.runs, 0, folder="/gone/other"))
    last = LastRun(workspace)
    workspace.document.open(PETS)
    settle(qtbot, workspace, last)
    assert training.run_folder is None and training.state.first_time is None


def test_that_a_run_that_was_opened_by_name_is_kept(qtbot: QtBot, workspace: Workspace) -> None:
    older = add_run(workspace.folders.runs, 0, folder="/gone/pets")
    add_run(workspace.folders.runs, 1, folder="/gone/pets")
    last = LastRun(workspace)
    workspace.document.open(PETS)
    workspace.training.open(older)
    settle(qtbot, workspace, last)
    assert workspace.training.run_folder == older


def test_that_a_run_that_goes_on_stays_on_the_screen(qtbot: QtBot, workspace: Workspace) -> None:
    add_run(workspace.folders.runs, 0, folder="/gone/pets")
    workspace.training.start(Project("birds", Data("/gone/birds")), "process")
    running = workspace.training.run_folder
    last = LastRun(workspace)
    workspace.document.open(PETS)
    settle(qtbot, workspace, last)
    assert workspace.training.run_folder == running and workspace.training.is_active
