"""The runs on disk, listed and read again off the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.core.runstate import RunState
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.runs.catalogue import RunSummary, list_runs, preferred_run
from studio.runs.folder import events_file
from studio.runs.follow import replay
from studio.view.background import BackgroundTask
from studio.view.workspace import Workspace

_KEPT_RECORDS = 32


class RunList(QObject):
    """All runs, newest first. `changed()` follows each reading, the first one also where there are none."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._task: BackgroundTask | None = None
        self._is_asked_again = False
        self.runs: tuple[RunSummary, ...] = ()
        self.is_known = False

    def reload(self) -> None:
        """Look at the folder again; asked while it looks, it looks once more after that."""
        if self._task is not None:
            self._is_asked_again = True
            return
        self._is_asked_again = False
        runs_root = self._workspace.folders.runs

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[RunSummary, ...]:
            return tuple(list_runs(runs_root))

        task = BackgroundTask("list-runs", work)
        task.done.connect(self._on_done)
        task.failed.connect(lambda _: self._on_done(()))
        task.cancelled.connect(lambda: setattr(self, "_task", None))
        self._task = task
        task.start()

    def find(self, path: str) -> RunSummary | None:
        """The run in this folder."""
        return next((run for run in self.runs if run.path == path), None)

    def preferred(self, *, with_model: bool = False) -> RunSummary | None:
        """The run that a person means who has chosen none."""
        runs = (run for run in self.runs if run.model is not None or not with_model)
        workspace = self._workspace
        return preferred_run(runs, workspace.training.run_folder, workspace.document.project)

    def _on_done(self, runs: tuple[RunSummary, ...]) -> None:
        self._task = None
        self.runs, self.is_known = runs, True
        self.changed.emit()
        if self._is_asked_again:
            self.reload()


class Records(QObject):
    """What chosen runs said, replayed when it is first asked for. `arrived(path)` says that one is there."""

    arrived = Signal(str)

    def __init__(self, live: Callable[[str], RunState | None]) -> None:
        """`live` knows the run that goes on in this window, which need not be read from its files."""
        super().__init__()
        self._live = live
        self._kept: dict[str, tuple[tuple[int, int], RunState]] = {}
        self._wanted: list[str] = []
        self._task: BackgroundTask | None = None

    def known(self, path: str) -> RunState | None:
        """What was last read of this run's record; a run that goes on has said more since."""
        known = self._kept.get(path)
        return self._live(path) or (known[1] if known else None)

    def get(self, path: str) -> RunState | None:
        """The same, and it is read again where it is not known or no longer true."""
        live = self._live(path)
        if live is not None:
            return live
        stamp = _stamp(path)
        known = self._kept.get(path)
        if known is None or known[0] != stamp:
            if path not in self._wanted:
                self._wanted.append(path)
            self._begin()
        return known[1] if known else None

    def _begin(self) -> None:
        if self._task is not None or not self._wanted:
            return
        # The newest wish first: it is the one a person looks at.
        path = self._wanted[-1]

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[tuple[int, int], RunState]:
            stamp = _stamp(path)
            return stamp, replay(Path(path))

        task = BackgroundTask("replay-run", work)
        task.done.connect(lambda found: self._on_done(path, found))
        task.failed.connect(lambda _: self._on_done(path, (_stamp(path), RunState())))
        task.cancelled.connect(lambda: setattr(self, "_task", None))
        self._task = task
        task.start()

    def _on_done(self, path: str, found: tuple[tuple[int, int], RunState]) -> None:
        self._task = None
        self._wanted.remove(path)
        self._kept.pop(path, None)
        self._kept[path] = found
        while len(self._kept) > _KEPT_RECORDS:
            self._kept.pop(next(iter(self._kept)))
        self._begin()
        self.arrived.emit(path)


def _stamp(path: str) -> tuple[int, int]:
    """Size and time of the record: other ones mean that it says more."""
    try:
        stat = events_file(Path(path)).stat()
    except OSError:
        return (0, 0)
    return (stat.st_size, stat.st_mtime_ns)
