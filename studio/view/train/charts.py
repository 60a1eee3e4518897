"""The right side of the Train page: the numbers of the moment, loss, accuracy, learning rate and waits."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from studio.core.events import EpochEnded
from studio.core.quantities import duration_text, share_text
from studio.core.runstate import RunState
from studio.core.series import Series
from studio.core.text import tr
from studio.view.pieces import framed
from studio.view.plots.curve import CurvePlot
from studio.view.plots.curves import Curve, text_of
from studio.view.plots.graph import AxisSpec
from studio.view.runwords import number_text
from studio.view.theme import set_role
from studio.view.train.reflow import Reflow
from studio.view.train.tile import Tile
from studio.view.train.waits import WaitsCard

_LEAST_STEPS = 50.0
# The slider's last position: about 1,000 steps are averaged then.
_MOST_SMOOTHING = 0.999
_SLIDER_STEPS = 20


def accuracy_text(share: float) -> str:
    """`60%` on an axis, `97.3%` for a value between."""
    percent = share * 100
    return f"{percent:.0f}%" if abs(percent - round(percent)) < 1e-6 else share_text(share)


def smoothing_weight(position: int) -> float:
    """The weight of the past at a slider position: equal steps average over equal factors of steps."""
    return 0.0 if position <= 0 else 1.0 - (1.0 - _MOST_SMOOTHING) ** (position / _SLIDER_STEPS)


def _steps_axis() -> AxisSpec:
    return AxisSpec("whole", lambda value: f"{value:,.0f}", least=_LEAST_STEPS)


class TrainCharts(QWidget):
    """Follows a run: `show_state(old, new)` after each batch of events."""

    def __init__(self) -> None:
        super().__init__()
        self._validation_loss, self._validation_accuracy = Series(), Series()
        self._epochs: tuple[EpochEnded, ...] = ()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._tiles())
        column.addLayout(self._smoothing_row())
        self.loss = self._loss_plot()
        self.accuracy = self._accuracy_plot()
        self.rate = self._rate_plot()
        for plot, stretch in ((self.loss, 5), (self.accuracy, 4)):
            column.addWidget(framed(plot), stretch)
        self.waits = WaitsCard()
        column.addWidget(Reflow((framed(self.rate), self.waits), (2, 1)), 3)

    def _tiles(self) -> Reflow:
        self.loss_tile = Tile(
            tr("Loss"),
            tr("How wrong the network is on training pictures, as the mean of the last epoch; lower is better."),
            "tile.loss",
        )
        self.accuracy_tile = Tile(
            tr("Validation accuracy"),
            tr("The share of right answers on pictures that it was not trained on. This is the one that counts."),
            "tile.accuracy",
        )
        self.speed_tile = Tile(
            tr("Images/s"),
            tr("Training pictures looked at each second; once a run is over, the mean of it."),
            "tile.speed",
        )
        self.time_tile = Tile(tr("Time"), tr("How long the run has worked, without its pauses."), "tile.time")
        return Reflow((self.loss_tile, self.accuracy_tile, self.speed_tile, self.time_tile), (4, 2))

    def _smoothing_row(self) -> QHBoxLayout:
        teaches = tr("Averages the training curves over recent steps; the values as they are stay visible behind.")
        name = QLabel(tr("Smoothing"))
        set_role(name, "muted")
        self.smoothing = QSlider(Qt.Orientation.Horizontal)
        self.smoothing.setRange(0, _SLIDER_STEPS)
        self.smoothing.setPageStep(4)
        self.smoothing.setFixedWidth(140)
        self.smoothing.setAccessibleName(tr("Smoothing"))
        self.smoothing.setToolTip(teaches)
        self.smoothing.setObjectName("train.smoothing")
        self.smoothing_value = QLabel("")
        set_role(self.smoothing_value, "muted")
        name.setBuddy(self.smoothing)
        name.setToolTip(teaches)
        self.smoothing.valueChanged.connect(self._smooth)
        line = QHBoxLayout()
        line.addStretch(1)
        for part in (name, self.smoothing, self.smoothing_value):
            line.addWidget(part)
        return line

    def _smooth(self, position: int) -> None:
        weight = smoothing_weight(position)
        self.loss.set_smoothing(weight)
        self.accuracy.set_smoothing(weight)
        steps = round(1 / (1 - weight))
        self.smoothing_value.setText(tr("over {n:,} steps", n=steps) if weight else tr("off"))

    def _loss_plot(self) -> CurvePlot:
        return CurvePlot(
            tr("Loss"),
            [
                Curve("training", tr("Training"), 0, is_smoothed=True),
                Curve("validation", tr("Validation"), 1, "points"),
            ],
            _steps_axis(),
            AxisSpec("number", number_text),
            help=tr(
                "Both curves should fall. When validation rises while training falls, the network learns its pictures "
                "by heart."
            ),
            x_name=tr("Step"),
            marks_name=tr("Epoch"),
            can_log=True,
        )

    def _accuracy_plot(self) -> CurvePlot:
        return CurvePlot(
            tr("Accuracy"),
            [
                Curve("training", tr("Training"), 0, is_smoothed=True),
                Curve("validation", tr("Validation"), 1, "points"),
            ],
            _steps_axis(),
            AxisSpec("number", accuracy_text, most=1.0),
            help=tr("The share of right answers: of each batch while training, of all validation pictures per epoch."),
            x_name=tr("Step"),
            marks_name=tr("Epoch"),
        )

    def _rate_plot(self) -> CurvePlot:
        return CurvePlot(
            tr("Learning rate"),
            [Curve("rate", tr("Learning rate"), 2)],
            _steps_axis(),
            AxisSpec("number", number_text),
            help=tr("How large each change of the weights is."),
            x_name=tr("Step"),
        )

    def show_state(self, state: RunState) -> None:
        """Show this run; plots take in what is new at their own pace."""
        if state.epochs is not self._epochs:
            self._take_epochs(state.epochs)
            marks = [(float(mark.step), str(mark.epoch)) for mark in state.marks]
            self.loss.show_marks(marks)
            self.accuracy.show_marks(marks)
        end = float(state.total_steps) or None
        for plot in (self.loss, self.accuracy, self.rate):
            plot.show_end(end)
        self.loss.show_series(training=state.losses, validation=self._validation_loss)
        self.accuracy.show_series(training=state.accuracies, validation=self._validation_accuracy)
        self.rate.show_series(rate=state.learning_rates)
        self.waits.show_waits(state.waits, state.started.device if state.started else "")
        self._show_tiles(state)

    def _take_epochs(self, epochs: tuple[EpochEnded, ...]) -> None:
        """Keep the validation's curves; a run that only went on adds to them."""
        is_more = self._epochs == epochs[: len(self._epochs)]
        if not is_more:
            self._validation_loss, self._validation_accuracy = Series(), Series()
        new = epochs[len(self._epochs) :] if is_more else epochs
        self._epochs = epochs
        measured = [(epoch.step, epoch.validation) for epoch in new if epoch.validation is not None]
        steps = [float(step) for step, _ in measured]
        self._validation_loss = self._validation_loss.extended(steps, [m.loss for _, m in measured])
        self._validation_accuracy = self._validation_accuracy.extended(steps, [m.accuracy for _, m in measured])

    def _show_tiles(self, state: RunState) -> None:
        loss = state.epoch_loss
        self.loss_tile.show_value("" if loss is None else text_of(loss, number_text), _loss_aside(state))
        self.accuracy_tile.show_value(*_accuracy_texts(self._validation_accuracy.last, state))
        device = state.started.device_name if state.started else ""
        self.speed_tile.show_value(f"{state.pace:,.0f}" if state.pace else "", device)
        self.time_tile.show_value(*_time_texts(state))


def _loss_aside(state: RunState) -> str:
    """Of what the number is, and beside it the same of the validation pictures."""
    if not state.epochs:
        return tr("newest step") if len(state.losses) else ""
    newest = state.epochs[-1]
    if newest.validation is None:
        return tr("mean of epoch {n}", n=newest.epoch)
    loss = text_of(newest.validation.loss, number_text)
    return tr("epoch {n}, validation {loss}", n=newest.epoch, loss=loss)


def _accuracy_texts(latest: float | None, state: RunState) -> tuple[str, str]:
    best = state.best_validation_accuracy
    if latest is None or best is None or not math.isfinite(latest):
        return "", tr("after the first epoch") if state.is_running else ""
    return share_text(latest), tr("best {accuracy}", accuracy=share_text(best))


def _time_texts(state: RunState) -> tuple[str, str]:
    if state.first_time is None:
        return "", ""
    left = state.seconds_left
    return duration_text(state.active_seconds), "" if left is None else tr("{time} left", time=duration_text(left))
