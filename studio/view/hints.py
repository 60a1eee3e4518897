"""Gathers what is wrong, in the project, its pictures and the run, and keeps the hints about it up to date."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from studio.advice.hint import Facts, Hint
from studio.advice.knowledge import knowledge
from studio.advice.live import hints_for
from studio.advice.machine import measure
from studio.advice.runfacts import RunFacts, run_facts
from studio.core.events import Ended, EpochEnded, Event, Failed, Started, Stepped, Warned
from studio.core.problem import Problem, Severity
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.view.background import BackgroundTask
from studio.view.workspace import Workspace

# An edit is followed by its hints before the hand is back on the mouse; a run's numbers once a second are soon enough.
_AFTER_EDIT_MS = 200
_AFTER_STEPS_MS = 1000
_TELLING = (Started, EpochEnded, Warned, Failed, Ended)


class Hints(QObject):
    """The hints of the moment, worst first; `changed()` follows each change of them."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._machine: Facts | None = None
        self._measuring: BackgroundTask | None = None
        self._warming: BackgroundTask | None = None
        self.hints: tuple[Hint, ...] = ()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)
        workspace.document.changed.connect(lambda *_: self._within(_AFTER_EDIT_MS))
        workspace.pictures.changed.connect(lambda: self._within(_AFTER_EDIT_MS))
        workspace.training.changed.connect(lambda *_: self._on_run())
        workspace.training.arrived.connect(self._on_events)

    def warm(self) -> None:
        """Read the knowledge base in the background: its patterns take a fifth of a second to compile."""

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> None:
            knowledge()

        self._warming = BackgroundTask("knowledge", work).start()

    @property
    def has_error(self) -> bool:
        return any(hint.severity is Severity.ERROR for hint in self.hints)

    def refresh(self) -> None:
        """Think again, now."""
        self._timer.stop()
        workspace = self._workspace
        project, run = workspace.document.project, self._run_facts()
        hints: tuple[Hint, ...] = ()
        if not workspace.document.is_untouched or run is not None:
            hints = hints_for(project, self._problems(), run, self._machine)
        if hints != self.hints:
            self.hints = hints
            self.changed.emit()

    def _problems(self) -> tuple[Problem, ...]:
        workspace = self._workspace
        if workspace.document.is_untouched:
            return ()
        found = (*workspace.document.report.all_problems, *workspace.pictures.problems)
        premature = workspace.pictures.premature_codes
        return tuple(problem for problem in found if problem.code not in premature)

    def _run_facts(self) -> RunFacts | None:
        training = self._workspace.training
        if training.state.first_time is None:
            return None
        return run_facts(training.state, training.project or self._workspace.document.project)

    def _on_run(self) -> None:
        if self._workspace.training.state.first_time is None:
            self._within(_AFTER_EDIT_MS)

    def _on_events(self, events: list[Event]) -> None:
        if any(isinstance(event, (Failed, Warned)) for event in events):
            self._measure()
        if any(isinstance(event, _TELLING) for event in events):
            self._within(_AFTER_EDIT_MS)
        elif any(isinstance(event, Stepped) for event in events):
            self._within(_AFTER_STEPS_MS)

    def _within(self, delay_ms: int) -> None:
        """Think again at the latest after this time; a refresh that is due sooner stays due."""
        if not self._timer.isActive() or self._timer.remainingTime() > delay_ms:
            self._timer.start(delay_ms)

    def _measure(self) -> None:
        """Facts of the machine make a failed run's hints concrete; some of them take a while to read."""
        if self._machine is not None or self._measuring is not None:
            return
        folders = self._workspace.folders

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> Facts:
            return measure((folders.runs, folders.cache))

        self._measuring = BackgroundTask("machine", work)
        self._measuring.done.connect(self._take_machine)
        self._measuring.start()

    def _take_machine(self, facts: Facts) -> None:
        self._machine = facts
        self._within(0)
