"""The run on the screen when its host is not as it should be."""

from __future__ import annotations

import time

import pytest
from pytestqt.qtbot import QtBot

from studio.core.events import Ended
from studio.core.problem import Problem
from studio.core.project import Project
from studio.view.training import Training
from studio.view.workspace import Workspace
from tests.view.fakes import FakeLauncher, started
from tests.view.made_runs import NO_SUCH_PID

pytestmark = pytest.mark.qt


def waking(training: Training) -> bool:
    return training.is_waking


def test_that_a_host_that_never_began_ends_the_run_and_says_why(
    qtbot: QtBot, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    training = workspace.training
    problems: list[Problem] = []
    training.trouble.connect(problems.append)
    training.start(Project("digits"), "process")
    launchers["process"].handles[0].end(Problem("torch_missing"))
    qtbot.waitUntil(lambda: not training.is_active)
    assert [problem.code for problem in problems] == ["torch_missing"]
    assert training.state.ended is not None and training.state.ended.outcome == "died"


def test_that_a_host_that_goes_without_a_word_ends_the_run(
    qtbot: QtBot, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    workspace.training.start(Project("digits"), "thread")
    launchers["thread"].handles[0].end()
    qtbot.waitUntil(lambda: not workspace.training.is_active)
    ended = workspace.training.state.ended
    assert ended is not None and ended.reason


def test_that_a_run_ended_by_force_after_a_stop_was_stopped(
    qtbot: QtBot, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    training = workspace.training
    training.start(Project("digits"), "process")
    handle = launchers["process"].handles[0]
    handle.say(started(pid=NO_SUCH_PID))
    training.poll()
    training.stop()
    qtbot.waitUntil(lambda: not training.is_active)
    assert training.state.ended is not None
    assert training.state.ended.outcome == "stopped" and "force" in training.state.ended.reason


def test_that_a_resumed_run_is_waking_until_its_host_speaks(
    qtbot: QtBot, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    training = workspace.training
    training.start(Project("digits"), "process")
    assert waking(training)
    first = launchers["process"].handles[0]
    first.say(started(), Ended(time.time(), "stopped"))
    first.end()
    qtbot.waitUntil(lambda: not training.is_active)
    assert not waking(training) and training.run_folder is not None
    training.go_on(training.run_folder, Project("digits"), "process")
    assert waking(training) and training.state.ended is not None
    launchers["process"].handles[1].say(started())
    training.poll()
    assert not waking(training)


def test_that_a_resumption_whose_host_never_spoke_is_told(
    qtbot: QtBot, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    training = workspace.training
    problems: list[Problem] = []
    training.trouble.connect(problems.append)
    training.start(Project("digits"), "process")
    launchers["process"].handles[0].say(started(), Ended(time.time(), "stopped"))
    launchers["process"].handles[0].end()
    qtbot.waitUntil(lambda: not training.is_active)
    assert training.run_folder is not None
    training.go_on(training.run_folder, Project("digits"), "process")
    launchers["process"].handles[1].end(Problem("engine_broken"))
    qtbot.waitUntil(lambda: not training.is_active)
    assert [problem.code for problem in problems] == ["engine_broken"]


def test_that_only_an_engine_s_run_outlives_the_window(
    qtbot: QtBot, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    training = workspace.training
    assert not training.outlives_window
    for launcher in ("process", "thread"):
        training.start(Project("digits"), launcher)
        handle = launchers[launcher].handles[-1]
        assert training.outlives_window is (launcher == "process")
        handle.say(started(), Ended(time.time(), "finished"))
        handle.end()
        qtbot.waitUntil(lambda: not training.is_active)


def test_that_runs_that_cannot_be_written_are_trouble_in_place(workspace: Workspace) -> None:
    runs = workspace.folders.runs
    runs.parent.mkdir(parents=True, exist_ok=True)
    runs.write_text("a file where a folder should be")
    problems: list[Problem] = []
    workspace.training.trouble.connect(problems.append)
    workspace.training.start(Project("digits"), "process")
    assert [problem.code for problem in problems] == ["runs_folder_unwritable"]
    assert not workspace.training.is_active
