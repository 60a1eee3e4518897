"""The plots keep what matters of a curve in few points, draw only while they are seen, and export what they show."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QGraphicsView, QWidget
from pytestqt.qtbot import QtBot

from studio.core.quantities import size_text
from studio.core.series import Series
from studio.view.plots.curve import CurvePlot
from studio.view.plots.curves import Curve, CurveMemory, nearest_point
from studio.view.plots.decimate import MOST_POINTS, Decimator, Smoother, decimated
from studio.view.plots.export import csv_text
from studio.view.plots.graph import AxisSpec
from studio.view.plots.ranges import Reach, clock_text, round_down, round_up, round_up_bytes, ticks
from studio.view.plots.toolkit import log_ticks
from studio.view.theme import theme

pytestmark = pytest.mark.qt

MIB = 1024.0**2


def curve_of(values: list[float]) -> Series:
    return Series().extended(range(1, len(values) + 1), values)


def noisy(count: int) -> list[float]:
    return [2.0 * math.exp(-n / 9000) + 0.1 * math.sin(n * 1.7) for n in range(count)]


# Decimation


def test_that_a_long_curve_is_drawn_with_few_points_and_keeps_its_peaks() -> None:
    values = noisy(100_000)
    values[70_003], values[12_345] = 9.0, -9.0
    kept = Decimator()
    kept.extend(range(100_000), values)
    xs, ys = kept.points()
    assert MOST_POINTS / 4 <= len(xs) <= MOST_POINTS
    assert kept.count == 100_000
    assert (xs[ys.argmax()], ys.max()) == (70_003, 9.0)
    assert (xs[ys.argmin()], ys.min()) == (12_345, -9.0)
    assert (np.diff(xs) > 0).all()


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf]), max_size=1500),
    cuts=st.lists(st.integers(0, 1500), max_size=5),
)
def test_that_a_curve_looks_the_same_however_it_arrives(values: list[float], cuts: list[int]) -> None:
    whole, pieces = Decimator(), Decimator()
    whole.extend(range(len(values)), values)
    borders = [0, *sorted(min(cut, len(values)) for cut in cuts), len(values)]
    for begin, end in pairwise(borders):
        pieces.extend(range(begin, end), values[begin:end])
    for one, other in zip(whole.points(), pieces.points(), strict=True):
        assert np.array_equal(one, other)
    finite = [value for value in values if math.isfinite(value)]
    xs, ys = whole.points()
    assert len(xs) <= MOST_POINTS
    assert whole.odd_count == len(values) - len(finite)
    if finite:
        assert (ys.min(), ys.max()) == (min(finite), max(finite))


def test_that_a_stretch_of_a_curve_keeps_its_extremes_too() -> None:
    values = np.array(noisy(50_000))
    values[[100, 200]] = 5.0, math.nan
    xs, ys = decimated(np.arange(50_000.0), values)
    assert len(xs) <= MOST_POINTS
    assert ys.max() == 5.0
    assert np.isfinite(ys).all()


def test_that_smoothing_starts_at_the_first_value_and_passes_over_odd_ones() -> None:
    smooth = Smoother(0.9).smoothed([4.0, math.nan, 4.0, math.inf, 0.0])
    assert smooth[0] == pytest.approx(4.0)
    assert math.isnan(smooth[1])
    assert smooth[2] == pytest.approx(4.0)
    assert 2.0 < smooth[4] < 4.0


def test_that_only_new_points_are_taken_in_and_another_run_starts_anew() -> None:
    memory, series = CurveMemory(), curve_of([3.0, 2.0])
    memory.take(series, 0.0)
    memory.take(series.extended([3], [1.0]), 0.5)
    assert list(memory.points(None)[1]) == [3.0, 2.0, 1.0]
    assert list(memory.smooth_points(None)[1]) == pytest.approx(list(Smoother(0.5).smoothed([3.0, 2.0, 1.0])))
    resumed = series.cut_after(1).extended([2, 3, 4], [7.0, 8.0, 9.0])
    memory.take(resumed, 0.0)
    assert list(memory.points(None)[1]) == [3.0, 7.0, 8.0, 9.0]


def test_that_a_curve_that_ends_in_nan_can_go_on() -> None:
    memory, series = CurveMemory(), curve_of([3.0, math.nan])
    memory.take(series, 0.0)
    memory.take(series.extended([3], [2.0]), 0.0)
    assert list(memory.points(None)[0]) == [1.0, 3.0]
    assert memory.odd_count == 1


def test_that_the_nearest_point_is_found_at_both_ends_and_between() -> None:
    series = Series().extended([10, 20, 40], [1, 2, 3])
    assert [nearest_point(series, x) for x in (-5, 14, 16, 31, 99)] == [(10, 1), (10, 1), (20, 2), (40, 3), (40, 3)]
    assert nearest_point(Series(), 1.0) is None


# Ranges


@given(st.floats(1e-9, 1e12))
def test_that_round_ends_hold_the_value_without_much_waste(value: float) -> None:
    assert value * (1 - 1e-9) <= round_up(value) <= 1.7 * value
    assert 0.4 * value <= round_down(value) <= value * (1 + 1e-9)


def test_that_an_axis_stands_still_until_its_data_has_outgrown_it() -> None:
    reach = Reach()
    ends = [reach.cover(float(n)) for n in range(1, 1001)]
    assert len(set(ends)) < 40
    assert all(end >= n for n, end in enumerate(ends, 1))
    assert Reach().cover(930.0, 937.0) == 937.0
    assert reach.cover(10.0) == 10.0


def test_that_ticks_are_round_in_their_unit() -> None:
    assert ticks(0, 1, 5, "number") == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(0, 600 * MIB, 6, "bytes") == [n * 100 * MIB for n in range(7)]
    assert ticks(0, 1.5 * 1024 * MIB, 3, "bytes")[1] in (512 * MIB, 500 * MIB, 1024 * MIB)
    assert ticks(0, 600, 6, "seconds") == [0, 120, 240, 360, 480, 600]
    assert ticks(0, 2, 5, "whole") == [0, 1, 2]
    assert ticks(0, 10, 6, "whole") == [0, 2, 4, 6, 8, 10]
    assert ticks(0, 0, 5, "number") == []
    assert round_up_bytes(580 * MIB) == 600 * MIB


def test_that_a_log_axis_names_decades_first_and_more_where_there_is_room() -> None:
    assert [round(10**t, 3) for t in log_ticks(-2, 1, 5)] == [0.01, 0.1, 1, 10]
    assert 0.2 in [round(10**t, 3) for t in log_ticks(-1, 0, 8)]


def test_that_axis_times_are_short() -> None:
    assert [clock_text(s) for s in (0, 2.5, 45, 750, 3900)] == ["0:00", "0:02.5", "0:45", "12:30", "1:05:00"]


# The widget


PlotMaker = Callable[..., CurvePlot]


@pytest.fixture
def make_plot(qtbot: QtBot) -> PlotMaker:
    def make(**options: bool) -> CurvePlot:
        plot = CurvePlot(
            "Loss",
            [Curve("training", "Training", 0, is_smoothed=True), Curve("validation", "Validation", 1, "points")],
            AxisSpec("number", lambda value: f"{value:,.0f}", least=10.0),
            AxisSpec("number", lambda value: f"{value:.3g}"),
            help="Falls.",
            x_name="Step",
            marks_name="Epoch",
            can_log=True,
            **options,
        )
        qtbot.addWidget(plot)
        plot.resize(640, 260)
        return plot

    return make


def shown(qtbot: QtBot, plot: CurvePlot) -> CurvePlot:
    before = plot.drawn_count
    plot.show()
    qtbot.waitUntil(lambda: plot.drawn_count > before)
    return plot


def redrawn(qtbot: QtBot, plot: CurvePlot) -> None:
    before = plot.drawn_count
    qtbot.waitUntil(lambda: plot.drawn_count > before)


def test_that_a_hidden_plot_draws_nothing_and_catches_up_when_shown(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = make_plot()
    plot.show_series(training=curve_of([1.0, 2.0]))
    qtbot.wait(250)
    assert plot.drawn_count == 0
    assert not plot.findChildren(QGraphicsView)
    shown(qtbot, plot)
    assert plot.graph is not None
    assert list(plot.graph.drawn("training")[1]) == [1.0, 2.0]


def test_that_many_changes_become_few_drawings(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = shown(qtbot, make_plot())
    before, series = plot.drawn_count, Series()
    for n in range(200):
        series = series.extended([n], [float(n)])
        plot.show_series(training=series)
    redrawn(qtbot, plot)
    assert plot.drawn_count == before + 1
    assert plot.graph is not None and len(plot.graph.drawn("training")[0]) == 200


@pytest.mark.parametrize("values", [[], [0.5], [math.nan], [math.inf, 1.0, -math.inf, math.nan, 2.0], [0.0] * 3])
@pytest.mark.parametrize("is_log", [False, True])
def test_that_any_values_can_be_drawn(qtbot: QtBot, make_plot: PlotMaker, values: list[float], is_log: bool) -> None:
    plot = make_plot()
    plot.set_log(is_log)
    plot.set_smoothing(0.9)
    plot.show_series(training=curve_of(values), validation=curve_of(values[:1]))
    shown(qtbot, plot)
    plot.grab()
    odd = sum(not math.isfinite(v) for v in values) + sum(not math.isfinite(v) for v in values[:1])
    assert plot.note.isVisible() == bool(odd)
    assert not odd or str(odd) in plot.note.text()


def test_that_a_hundred_thousand_points_are_few_on_the_screen(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = make_plot()
    plot.show_series(training=curve_of(noisy(100_000)))
    shown(qtbot, plot)
    assert plot.graph is not None
    assert MOST_POINTS / 4 <= len(plot.graph.drawn("training")[0]) <= MOST_POINTS


def test_that_a_log_scale_leaves_out_what_has_no_logarithm(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = make_plot()
    plot.show_series(training=curve_of([100.0, 0.0, 1.0]))
    plot.set_log(True)
    shown(qtbot, plot)
    assert plot.graph is not None
    assert list(plot.graph.drawn("training")[1]) == pytest.approx([2.0, 0.0])


def test_that_people_who_cannot_see_the_curve_hear_its_newest_values(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = make_plot()
    plot.show_series(training=curve_of([1.0, 0.25]))
    shown(qtbot, plot)
    assert plot.accessibleDescription() == "Training: 0.25"
    assert plot.entries["training"].value.text() == "0.25"
    assert not plot.entries["validation"].isVisible()


def test_that_the_cursor_follows_the_keys_and_shows_values(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = make_plot(can_pick=True)
    plot.show_series(training=curve_of([3.0, 2.0, 1.0]), validation=Series().extended([2], [2.5]))
    graph = shown(qtbot, plot).graph
    assert graph is not None
    graph.widget.setFocus()
    plot.show_cursor(3.0)
    qtbot.keyClick(graph.widget, Qt.Key.Key_Left)
    assert "Step 2" in plot.cursor_text() and "Training: 2" in plot.cursor_text()
    assert "Validation: 2.5" in plot.cursor_text()
    with qtbot.waitSignal(plot.picked) as picked:
        qtbot.keyClick(graph.widget, Qt.Key.Key_Return)
    assert picked.args == [2.0]
    qtbot.keyClick(graph.widget, Qt.Key.Key_Escape)
    assert plot.cursor_text() == ""


def test_that_keys_zoom_in_with_full_detail_and_out_again(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = make_plot()
    plot.show_series(training=curve_of(noisy(20_000)))
    graph = shown(qtbot, plot).graph
    assert graph is not None
    plot.show_cursor(10_000.0)
    for _ in range(7):
        qtbot.keyClick(graph.widget, Qt.Key.Key_Plus)
    redrawn(qtbot, plot)
    xs = graph.drawn("training")[0]
    assert xs[0] > 9_000 and xs[-1] < 11_000
    assert 100 <= len(xs) <= MOST_POINTS
    assert list(np.diff(xs)) == [1.0] * (len(xs) - 1)
    qtbot.keyClick(graph.widget, Qt.Key.Key_Home)
    redrawn(qtbot, plot)
    assert graph.drawn("training")[0][-1] > 19_900


def test_that_the_wheel_scrolls_the_page_unless_the_plot_has_the_focus(qtbot: QtBot, make_plot: PlotMaker) -> None:
    graph = shown(qtbot, make_plot()).graph
    assert graph is not None
    graph.widget.clearFocus()
    place = QPointF(100, 100)
    event = QWheelEvent(
        place, place, QPointF(0, 0).toPoint(), QPointF(0, 120).toPoint(), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    graph.widget.wheelEvent(event)
    assert not event.isAccepted()


def test_that_light_and_dark_can_be_exchanged_while_it_is_shown(qtbot: QtBot, make_plot: PlotMaker) -> None:
    plot = make_plot()
    plot.show_series(training=curve_of([1.0, 2.0]))
    shown(qtbot, plot)
    grounds = []
    for mode in ("dark", "light"):
        theme().use(mode)
        redrawn(qtbot, plot)
        QApplication.processEvents()
        assert plot.graph is not None
        grounds.append(plot.graph.widget.grab().toImage().pixelColor(4, 130).name())
        assert grounds[-1] == theme().colour("surface").name()
    assert grounds[0] != grounds[1]


@pytest.fixture
def holder(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_that_names_of_curves_give_way_in_a_narrow_plot(qtbot: QtBot, holder: QWidget, make_plot: PlotMaker) -> None:
    plot = make_plot()
    plot.setParent(holder)
    plot.show_series(training=curve_of([1.0]), validation=curve_of([2.0]))
    holder.show()
    shown(qtbot, plot)
    assert plot.entries["training"].name.isVisible()
    plot.resize(plot.minimumSizeHint().width() + 4, 260)
    QApplication.processEvents()
    assert not plot.entries["training"].name.isVisible()
    assert plot.entries["training"].value.isVisible()


# Export


def test_that_an_exported_table_holds_every_value_of_every_curve(
    qtbot: QtBot, make_plot: PlotMaker, tmp_path: Path
) -> None:
    plot = shown(qtbot, make_plot())
    plot.show_series(training=curve_of([1 / 3, math.nan, 2.0]), validation=Series().extended([3], [0.5]))
    path = tmp_path / "loss.csv"
    plot.export(path)
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["Step", "Training", "Validation"], ["1", repr(1 / 3), ""], ["2", "nan", ""], ["3", "2", "0.5"]]
    assert str(path) in plot.note.text() and plot.note.isVisible()


def test_that_a_table_without_values_has_its_header() -> None:
    assert csv_text("Step", [("Loss", Series())]) == "Step,Loss\n"


def test_that_an_exported_picture_is_a_whole_png(qtbot: QtBot, make_plot: PlotMaker, tmp_path: Path) -> None:
    plot = make_plot()
    plot.show_series(training=curve_of([1.0, 2.0]))
    shown(qtbot, plot)
    plot.export(tmp_path / "loss.png")
    assert plot.graph is not None
    assert QImage(str(tmp_path / "loss.png")).width() > plot.graph.widget.width()
    assert [path.name for path in tmp_path.iterdir()] == ["loss.png"]


@pytest.mark.parametrize("name", ["loss.csv", "loss.png"])
def test_that_an_export_that_fails_says_which_file_and_what_to_do(
    qtbot: QtBot, make_plot: PlotMaker, tmp_path: Path, name: str
) -> None:
    plot = shown(qtbot, make_plot())
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    plot.export(blocker / name)
    assert str(blocker / name) in plot.note.text() and "another folder" in plot.note.text()
    assert plot.note.property("role") == "error"


def test_that_a_memory_axis_speaks_in_bytes(qtbot: QtBot) -> None:
    plot = CurvePlot(
        "Memory",
        [Curve("resident", "Resident", 0, "area")],
        AxisSpec("seconds", clock_text, least=10.0),
        AxisSpec("bytes", size_text, least=MIB),
        help="Bytes.",
        x_name="Time",
    )
    qtbot.addWidget(plot)
    plot.show_series(resident=Series().extended([1.0, 2.0], [512 * MIB, 600 * MIB]))
    shown(qtbot, plot)
    assert plot.latest_text() == "Resident: 600 MiB"
