"""The Memory page shows where memory goes over time and by role, judges growth, and compares two moments."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.core.commands import TakeSnapshot, command_from_line
from studio.core.events import (
    Ended,
    EpochEnded,
    Event,
    GpuMemory,
    HostMemory,
    MemorySampled,
    Metrics,
    RoleTotal,
    Stepped,
)
from studio.core.frozen import FrozenMap
from studio.core.project import Data, Preprocessing, Project
from studio.core.runstate import MemoryCurves
from studio.core.series import Series
from studio.core.templates import default_network
from studio.memory.host import HostVerdict
from studio.runs.folder import commands_file
from studio.view.memory.curves import HighWater, RoleStack, figures_between
from studio.view.memory.moments import figure_text
from studio.view.memory.tables import SHARE_ROLE
from studio.view.pages.memory import MemoryPage
from studio.view.workspace import PageStatus, Workspace
from tests.view.fakes import FakeHandle, FakeLauncher, started

pytestmark = pytest.mark.qt

MIB = 1024**2
BEGIN = 1000.0

TOTALS = (
    RoleTotal("weights", 16, 1 * MIB),
    RoleTotal("gradients", 10, 1 * MIB),
    RoleTotal("optimiser", 20, 2 * MIB),
    RoleTotal("data", 2, 0),
    RoleTotal("activations", 22, 6 * MIB),
    RoleTotal("other", 3, 0),
)


def sample(
    seconds: float, resident_mib: float = 500, tensors: tuple[RoleTotal, ...] = (), gpu: GpuMemory | None = None
) -> MemorySampled:
    host = HostMemory(int(resident_mib * MIB), int(resident_mib * MIB / 4), 0, 400_000 + int(seconds), None, None)
    return MemorySampled(BEGIN + seconds, int(seconds * 10), 1, host, gpu, tensors)


def card(allocated_mib: int = 300) -> GpuMemory:
    return GpuMemory(allocated_mib * MIB, 400 * MIB, 350 * MIB, 3000 * MIB, 8000 * MIB, 2500 * MIB, 0.5)


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> MemoryPage:
    data = Data(str(tmp_path), classes=("cat", "dog"))
    workspace.document.blockSignals(True)  # no scan of the made-up folder
    workspace.document.open(Project("pets", data, Preprocessing(28, 28, "grey"), default_network()))
    workspace.document.blockSignals(False)
    made = MemoryPage(workspace)
    qtbot.addWidget(made)
    made.resize(1000, 640)
    made.show()
    return made


@pytest.fixture
def handle(page: MemoryPage, launchers: dict[str, FakeLauncher]) -> FakeHandle:
    """A run that has just begun."""
    page.workspace.training.start(page.workspace.document.project, "process")
    made = launchers["process"].handles[-1]
    hear(page, made, started(time=BEGIN, forecast_bytes=480 * MIB))
    return made


def hear(page: MemoryPage, handle: FakeHandle, *events: Event) -> None:
    handle.say(*events)
    page.workspace.training.poll()


def cells(page: MemoryPage, row: int) -> list[str]:
    table = page.roles
    return [item.text() if (item := table.item(row, column)) else "" for column in range(table.columnCount())]


def test_that_before_the_first_run_the_page_says_what_will_appear_and_leads_to_train(
    page: MemoryPage, qtbot: QtBot
) -> None:
    assert page.pages.currentIndex() == 0
    assert page.status() is PageStatus.NOTHING
    (go,) = [button for button in page.findChildren(QPushButton) if button.isVisible()]
    with qtbot.waitSignal(page.workspace.navigator.wanted) as asked:
        qtbot.mouseClick(go, Qt.MouseButton.LeftButton)
    assert asked.args == ["train", ""]


def test_that_the_host_is_drawn_and_its_layers_are_explained(
    page: MemoryPage, handle: FakeHandle, qtbot: QtBot
) -> None:
    hear(page, handle, *(sample(n, 500 + n) for n in range(5)))
    assert page.pages.currentIndex() == 1
    assert page.host_legend.ids == ("native_live", "resident")
    qtbot.waitUntil(lambda: page.host.accessibleDescription() == "In use by native code: 126 MiB; Resident: 504 MiB")
    assert page.host.graph is not None
    assert [value / MIB for value in page.host.graph.drawn("resident")[1]] == [500, 501, 502, 503, 504]
    assert page.python.latest_text() == "Python objects: 400,004"
    assert page.status() is PageStatus.BUSY


def test_that_without_a_card_one_plain_sentence_says_so(page: MemoryPage, handle: FakeHandle) -> None:
    hear(page, handle, sample(0))
    assert not page.gpu_card.isVisible()
    assert page.gpu_sentence.text() == "This run is on CPU, so there is no graphics memory to show."


def test_that_a_card_shows_what_is_kept_and_what_others_use(page: MemoryPage, handle: FakeHandle) -> None:
    hear(page, handle, sample(0, gpu=card()), sample(1, gpu=card(320)))
    assert page.gpu_card.isVisible() and not page.gpu_sentence.isVisible()
    assert page.gpu_legend.ids == ("gpu_allocated", "gpu_kept", "gpu_card_used")
    assert [value.text() for value in page.gpu_legend.values.values()] == ["320 MiB", "80.0 MiB", "2.9 GiB"]
    assert page.gpu_others.text() == "The card has 7.8 GiB. Other programs take 2.4 GiB of it."
    assert page.forecast.sentence.text() == "Forecast 480 MiB, peak so far 320 MiB."


def test_that_tensors_stand_by_role_with_share_forecast_and_reason(page: MemoryPage, handle: FakeHandle) -> None:
    hear(page, handle, sample(0))
    assert not page.tensor_card.isVisible()
    hear(page, handle, sample(1, tensors=TOTALS), sample(2))
    assert page.tensor_card.isVisible()
    assert page.roles.rowCount() == 6
    name, count, size, share, forecast, why = cells(page, 4)
    assert (name, count, size, share) == ("Activations", "22", "6.0 MiB", "60.0%")
    assert "MiB" in forecast and why.startswith("The blocks' outputs")
    item = page.roles.item(4, 3)
    assert item is not None and item.data(SHARE_ROLE) == pytest.approx(0.6)
    assert cells(page, 5)[4] == "–"


def test_that_epochs_are_marked_in_time(page: MemoryPage, handle: FakeHandle, qtbot: QtBot) -> None:
    ended = EpochEnded(BEGIN + 4, 1, 10, Metrics(0.1, 0.9, 80), None, 4.0)
    hear(page, handle, sample(0), ended, sample(8))
    qtbot.waitUntil(lambda: page.host.graph is not None and page.host.graph.marks == ((4.0, "1"),))


# Verdicts


def train(page: MemoryPage, handle: FakeHandle, grows_mib: float) -> None:
    """Two minutes of training in which every second adds this much."""
    events: list[Event] = []
    for second in range(120):
        now = BEGIN + second
        events.append(Stepped(now, second + 1, 1, (0.5,), (0.5,), 0.1, 10.0, FrozenMap()))
        events.append(sample(second, 500 + grows_mib * second))
    handle.say(*events)
    for _ in range(5):
        page.workspace.training.poll()


def test_that_a_level_run_is_called_level(page: MemoryPage, handle: FakeHandle) -> None:
    assert page.growth.sentence.text().startswith("Too few samples")
    train(page, handle, 0.0)
    page.growth.judge(page.workspace.training.state)
    assert page.growth.sentence.text() == "Memory is level: nothing grows from step to step."
    assert page.growth.property("role") == "card-good"
    assert not page.growth.rate.isVisible()


def test_that_growth_is_told_with_its_pace_but_without_an_accused(page: MemoryPage, handle: FakeHandle) -> None:
    train(page, handle, 2.0)
    page.growth.judge(page.workspace.training.state)
    assert page.growth.is_growing
    assert "not attributed" in page.growth.sentence.text()
    assert page.growth.rate.isVisible() and "a step" in page.growth.rate.text()
    assert page.status() is PageStatus.WARNING
    assert page.status_text() == page.growth.sentence.text()


def test_that_a_verdict_is_not_made_anew_for_every_sample(
    page: MemoryPage, handle: FakeHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []

    def count(state: object) -> HostVerdict:
        judged.append(1)
        return HostVerdict("level", "level")

    monkeypatch.setattr("studio.view.memory.verdicts.host_verdict", count)
    for second in range(20):
        hear(page, handle, sample(second))
    assert len(judged) <= 1
    hear(page, handle, Ended(BEGIN + 21, "finished"))
    assert 1 <= len(judged) <= 2


def test_that_forecast_and_measurement_stand_side_by_side_after_the_run(page: MemoryPage, handle: FakeHandle) -> None:
    hear(page, handle, sample(0, 450), sample(1, 430))
    assert page.forecast.sentence.text() == "Forecast 480 MiB, peak so far 450 MiB."
    hear(page, handle, Ended(BEGIN + 2, "finished", peak_bytes=500 * MIB, forecast_bytes=480 * MIB))
    assert "measured 500 MiB: within 4%" in page.forecast.sentence.text()


# Moments


def test_that_two_clicks_into_a_timeline_compare_two_moments(
    page: MemoryPage, handle: FakeHandle, qtbot: QtBot
) -> None:
    hear(page, handle, *(sample(n, 500 + 10 * n) for n in range(11)))
    qtbot.waitUntil(lambda: page.host.drawn_count > 0 and page.host.graph is not None)
    graph = page.host.graph
    assert graph is not None
    for seconds in (2.0, 8.0):
        place = QPoint(round(graph.place_of(seconds)), graph.widget.height() // 2)
        assert graph.x_at(QPointF(place)) == pytest.approx(seconds, abs=0.1)
        qtbot.mouseClick(graph.widget.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [name for _, name in page.moments.pins] == ["A", "B"]
    table = page.moments.table
    assert table.isVisible()
    row = [item.text() if (item := table.item(0, column)) else "" for column in range(4)]
    assert row == ["Resident", "520 MiB", "580 MiB", "+60.0 MiB"]
    qtbot.mouseClick(page.moments.forget, Qt.MouseButton.LeftButton)
    assert page.moments.pins == [] and not table.isVisible()


def test_that_start_and_now_can_be_compared_without_a_mouse(page: MemoryPage, handle: FakeHandle, qtbot: QtBot) -> None:
    hear(page, handle, sample(0, 500), sample(5, 400))
    page.moments.ends.setFocus()
    qtbot.keyClick(page.moments.ends, Qt.Key.Key_Space)
    item = page.moments.table.item(0, 3)
    assert item is not None and item.text() == "-100 MiB"


def test_that_a_snapshot_is_asked_of_the_run_and_becomes_a_moment(
    page: MemoryPage, handle: FakeHandle, qtbot: QtBot
) -> None:
    hear(page, handle, sample(0))
    qtbot.mouseClick(page.moments.snapshot, Qt.MouseButton.LeftButton)
    lines = commands_file(handle.run_folder).read_text().splitlines()
    assert isinstance(command_from_line(lines[-1]), TakeSnapshot)
    assert not page.moments.snapshot.isEnabled()
    hear(page, handle, sample(3), sample(4, tensors=TOTALS), sample(5, tensors=TOTALS))
    assert page.moments.pins == [(4.0, "A")]
    assert page.moments.snapshot.isEnabled()


def test_that_a_run_that_ends_answers_no_snapshot_any_more(page: MemoryPage, handle: FakeHandle, qtbot: QtBot) -> None:
    hear(page, handle, sample(0))
    qtbot.mouseClick(page.moments.snapshot, Qt.MouseButton.LeftButton)
    hear(page, handle, Ended(BEGIN + 1, "finished"))
    handle.end()
    page.workspace.training.poll()
    assert not page.moments.snapshot.isEnabled()
    page.workspace.training.start(page.workspace.document.project, "process")
    again = page.workspace.training.run_folder
    assert again is not None
    hear(page, FakeHandle(again), started(time=BEGIN), sample(0), sample(1, tensors=TOTALS))
    assert page.moments.snapshot.isEnabled()
    assert page.moments.pins == []


def test_that_a_hidden_page_catches_up_when_it_is_shown(page: MemoryPage, handle: FakeHandle) -> None:
    page.hide()
    hear(page, handle, sample(0, tensors=TOTALS))
    assert page.roles.rowCount() == 0
    page.show()
    assert page.roles.rowCount() == 6


def test_that_every_button_has_a_name_and_teaches(page: MemoryPage, handle: FakeHandle) -> None:
    buttons = page.findChildren(QPushButton)
    assert len(buttons) == 4
    assert all(button.accessibleName() and button.toolTip() for button in buttons)


# Values


def test_that_roles_lie_on_one_another_and_only_new_points_are_added() -> None:
    stack = RoleStack()
    weights, activations = Series().extended([1], [2.0]), Series().extended([1], [5.0])
    stack.take(FrozenMap(weights=weights, activations=activations))
    assert list(stack.tops["weights"]) == [(1, 2.0)] and list(stack.tops["other"]) == [(1, 7.0)]
    stack.take(FrozenMap(weights=weights.extended([2], [3.0]), activations=activations.extended([2], [1.0])))
    assert list(stack.tops["activations"]) == [(1, 7.0), (2, 4.0)]
    stack.take(FrozenMap())
    assert not len(stack.tops["weights"])


def test_that_the_high_water_mark_never_falls_within_a_run() -> None:
    mark, series = HighWater(), Series().extended([1, 2], [5.0, 3.0])
    assert mark.take(Series()) is None
    assert mark.take(series) == 5.0
    assert mark.take(series.extended([3], [9.0])) == 9.0
    assert mark.take(Series().extended([1], [1.0])) == 1.0


def test_that_only_what_was_measured_is_compared() -> None:
    curves = MemoryCurves(
        resident=Series().extended([0, 10], [100.0, 300.0]),
        python_blocks=Series().extended([0, 10], [5_000.0, 4_000.0]),
    )
    figures = figures_between(curves, 1.0, 9.0)
    assert [figure.name for figure in figures] == ["Resident", "Python objects"]
    assert [figure_text(f.difference, f, is_signed=True) for f in figures] == ["+200 B", "-1,000"]
