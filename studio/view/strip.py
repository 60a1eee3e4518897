"""The strip at the bottom, always visible: what runs, how well, how fast, the machine's memory, and the hints."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from studio.core.quantities import size_text
from studio.core.text import tr, trn
from studio.view.badges import StatusBadge
from studio.view.elided import ElidedLabel
from studio.view.icons import icon
from studio.view.machine import Usage
from studio.view.runwords import number_text, pictures_sentence, run_sentence, run_share, run_status
from studio.view.sparkline import Sparkline
from studio.view.theme import set_role, theme
from studio.view.workspace import PageStatus, Workspace

_REFRESH_MS = 100
_CLOCK_MS = 1000
_BAR_STEPS = 1000


class Strip(QFrame):
    """`hints_wanted()` follows a click on the hint badge, `run_wanted()` a click on the sentence about the run."""

    hints_wanted = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._training, self._pictures = workspace.training, workspace.pictures
        self.setProperty("role", "strip")
        self.setObjectName("strip")
        self.setAccessibleName(tr("State"))
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 10, 6)
        row.setSpacing(10)
        self.badge = StatusBadge()
        self.sentence = ElidedLabel()
        self.sentence.setObjectName("strip.sentence")
        self.bar = self._make_bar()
        self.loss = self._number(
            "strip.loss",
            tr("The training loss: the mean of the last epoch, in the first one that of the newest step."),
        )
        self.speed = self._number("strip.speed", tr("How many pictures are trained on in a second."))
        self.host = Gauge("strip.host", tr("Memory"), 0)
        self.card = Gauge("strip.card", tr("GPU"), 1, tr("No GPU"))
        self.hints = self._make_hint_button()
        self._by_need: list[QWidget] = [self.bar, self.card.words, self.host.words, self.speed, self.loss]
        self._wanted: dict[QWidget, bool] = dict.fromkeys(self._by_need, True)
        row.addWidget(self.badge)
        row.addWidget(self.sentence, 1)
        for widget in (self.bar, self.loss, self.speed, self.host, self.card, self.hints):
            row.addWidget(widget)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)
        # Silence has to be noticed too: a run that says nothing sends no events.
        self._clock = QTimer(self)
        self._clock.setInterval(_CLOCK_MS)
        self._clock.timeout.connect(self.refresh)
        self._clock.start()
        self._training.changed.connect(self._soon)
        self._pictures.changed.connect(self._soon)
        self._pictures.progressed.connect(self._soon)
        theme().changed.connect(self._show_hint_icon)
        self.show_hints(0, is_error=False)
        self.refresh()

    def _make_bar(self) -> QProgressBar:
        bar = QProgressBar()
        bar.setObjectName("strip.progress")
        bar.setRange(0, _BAR_STEPS)
        bar.setTextVisible(False)
        bar.setFixedWidth(120)
        bar.setAccessibleName(tr("Progress"))
        bar.setToolTip(tr("How much of what runs is done."))
        return bar

    def _number(self, name: str, help: str) -> QLabel:
        label = QLabel()
        label.setObjectName(name)
        label.setToolTip(help)
        return label

    def _make_hint_button(self) -> QPushButton:
        button = QPushButton()
        button.setObjectName("strip.hints")
        button.clicked.connect(self.hints_wanted)
        return button

    def _soon(self, *_: object) -> None:
        """Many events a second are one change of the texts."""
        if not self._timer.isActive():
            self._timer.start()

    def refresh(self) -> None:
        """Show the run, or the look at the pictures while no run goes on."""
        state = self._training.state
        if self._pictures.is_busy and not state.is_running and not self._training.is_active:
            progress = self._pictures.progress
            share = progress.done / progress.total if progress and progress.total else None
            self._show(PageStatus.BUSY, pictures_sentence(progress), share)
        elif self._training.is_waking:
            words = tr("Stopping…") if self._training.is_stopping else tr("Starting the run…")
            self._show(PageStatus.BUSY, words, None)
        elif state.first_time is not None:
            quiet = time.time() - state.last_time if self._training.is_quiet else None
            words = run_sentence(state, is_stopping=self._training.is_stopping, quiet_seconds=quiet)
            self._show(PageStatus.WARNING if quiet is not None else run_status(state), words, run_share(state))
        else:
            self._show(PageStatus.NOTHING, tr("Nothing runs"), None)
        loss = state.epoch_loss
        self._wanted[self.loss] = loss is not None
        self.loss.setText(tr("Loss {loss}", loss=number_text(loss) if loss is not None else ""))
        self._wanted[self.speed] = state.is_running and state.pace > 0
        self.speed.setText(tr("{n:,.0f} images/s", n=state.pace))
        self._give_way()

    def _show(self, status: PageStatus, words: str, share: float | None) -> None:
        self.badge.show_status(status)
        self.sentence.setText(words)
        self._wanted[self.bar] = status is PageStatus.BUSY
        self.bar.setRange(0, 0 if share is None else _BAR_STEPS)
        if share is not None:
            self.bar.setValue(round(share * _BAR_STEPS))

    def _give_way(self) -> None:
        """Leave out what does not fit, the least needed first: a sentence cut short says nothing."""
        row = self._row
        shown = [widget for widget, is_wanted in self._wanted.items() if is_wanted]
        fixed = (self.badge, self.hints, self.host.curve, self.card.curve)
        margins = row.contentsMargins()
        room = self.width() - margins.left() - margins.right()
        room -= sum(widget.sizeHint().width() + 2 * row.spacing() for widget in fixed)
        room -= self.sentence.fontMetrics().horizontalAdvance(self.sentence.text())
        room -= sum(widget.sizeHint().width() + row.spacing() for widget in shown)
        for widget in self._by_need:
            is_shown = widget in shown
            if is_shown and room < 0:
                room += widget.sizeHint().width() + row.spacing()
                is_shown = False
            widget.setVisible(is_shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def show_machine(self, host: Usage, card: Usage | None) -> None:
        self.host.show_usage(host)
        self.card.show_usage(card)

    def show_hints(self, count: int, *, is_error: bool) -> None:
        """The badge: how many hints there are, and whether one of them is an error."""
        self._hint_token = "error" if is_error else ("warning" if count else "muted")
        words = trn(count, "{n} hint", "{n} hints") if count else tr("No hints")
        self.hints.setText(words)
        self.hints.setAccessibleName(words)
        self.hints.setToolTip(tr("What could be better, with the evidence and what mends it. Opens at the right."))
        set_role(self.hints, "" if count else "quiet")
        self._show_hint_icon()

    def _show_hint_icon(self) -> None:
        self.hints.setIcon(icon("hint", self._hint_token))


class Gauge(QWidget):
    """A memory: its name, how much of it is used, and the last two minutes."""

    def __init__(self, name: str, title: str, series: int, missing: str = "") -> None:
        super().__init__()
        self.setObjectName(name)
        self._title, self._missing = title, missing
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self.curve = Sparkline(series)
        self.words = QLabel()
        self.words.setProperty("role", "muted")
        row.addWidget(self.words)
        row.addWidget(self.curve)
        self.show_usage(None)

    def show_usage(self, usage: Usage | None) -> None:
        self.curve.setVisible(usage is not None)
        if usage is None:
            self.words.setText(self._missing)
            self.setToolTip(tr("There is no graphics card here that can be read; training runs on the processor."))
        else:
            used, total = size_text(usage.used_bytes), size_text(usage.total_bytes)
            self.words.setText(f"{self._title} {used} / {total}")
            self.words.setMinimumWidth(max(self.words.minimumWidth(), _width(self.words)))
            self.setToolTip(
                tr("{used} of {total} are in use, by all programs. The curve shows the last two minutes.",
                   used=used, total=total)
            )  # fmt: skip
            self.curve.add(usage.used_bytes, usage.total_bytes)
        self.setAccessibleName(self.words.text())


def _width(label: QLabel) -> int:
    return QFontMetrics(label.font()).horizontalAdvance(label.text()) + 2
