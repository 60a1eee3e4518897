"""What the Train page says of phases, progress, waits and devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from studio.core.events import Event, Progressed, Stepped
from studio.core.problem import Problem
from studio.core.runstate import RunState
from studio.view.devices import Device, chosen_device, devices_of
from studio.view.pages.train import TrainPage
from studio.view.train.charts import accuracy_text, smoothing_weight
from studio.view.train.devices import device_field
from studio.view.train.wording import progress_words, waits_advice
from studio.view.workspace import Workspace
from tests.view.fakes import FakeEngine, started

pytestmark = pytest.mark.qt

CUDA = {"device": "cuda:0", "name": "GeForce", "total_bytes": 64 * 1024**2}
CPU = {"device": "cpu", "name": "CPU (2 threads)", "total_bytes": 16 * 1024**3}


def words(state: RunState, **more: object) -> str:
    options = {"is_stopping": False, "quiet_seconds": None, **more}
    return progress_words(state, **options).text  # type: ignore[arg-type]


def after(*events: Event) -> RunState:
    state = RunState()
    for event in events:
        state = state.after(event)
    return state


def test_that_every_phase_has_words() -> None:
    begin = started(time=100.0)
    phases = [("prepare", "Preparing"), ("scan", "Looking for pictures, 3 of 9"), ("build", "Building the network")]
    phases += [("save", "Saving the model")]
    for phase, told in phases:
        assert words(after(begin, Progressed(101.0, phase, 3, 9 if phase == "scan" else None))) == told  # type: ignore[arg-type]
    assert words(RunState()) == "Waking the engine"
    measuring = after(begin, Progressed(101.0, "evaluate", 3, 9))
    assert words(measuring) == "Measuring on the validation pictures, 3 of 9, epoch 0 of 2"


def test_that_the_time_left_is_told_in_whole_seconds() -> None:
    steps = [Stepped(100.0 + n, n, 1, (1.0,), (0.5,), 0.1, 9.0) for n in range(1, 6)]
    state = after(started(time=100.0, train_count=80), *steps)
    assert words(state) == "Training, epoch 1 of 2, step 5 of 20, 12 s left"


@pytest.mark.parametrize(
    ("waits", "device", "told"),
    [
        ({}, "cpu", "Measured during"),
        ({"data": 0.5, "forward": 0.5}, "cpu", "50% of each step waits for pictures"),
        ({"transfer": 0.6, "forward": 0.4}, "cuda:0", "60% of each step moves pictures"),
        ({"optimiser": 0.45, "forward": 0.3, "backward": 0.25}, "cpu", "45% of each step changes"),
        ({"forward": 0.4, "backward": 0.5, "data": 0.1}, "cpu", "90% of each step computes, as it should. A GPU"),
        ({"forward": 0.4, "backward": 0.5, "data": 0.1}, "cuda:0", "90% of each step computes, as it should. The"),
    ],
)
def test_that_the_advice_names_what_brakes(waits: dict[str, float], device: str, told: str) -> None:
    assert waits_advice(waits, device).startswith(told)


def test_that_the_smoothing_slider_goes_from_off_to_a_thousand_steps() -> None:
    weights = [smoothing_weight(position) for position in range(21)]
    assert weights[0] == 0.0 and weights == sorted(weights)
    assert 1 / (1 - weights[-1]) == pytest.approx(1000)


def test_that_shares_on_an_axis_are_whole_where_they_are() -> None:
    assert [accuracy_text(share) for share in (0.6000000001, 0.973, 1.0)] == ["60%", "97.3%", "100%"]


def test_that_a_device_of_another_machine_is_kept_and_called_so() -> None:
    devices = devices_of({"items": [CPU, {"odd": 1}]})
    assert [device.id for device in devices] == ["cpu"]
    assert chosen_device("cuda:1", devices) is None
    choices = device_field(devices, "cuda:1").choices
    assert (choices[-1].value, choices[-1].label) == ("cuda:1", "cuda:1 (not on this machine)")
    both = devices_of({"items": [CPU, CUDA]})
    assert chosen_device("cuda", both) == chosen_device("auto", both) == Device("cuda:0", "GeForce", 64 * 1024**2)


def test_that_devices_come_from_the_engine_and_automatic_names_the_best(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine, tmp_path: Path
) -> None:
    engine.answers["devices"] = {"type": "devices", "items": [CPU, CUDA]}
    page = TrainPage(workspace)
    qtbot.addWidget(page)
    page.show()
    combo = page.recipe.form.editors["device"].input
    assert isinstance(combo, QComboBox)
    qtbot.waitUntil(lambda: combo.count() == 3)
    assert [combo.itemText(n) for n in range(3)] == ["Automatic (GeForce)", "CPU (2 threads)", "GeForce"]
    combo.setCurrentIndex(1)
    assert workspace.document.project.recipe.device == "cpu"


def test_that_an_engine_that_does_not_answer_is_asked_again_later(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine
) -> None:
    engine.answers["devices"] = Problem("engine_broken")
    page = TrainPage(workspace)
    qtbot.addWidget(page)
    page.show()
    qtbot.waitUntil(lambda: engine.questions.count(("devices",)) == 1)
    qtbot.wait(250)
    page.hide()
    page.show()
    assert engine.questions.count(("devices",)) == 2
