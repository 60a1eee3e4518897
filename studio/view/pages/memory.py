"""The Memory page: where the memory of a run goes, over time and by what it is for."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from studio.core.check import check
from studio.core.events import Event, MemorySampled, Role
from studio.core.project import Project, ProjectUnreadable, load_project
from studio.core.quantities import duration_text, size_text
from studio.core.runstate import RunState
from studio.core.text import tr
from studio.memory.timeline import ROLES, role_label, timeline
from studio.runs.folder import project_file
from studio.view.memory.curves import RoleStack
from studio.view.memory.layers import LayerLegend
from studio.view.memory.moments import MomentsCard
from studio.view.memory.roles import RoleTable, forecast_by_role
from studio.view.memory.verdicts import ForecastCard, GrowthCard
from studio.view.pieces import Card, button, wrapped
from studio.view.plots.curve import CurvePlot
from studio.view.plots.curves import Curve, Style
from studio.view.plots.graph import AxisSpec
from studio.view.plots.ranges import clock_text
from studio.view.scroll import ColumnScroll
from studio.view.train.reflow import Reflow
from studio.view.workspace import Page, PageStatus, Workspace

_LEAST_SECONDS = 10.0
_LEAST_BYTES = 16 * 1024.0**2
HOST_LOOKS: dict[str, tuple[int, Style]] = {"native_live": (2, "area"), "resident": (0, "line")}
GPU_LOOKS: dict[str, tuple[int, Style]] = {
    "gpu_allocated": (0, "area"),
    "gpu_kept": (1, "area"),
    "gpu_card_used": (3, "dashed"),
}


class MemoryPage(Page):
    """Timelines of host and card, tensors by role, growth, forecast and the comparison of two moments."""

    id = "memory"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._stack = RoleStack()
        self._project: Project | None = None
        self._is_counting = False
        self.growth = GrowthCard()
        self.forecast = ForecastCard()
        self.moments = MomentsCard()
        self.roles = RoleTable()
        self.host_legend, self.gpu_legend = LayerLegend(HOST_LOOKS), LayerLegend(GPU_LOOKS)
        self._make_plots()
        self._build()
        training = workspace.training
        self._told_status = PageStatus.NOTHING
        training.changed.connect(self._on_run)
        training.arrived.connect(self._on_events)
        self.moments.changed.connect(self._show_pins)
        self.moments.snapshot_wanted.connect(self._count)
        for plot in (self.host, self.gpu, self.tensors, self.python):
            plot.picked.connect(self.moments.choose)
        self._show_run(training.state)

    # What is on the page

    def _make_plots(self) -> None:
        self.host = _time_plot(
            tr("This run's process"),
            [_curve("native_live", tr("In use by native code"), HOST_LOOKS),
             _curve("resident", tr("Resident"), HOST_LOOKS)],
            _bytes_axis(),
            tr("The memory of the process that trains, on this machine. Dashed lines are ends of epochs."),
        )  # fmt: skip
        self.python = _time_plot(
            tr("Python objects"),
            [Curve("blocks", tr("Python objects"), 4)],
            AxisSpec("whole", lambda value: f"{value:,.0f}", least=1000.0),
            tr("How many objects Python keeps. A count and not bytes, so it has its own axis; it should level off."),
        )
        # The reserved memory lies behind the allocated one: what stands out of it is what the allocator keeps.
        self.gpu = _time_plot(
            tr("Graphics card"),
            [_curve("gpu_kept", tr("Kept by the allocator"), GPU_LOOKS),
             _curve("gpu_allocated", tr("Tensors on the card"), GPU_LOOKS),
             _curve("gpu_card_used", tr("Used on the card by all programs"), GPU_LOOKS)],
            _bytes_axis(),
            tr("The memory of the graphics card, by this run and by all programs."),
            has_legend=False,
        )  # fmt: skip
        self.tensors = _time_plot(
            tr("Live tensors by role"),
            [Curve(role, role_label(role), ROLES.index(role), "area") for role in reversed(ROLES)],
            _bytes_axis(),
            tr("The memory of all live tensors, one role on the other. The table says what each role is."),
            has_legend=False,
        )

    def _build(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addWidget(wrapped(tr("Memory"), "title"))
        self.which = wrapped("", "muted")
        column.addWidget(self.which)
        column.addWidget(Reflow((self.growth, self.forecast), (2, 1)))
        column.addWidget(_plot_card(self.host, 190, self.host_legend))
        self.gpu_card = _plot_card(self.gpu, 170, self.gpu_legend)
        self.gpu_others = wrapped("", "muted")
        self.gpu_card.column.addWidget(self.gpu_others)
        column.addWidget(self.gpu_card)
        self.gpu_sentence = wrapped("", "muted")
        self.gpu_sentence.setObjectName("memory.gpu.none")
        column.addWidget(self.gpu_sentence)
        self.tensor_card = _plot_card(self.tensors, 170, self.roles)
        column.addWidget(self.tensor_card)
        column.addWidget(self.moments)
        column.addWidget(_plot_card(self.python, 110, None))
        column.addStretch(1)
        self.pages = QStackedWidget()
        self.pages.addWidget(self._empty_state())
        self.pages.addWidget(ColumnScroll(content))
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.pages)

    def _empty_state(self) -> QWidget:
        card = Card(margin_px=32)
        card.column.addWidget(wrapped(tr("No memory was recorded yet"), "title"))
        card.column.addWidget(wrapped(tr("While a run goes on, you will see here:")))
        for line in (
            tr("• how much memory the run takes, on this machine and on the graphics card, over time"),
            tr("• what it is for: weights, gradients, optimiser, activations, pictures"),
            tr("• whether anything grows without end, and how well the forecast met the truth"),
        ):
            card.column.addWidget(wrapped(line, "muted"))
        go = button(
            tr("Go to Train"), tr("The page where training is started."), "memory.empty.go",
            lambda: self.workspace.navigator.go("train"), "primary",
        )  # fmt: skip
        card.column.addWidget(go, 0, Qt.AlignmentFlag.AlignLeft)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(16, 16, 16, 16)
        column.addWidget(card)
        column.addStretch(1)
        return holder

    # The run

    def _on_run(self, old: RunState, new: RunState) -> None:
        if old.first_time != new.first_time:
            self._project, self._is_counting = None, False
            self.moments.clear()
        if self.isVisible():
            self._show_run(new)
        if self.status() is not self._told_status:
            self._told_status = self.status()
            self.status_changed.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_run(self.workspace.training.state)

    def _show_run(self, state: RunState) -> None:
        memory = state.memory
        self.pages.setCurrentIndex(0 if memory.latest is None else 1)
        self.moments.snapshot.setEnabled(state.is_running and not self._is_counting)
        if memory.latest is None:
            return
        started = state.started
        name = started.name if started else ""
        self.which.setText(
            tr("{name}, after {time}", name=name, time=duration_text(state.active_seconds)) if name else ""
        )
        self.which.setVisible(bool(name))
        marks = [(mark.seconds, str(mark.epoch)) for mark in state.marks]
        for plot in (self.host, self.gpu, self.tensors, self.python):
            plot.show_marks(marks)
        self._stack.take(memory.tensor_bytes)
        self.host.show_series(resident=memory.resident, native_live=memory.native_live)
        self.python.show_series(blocks=memory.python_blocks)
        self.tensors.show_series(**self._stack.tops)
        self.tensor_card.setVisible(bool(memory.tensors))
        self.roles.show_totals(memory.tensors, self._forecast())
        self._show_gpu(state)
        self._show_legends(state)
        self.moments.show_curves(memory)
        self.forecast.show_state(state)
        self.growth.show_state(state)

    def _show_gpu(self, state: RunState) -> None:
        memory, gpu = state.memory, state.memory.latest.gpu if state.memory.latest else None
        has_gpu = len(memory.gpu_allocated) > 0
        self.gpu_card.setVisible(has_gpu)
        self.gpu_sentence.setVisible(not has_gpu)
        if not has_gpu:
            self.gpu_sentence.setText(timeline(RunState(started=state.started, memory=memory)).gpu_sentence)
            return
        self.gpu.show_series(
            gpu_kept=memory.gpu_reserved, gpu_allocated=memory.gpu_allocated, gpu_card_used=memory.gpu_card_used
        )
        others = gpu.other_processes_bytes if gpu else None
        total = gpu.card_total_bytes if gpu else None
        told = [tr("The card has {size}.", size=size_text(total))] if total else []
        told += [tr("Other programs take {size} of it.", size=size_text(others))] if others is not None else []
        self.gpu_others.setText(" ".join(told))
        self.gpu_others.setVisible(bool(told))

    def _show_legends(self, state: RunState) -> None:
        memory = state.memory
        values: dict[str, float | None] = {
            "native_live": memory.native_live.last,
            "resident": memory.resident.last,
            "gpu_allocated": memory.gpu_allocated.last,
            "gpu_card_used": memory.gpu_card_used.last,
        }
        reserved, allocated = memory.gpu_reserved.last, memory.gpu_allocated.last
        if reserved is not None and allocated is not None:
            values["gpu_kept"] = max(0.0, reserved - allocated)
        known = {*self.host_legend.ids, *self.gpu_legend.ids}
        if {name for name, value in values.items() if value is not None} - known:
            layers = timeline(state)
            self.host_legend.show_layers(layers.host)
            self.gpu_legend.show_layers(layers.gpu)
        self.host_legend.show_values(values)
        self.gpu_legend.show_values(values)

    def _forecast(self) -> Mapping[Role, int]:
        """The forecast of the run's own project, by role."""
        training = self.workspace.training
        if self._project is None:
            self._project = training.project
        if self._project is None and training.run_folder is not None:
            try:
                self._project = load_project(project_file(training.run_folder))
            except ProjectUnreadable:
                self._project = Project()
        forecasts = check(self._project).forecast if self._project is not None else None
        return forecast_by_role(forecasts.training if forecasts else None)

    # Moments

    def _count(self) -> None:
        self._is_counting = True
        self.moments.snapshot.setEnabled(False)
        self.workspace.training.take_snapshot()

    def _on_events(self, events: list[Event]) -> None:
        """The census that was asked for becomes a moment of the comparison."""
        if not self._is_counting:
            return
        state = self.workspace.training.state
        for event in events:
            if isinstance(event, MemorySampled) and event.tensors and state.first_time is not None:
                self._is_counting = False
                self.moments.show_curves(state.memory)
                self.moments.choose(state.seconds_at(event.time))
                return

    def _show_pins(self) -> None:
        for plot in (self.host, self.gpu, self.tensors, self.python):
            plot.show_pins(self.moments.pins)

    # The page in the window

    def status(self) -> PageStatus:
        state = self.workspace.training.state
        if state.memory.latest is None:
            return PageStatus.NOTHING
        if self.growth.is_growing:
            return PageStatus.WARNING
        return PageStatus.BUSY if state.is_running else PageStatus.READY

    def status_text(self) -> str:
        if self.workspace.training.state.memory.latest is None:
            return tr("No memory was recorded yet.")
        return self.growth.sentence.text()


def _curve(name: str, title: str, looks: dict[str, tuple[int, Style]]) -> Curve:
    return Curve(name, title, *looks[name])


def _bytes_axis() -> AxisSpec:
    return AxisSpec("bytes", size_text, least=_LEAST_BYTES)


def _time_plot(title: str, curves: list[Curve], y: AxisSpec, teaches: str, *, has_legend: bool = True) -> CurvePlot:
    x = AxisSpec("seconds", clock_text, least=_LEAST_SECONDS)
    return CurvePlot(
        title,
        curves,
        x,
        y,
        help=teaches,
        x_name=tr("Time"),
        marks_name=tr("Epoch"),
        can_pick=True,
        has_legend=has_legend,
    )


def _plot_card(plot: CurvePlot, height_px: int, below: QWidget | None) -> Card:
    card = Card(margin_px=12)
    plot.setMinimumHeight(height_px)
    plot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    card.column.addWidget(plot)
    if below is not None:
        card.column.addWidget(below)
    return card
