"""Closing the window without losing anything: a run is asked about, then unsaved work, then everything is joined."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMainWindow

from studio.core.text import tr
from studio.view.notices import NoticeBar
from studio.view.openings import Openings
from studio.view.question import Answer, ask
from studio.view.training import Training

# Stopping takes at most 3 s in the engine process; a thread of this program cannot be ended from outside.
_PATIENCE_MS = 15_000


class Closing(QObject):
    """`left(keeps_engine)` follows when nothing stands in the way any more: the last thing that the window says.

    `keeps_engine` is whether the engine process is to be left to finish its run. `hurried()` comes first where there is
    no time to ask.
    """

    left = Signal(bool)
    hurried = Signal()

    def __init__(self, window: QMainWindow, training: Training, openings: Openings, notices: NoticeBar) -> None:
        super().__init__(window)
        self._window, self._training = window, training
        self._openings, self._notices = openings, notices
        self._is_asking = False
        self._is_leaving = False
        self.is_hurried = False
        self._stops = False
        self._keeps_engine = False
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._leave)

    def on_close(self, event: QCloseEvent) -> None:
        """The window is to be closed: by its button, by Quit, or by the system."""
        if self._is_leaving:
            event.accept()
            return
        event.ignore()
        self.begin()

    def begin(self) -> None:
        """Ask what has to be asked, then leave."""
        if self._is_asking or self._is_leaving or self._patience.isActive():
            return
        self._is_asking = True
        self._stops = self._keeps_engine = False
        if self._training.is_active:
            self._ask_about_run()
        else:
            self._ask_about_work()

    def leave_now(self) -> None:
        """Ask nothing: the system wants us gone. A run is stopped, unsaved work is in the recovery copy."""
        self._is_asking = self.is_hurried = True
        self._stops = True
        self.hurried.emit()
        self._go()

    def _ask_about_run(self) -> None:
        answers = [Answer("stop", tr("Stop and close"), "accept", self._stop)]
        text = tr("Stopping keeps its checkpoints and the model so far; it can be resumed later.")
        if self._training.outlives_window:
            answers.append(Answer("keep", tr("Keep training and close"), "discard", self._keep))
            text += " " + tr("The engine can also finish it without the window; the run is in the Results afterwards.")
        answers.append(Answer("cancel", tr("Cancel"), "cancel", self._stay))
        ask(self._window, tr("A run goes on. Close the window?"), text, answers)

    def _stop(self) -> None:
        self._stops = True
        self._ask_about_work()

    def _keep(self) -> None:
        self._keeps_engine = True
        self._ask_about_work()

    def _stay(self) -> None:
        self._is_asking = False

    def _ask_about_work(self) -> None:
        self._openings.guard(self._go, self._stay)

    def _go(self) -> None:
        if self._stops and self._training.is_active:
            self._notices.say(tr("Stopping the run; the window closes when it has ended."), "warning")
            self._training.ended.connect(self._leave)
            self._patience.start()
            self._training.stop()
        else:
            self._leave()

    def _leave(self) -> None:
        if self._is_leaving:
            return
        self._patience.stop()
        self._is_leaving = True
        # A run that did not end in time has a thread that would keep the program; it is left like an engine's.
        self.left.emit(self._keeps_engine or self._training.is_active)
