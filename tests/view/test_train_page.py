"""The Train page says what would be trained, starts and steers runs, follows them, and says how they ended."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from studio.core.commands import Pause, Resume, SaveCheckpoint, TakeSnapshot
from studio.core.events import Event, Failed, Paused, Progressed
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project
from studio.runs.folder import model_folder
from studio.view.devices import devices_of
from studio.view.pages.train import TrainPage
from studio.view.train.wording import plan
from studio.view.workspace import PageStatus, Workspace
from tests.view.fakes import FakeHandle, FakeLauncher, started
from tests.view.train_page import ended, epoch_ended, hear, run_of, sent, stepped, train_page

pytestmark = pytest.mark.qt

CUDA = {"device": "cuda:0", "name": "GeForce", "total_bytes": 64 * 1024**2}
CPU = {"device": "cpu", "name": "CPU (2 threads)", "total_bytes": 16 * 1024**3}


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> TrainPage:
    return train_page(qtbot, workspace, tmp_path)


# Before a run


def test_that_without_pictures_the_page_says_so_and_leads_to_the_data_page(qtbot: QtBot, workspace: Workspace) -> None:
    page = TrainPage(workspace)
    qtbot.addWidget(page)
    page.show()
    assert not page.controls.start.isEnabled()
    assert "Data page" in page.controls.plan_costs.text()
    assert not page.problems.isVisible()
    assert page.status() is PageStatus.NOTHING
    with qtbot.waitSignal(workspace.navigator.wanted) as asked:
        qtbot.mouseClick(page.empty_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["data", ""]


def test_that_one_sentence_says_what_will_be_trained(page: TrainPage) -> None:
    assert "2 classes" in page.controls.plan_what.text()
    costs = page.controls.plan_costs.text()
    assert "10 epochs" in costs and "weights" in costs and "MiB of memory" in costs
    assert page.status() is PageStatus.READY
    told = plan(page.workspace.document.project, page.workspace.document.report, 1600, 400)
    assert told is not None and "1,600 pictures" in told.what and "400 others" in told.what


def test_that_a_problem_stands_in_the_way_until_its_fix_is_clicked(page: TrainPage, qtbot: QtBot) -> None:
    document = page.workspace.document
    network = document.project.network
    document.edit("break", lambda p: replace(p, network=replace(network, blocks=network.blocks[:-1])))
    assert page.problems.problems[0].code == "network.no_head"
    assert not page.controls.start.isEnabled() and "below" in page.controls.plan_costs.text()
    fixes = page.problems.findChildren(QPushButton)
    qtbot.mouseClick(fixes[0], Qt.MouseButton.LeftButton)
    assert page.problems.problems == ()
    assert page.controls.start.isEnabled()
    assert document.undo_label


def test_that_the_recipe_is_edited_through_the_document(page: TrainPage, qtbot: QtBot) -> None:
    document = page.workspace.document
    epochs = page.recipe.form.editors["epochs"].input
    assert isinstance(epochs, QSpinBox)
    epochs.setFocus()
    epochs.selectAll()
    qtbot.keyClicks(epochs, "7")
    qtbot.keyClick(epochs, Qt.Key.Key_Return)
    assert document.project.recipe.epochs == 7
    assert document.undo_label == "Change Epochs"
    document.undo()
    assert epochs.value() == 10


def test_that_the_host_of_runs_is_a_setting(page: TrainPage, launchers: dict[str, FakeLauncher]) -> None:
    runs_in = page.recipe.form.editors["launcher"].input
    assert isinstance(runs_in, QComboBox)
    runs_in.setCurrentIndex(runs_in.findData("thread"))
    assert page.workspace.settings.value.launcher == "thread"
    page.start()
    assert len(launchers["thread"].handles) == 1 and not launchers["process"].handles


def test_that_a_forecast_beyond_the_device_is_shown_before_the_run(
    page: TrainPage,
) -> None:
    page.recipe.devices = devices_of({"items": [{**CUDA, "total_bytes": 8 * 1024**2}]})
    page.recipe.devices_changed.emit()
    (problem,) = page.problems.problems
    assert (problem.code, problem.facts["device"]) == ("network.memory", "GeForce")
    assert page.controls.start.isEnabled()
    page.workspace.document.apply_fix(problem.fixes[0])
    assert page.problems.problems == ()


# A run


def test_that_a_click_starts_a_run_of_the_open_project(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    assert page.right.currentIndex() == 0
    qtbot.mouseClick(page.controls.start, Qt.MouseButton.LeftButton)
    assert len(launchers["process"].handles) == 1
    assert page.workspace.training.project is page.workspace.document.project
    assert page.right.currentIndex() == 1
    assert not page.controls.start.isVisible() and page.controls.stop.isVisible()
    assert page.status() is PageStatus.BUSY
    assert "engine" in page.controls.progress_text.text()


def test_that_the_page_follows_the_run_in_words_numbers_and_curves(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    handle = run_of(page, launchers)
    hear(page, handle, started(), Progressed(time.time(), "inspect", 1200, 2000))
    assert page.controls.progress_text.text() == "Looking at the pictures, 1,200 of 2,000"
    assert page.controls.bar.value() == 600
    hear(page, handle, *(stepped(n) for n in range(1, 11)), epoch_ended(), stepped(11, 2, 0.25))
    assert page.controls.progress_text.text().startswith("Training, epoch 2 of 2, step 11 of 20")
    assert page.charts.loss_tile.value.text() == "0.4"
    assert page.charts.loss_tile.aside.text() == "epoch 1, validation 0.3"
    assert page.charts.accuracy_tile.value.text() == "90.0%"
    assert page.charts.speed_tile.value.text() == "123"
    assert "60%" in page.charts.waits.advice.text()
    qtbot.waitUntil(lambda: page.charts.loss.drawn_count > 0 and page.charts.accuracy.drawn_count > 0)
    qtbot.waitUntil(lambda: page.charts.loss.accessibleDescription() == "Training: 0.25; Validation: 0.3")
    graph = page.charts.accuracy.graph
    assert graph is not None
    assert [list(column) for column in graph.drawn("validation")] == [[10.0], [0.9]]


def test_that_a_run_that_is_over_gives_way_to_the_next_one(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    first = run_of(page, launchers)
    hear(page, first, started(), *(stepped(n) for n in range(1, 11)), epoch_ended(), ended())
    first.end()
    page.workspace.training.poll()
    second = run_of(page, launchers)
    assert len(launchers["process"].handles) == 2
    hear(page, second, started(), stepped(1, 1, 2.0))
    qtbot.waitUntil(lambda: page.charts.loss.latest_text() == "Training: 2")
    assert not page.outcome.isVisible()


def test_that_pause_and_resume_are_sent_to_the_run(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    handle = run_of(page, launchers)
    hear(page, handle, started())
    assert not page.controls.pause.isEnabled()
    hear(page, handle, stepped(1))
    qtbot.mouseClick(page.controls.pause, Qt.MouseButton.LeftButton)
    hear(page, handle, Paused(time.time(), 1))
    assert page.controls.pause.text() == "Resume"
    assert page.controls.progress_text.text().startswith("Paused.")
    qtbot.mouseClick(page.controls.pause, Qt.MouseButton.LeftButton)
    assert [type(command) for command in sent(page)] == [Pause, Resume]


def test_that_stop_says_stopping_until_the_run_is_gone(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    handle = run_of(page, launchers)
    handle.ends_when_stopped = False
    hear(page, handle, started(), stepped(1))
    qtbot.mouseClick(page.controls.stop, Qt.MouseButton.LeftButton)
    assert handle.stops == 1
    assert page.controls.progress_text.text() == "Stopping…"
    assert not page.controls.stop.isEnabled() and not page.controls.pause.isEnabled()
    hear(page, handle, ended("stopped"))
    handle.end()
    page.workspace.training.poll()
    assert page.outcome.title.text() == "Stopped by you"
    assert page.controls.start.isVisible()


def test_that_changes_during_a_run_are_said_to_apply_to_the_next_one(
    page: TrainPage, launchers: dict[str, FakeLauncher]
) -> None:
    assert not page.recipe.note.isVisible()
    handle = run_of(page, launchers)
    hear(page, handle, started(), stepped(1))
    assert page.recipe.note.text() == "Changes apply to the next run."
    page.workspace.document.edit("x", lambda p: replace(p, recipe=replace(p.recipe, epochs=3)))
    assert page.recipe.note.text().startswith("Changed.")
    hear(page, handle, ended())
    handle.end()
    page.workspace.training.poll()
    assert not page.recipe.note.isVisible()


def test_that_the_run_that_goes_on_is_what_the_plan_tells_of(
    page: TrainPage, launchers: dict[str, FakeLauncher]
) -> None:
    handle = run_of(page, launchers)
    hear(page, handle, started(train_count=0, validation_count=0))
    assert page.controls.plan_what.text() == "SimpleCNN learns 2 classes."
    page.workspace.document.open(Project())
    hear(page, handle, started(train_count=81, validation_count=19))
    assert "81" in page.controls.plan_what.text() and "10 epochs" in page.controls.plan_costs.text()
    finish(page, handle, ended())
    assert "Choose a folder" in page.controls.plan_costs.text()


def test_that_a_run_that_falls_silent_is_said_to_be_quiet(
    page: TrainPage, launchers: dict[str, FakeLauncher], monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = run_of(page, launchers)
    hear(page, handle, started(), stepped(1))
    later = time.time() + 60
    monkeypatch.setattr(time, "time", lambda: later)
    page.controls.show_state(page.workspace.training.state)
    assert page.controls.progress_text.text().startswith("Nothing heard for 1 min 00 s")


# The end of a run


def finish(page: TrainPage, handle: FakeHandle, *events: Event) -> None:
    hear(page, handle, *events)
    handle.end()
    page.workspace.training.poll()


def with_model(handle: FakeHandle) -> FakeHandle:
    model_folder(handle.run_folder).mkdir()
    (model_folder(handle.run_folder) / "weights.safetensors").touch()
    return handle


def test_that_a_finished_run_shows_what_it_reached_and_leads_on(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    handle = with_model(run_of(page, launchers))
    finish(page, handle, started(), *(stepped(n) for n in range(1, 11)), epoch_ended(), ended())
    assert page.outcome.title.text() == "Finished: 90.0% validation accuracy"
    assert str(model_folder(handle.run_folder)) in page.outcome.place.text()
    assert page.outcome.property("role") == "card-good"
    assert page.status() is PageStatus.READY
    assert not page.outcome.resume.isVisible()
    for button, target in ((page.outcome.results, ""), (page.outcome.classify, "classify")):
        with qtbot.waitSignal(page.workspace.navigator.wanted) as asked:
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert asked.args == ["results", target]


@pytest.mark.parametrize("outcome", ["stopped", "died"])
def test_that_an_interrupted_run_can_be_resumed(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot, outcome: str
) -> None:
    handle = run_of(page, launchers)
    (handle.run_folder / "checkpoints" / "step-1").mkdir()
    finish(page, handle, started(), stepped(1), ended(outcome))
    qtbot.mouseClick(page.outcome.resume, Qt.MouseButton.LeftButton)
    again = launchers["process"].handles[-1]
    assert again.resume and again.run_folder == handle.run_folder
    assert not page.outcome.isVisible() and page.controls.stop.isVisible()


def test_that_a_run_without_a_checkpoint_offers_no_resumption(
    page: TrainPage, launchers: dict[str, FakeLauncher]
) -> None:
    finish(page, run_of(page, launchers), started(), ended("stopped"))
    assert page.outcome.isVisible() and not page.outcome.resume.isVisible()


def test_that_a_failed_run_shows_the_title_of_its_hint(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    message = "CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 7.79 GiB"
    failed = Failed(time.time(), "OutOfMemoryError", message, f"torch.OutOfMemoryError: {message}")
    finish(page, run_of(page, launchers), started(), stepped(1), failed, ended("failed"))
    assert page.status() is PageStatus.ERROR
    assert page.outcome.property("role") == "card-error"
    assert "memory" in page.outcome.facts.text() and "512.00 MiB" not in page.outcome.facts.text()
    with qtbot.waitSignal(page.workspace.navigator.hints_wanted):
        qtbot.mouseClick(page.outcome.hint, Qt.MouseButton.LeftButton)


def test_that_an_unknown_failure_is_shown_in_its_own_words(page: TrainPage, launchers: dict[str, FakeLauncher]) -> None:
    failed = Failed(time.time(), "OddError", "the flux is out of phase", "")
    finish(page, run_of(page, launchers), started(), failed, ended("failed"))
    assert page.outcome.facts.text() == "OddError: the flux is out of phase"
    assert not page.outcome.hint.isVisible()


def test_that_a_host_that_cannot_start_is_told_on_the_page(page: TrainPage, launchers: dict[str, FakeLauncher]) -> None:
    handle = run_of(page, launchers)
    handle.end(Problem("runs_folder_unwritable", facts=FrozenMap(folder="/runs", reason="disk full")))
    page.workspace.training.poll()
    assert [problem.code for problem in page.problems.problems] == ["runs_folder_unwritable"]
    assert page.controls.start.isEnabled()
    # Said once, where it can be mended: a run that never began has no outcome of its own.
    assert not page.outcome.isVisible()
    page.start()
    assert page.problems.problems == ()


# As a part of the window


def test_that_its_actions_start_steer_and_stop_a_run(page: TrainPage, launchers: dict[str, FakeLauncher]) -> None:
    actions = page.workspace.actions
    actions.add(page.actions_of_page())
    assert [action.shortcut for action in actions] == ["F5", "Ctrl+P", "Ctrl+.", "", ""]
    assert [action.id for action in actions if action.enabled()] == ["run.start"]
    actions.trigger("run.start")
    actions.trigger("run.start")
    assert len(launchers["process"].handles) == 1
    hear(page, launchers["process"].handles[0], started(), stepped(1))
    for name in ("run.checkpoint", "memory.snapshot", "run.pause"):
        actions.trigger(name)
    assert [type(command) for command in sent(page)] == [SaveCheckpoint, TakeSnapshot, Pause]
    assert actions["run.pause"].text() == "Pause"
    actions.trigger("run.stop")
    assert launchers["process"].handles[0].stops == 1
    assert not actions["run.stop"].enabled()


def test_that_a_hidden_page_catches_up_when_it_is_shown(
    page: TrainPage, launchers: dict[str, FakeLauncher], qtbot: QtBot
) -> None:
    handle = run_of(page, launchers)
    page.hide()
    hear(page, handle, started(), stepped(1, 1, 1.5))
    assert page.charts.loss_tile.value.text() == "–"
    assert page.status() is PageStatus.BUSY
    page.show()
    assert page.charts.loss_tile.value.text() == "1.5"


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_that_nothing_is_cut_off_at_the_smallest_window(
    page: TrainPage, scale: float, qapp: QApplication, qtbot: QtBot
) -> None:
    font = qapp.font()
    try:
        larger = qapp.font()
        larger.setPointSizeF(font.pointSizeF() * scale)
        qapp.setFont(larger)
        assert page.minimumSizeHint().width() <= 1000
        buttons = [button for button in page.findChildren(QPushButton) if button.isVisible()]
        assert len(buttons) == 2
        qtbot.waitUntil(lambda: all(b.width() >= b.minimumSizeHint().width() for b in buttons))
    finally:
        qapp.setFont(font)


def test_that_every_control_has_a_name_and_teaches(page: TrainPage) -> None:
    controls: list[QWidget] = [*page.findChildren(QPushButton), *page.findChildren(QComboBox)]
    controls += [*page.findChildren(QSpinBox), page.charts.smoothing]
    nameless = [control.objectName() for control in controls if not control.accessibleName()]
    silent = [control.objectName() for control in controls if not control.toolTip()]
    assert not nameless and not silent
