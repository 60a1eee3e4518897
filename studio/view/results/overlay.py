"""The curves of the chosen runs over one another: validation accuracy and loss by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QVBoxLayout, QWidget

from studio.core.events import EpochEnded, Metrics
from studio.core.quantities import share_text
from studio.core.runstate import RunState
from studio.core.series import Series
from studio.core.text import tr
from studio.dataset.labels import shown
from studio.runs.catalogue import RunSummary
from studio.view.pieces import clear, framed, take_out, wrapped
from studio.view.plots.curve import CurvePlot
from studio.view.plots.curves import Curve
from studio.view.plots.graph import AxisSpec
from studio.view.plots.legend import Swatch
from studio.view.results.flow import FlowLayout
from studio.view.results.wording import date_text
from studio.view.theme import set_role

MOST_RUNS = 8  # as many colours can be told apart
_TRAINING, _VALIDATION = "training", "validation"


class RunCurves(QWidget):
    """Two plots side by side. One run is shown with its training curves; of several, only validation is compared."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[RunSummary, ...] = ()
        self.accuracy: CurvePlot | None = None
        self.loss: CurvePlot | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(6)
        self._legend_holder = QWidget()
        self._legend = FlowLayout(self._legend_holder, 14)
        self._note = wrapped("", "muted")
        self._stage = QSplitter(Qt.Orientation.Horizontal)
        self._stage.setChildrenCollapsible(False)
        column.addWidget(self._legend_holder)
        column.addWidget(self._note)
        column.addWidget(self._stage, 1000)
        column.addStretch(1)

    def show_runs(self, runs: Sequence[RunSummary], states: Mapping[str, RunState]) -> None:
        """Show these runs; those whose record is not read yet follow with the next call."""
        drawn = tuple(runs[:MOST_RUNS])
        if [run.path for run in drawn] != [run.path for run in self._runs]:
            self._runs = drawn
            self._rebuild()
        known = [states[run.path] for run in drawn if run.path in states]
        self._note.setText(self._sentence(len(runs), len(drawn) - len(known), known))
        self._note.setVisible(bool(self._note.text()))
        is_empty = len(known) == len(drawn) and not any(state.epochs for state in known)
        self._stage.setHidden(is_empty)
        self._legend_holder.setHidden(is_empty)
        if self.accuracy is None or self.loss is None:
            return
        accuracies: dict[str, Series] = {}
        losses: dict[str, Series] = {}
        for number, run in enumerate(drawn):
            epochs = states[run.path].epochs if run.path in states else ()
            for part in self._parts():
                accuracies[f"{part}{number}"] = _series(epochs, part, "accuracy")
                losses[f"{part}{number}"] = _series(epochs, part, "loss")
        self.accuracy.show_series(**accuracies)
        self.loss.show_series(**losses)

    @staticmethod
    def _sentence(chosen: int, missing: int, known: Sequence[RunState]) -> str:
        if chosen > MOST_RUNS:
            return tr("The first {most} of the {n} chosen runs are drawn.", most=MOST_RUNS, n=chosen)
        if missing:
            return tr("Reading the records of the runs…")
        if known and not any(state.epochs for state in known):
            if any(state.is_running for state in known):
                return tr("The curves begin with the end of the first epoch.")
            return tr("No epoch was finished, so there is nothing to draw.")
        return ""

    def _parts(self) -> tuple[str, ...]:
        return (_TRAINING, _VALIDATION) if len(self._runs) == 1 else (_VALIDATION,)

    def _curves(self) -> list[Curve]:
        if len(self._runs) == 1:
            return [
                Curve(f"{_TRAINING}0", tr("Training"), 0, "dashed"),
                Curve(f"{_VALIDATION}0", tr("Validation"), 1, "points"),
            ]
        return [
            Curve(f"{_VALIDATION}{number}", f"{shown(run.name)} {date_text(run.started)}", number, "points")
            for number, run in enumerate(self._runs)
        ]

    def _rebuild(self) -> None:
        for old in (self.accuracy, self.loss):
            if old is not None:
                take_out(old.parentWidget())
        clear(self._legend)
        self.accuracy = self.loss = None
        if not self._runs:
            return
        curves = self._curves()
        for curve in curves:
            self._legend.addWidget(_entry(curve))
        epochs = AxisSpec("whole", lambda value: f"{value:,.0f}", least=1.0)
        is_single = len(self._runs) == 1
        self.accuracy = CurvePlot(
            tr("Accuracy") if is_single else tr("Validation accuracy"), curves, epochs,
            AxisSpec("number", _share, most=1.0),
            help=tr("The share of pictures that were named right, by epoch. Higher is better."),
            x_name=tr("Epoch"), has_legend=False,
        )  # fmt: skip
        self.loss = CurvePlot(
            tr("Loss") if is_single else tr("Validation loss"), curves, epochs,
            AxisSpec("number", lambda value: f"{value:.3g}"),
            help=tr("How wrong the network is, by epoch. Lower is better."),
            x_name=tr("Epoch"), can_log=True, has_legend=False,
        )  # fmt: skip
        for plot in (self.accuracy, self.loss):
            self._stage.addWidget(framed(plot))
        self._stage.setSizes([1000, 1000])


def _share(value: float) -> str:
    """Whole per cent where it is one, as it is at the ticks of the axis."""
    return f"{value:.0%}" if abs(value * 100 - round(value * 100)) < 1e-9 else share_text(value)


def _series(epochs: Sequence[EpochEnded], part: str, measure: str) -> Series:
    """Epoch number against a measure; an epoch that was trained again after a resumption counts once."""
    series = Series()
    for ended in epochs:
        metrics: Metrics | None = ended.train if part == _TRAINING else ended.validation
        if metrics is not None and ended.epoch > (series.last_x or 0.0):
            series = series.extended([ended.epoch], [getattr(metrics, measure)])
    return series


def _entry(curve: Curve) -> QWidget:
    entry = QWidget()
    row = QHBoxLayout(entry)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    name = QLabel(curve.label)
    set_role(name, "muted")
    row.addWidget(Swatch(curve.colour, curve.style))
    row.addWidget(name)
    return entry
