"""Long work off the window's thread: progress, cancel, a result that arrives as a signal, and a join at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QMetaMethod, QObject, Qt, Signal

from studio.dataset.progress import Cancelled, IsCancelled, Progress, ReportProgress

Work = Callable[[ReportProgress, IsCancelled], Any]

_live: set[BackgroundTask] = set()


class BackgroundTask(QObject):
    """One piece of work in a thread of its own. All signals arrive in the thread that made the task.

    Exactly one of `done(result)`, `cancelled()` and `failed(exception)` ends it; a failure that nobody listens for is
    reported as the bug that it is.
    """

    progressed = Signal(object)
    done = Signal(object)
    cancelled = Signal()
    failed = Signal(object)
    _ended = Signal(str, object)

    def __init__(self, name: str, work: Work) -> None:
        super().__init__()
        self._stop = threading.Event()
        self._work = work
        self._thread = threading.Thread(target=self._run, name=name, daemon=False)
        self._ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)

    def start(self) -> BackgroundTask:
        _live.add(self)
        self._thread.start()
        return self

    def cancel(self) -> None:
        """Ask it to stop; `cancelled` follows within a second."""
        self._stop.set()

    @property
    def is_stopped(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def join(self, timeout_seconds: float = 10.0) -> bool:
        """Wait until the thread is gone; whether it is."""
        self._thread.join(timeout_seconds)
        _live.discard(self)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            result = self._work(self._report, self._stop.is_set)
        except Cancelled:
            self._ended.emit("cancelled", None)
        except Exception as error:  # noqa: BLE001 - handed to the window's thread, which reports it
            self._ended.emit("failed", error)
        else:
            self._ended.emit("done", result)

    def _report(self, progress: Progress) -> None:
        self.progressed.emit(progress)

    def _on_ended(self, how: str, what: object) -> None:
        _live.discard(self)
        if self._stop.is_set():
            how = "cancelled" if how == "done" else how
        match how:
            case "done":
                self.done.emit(what)
            case "cancelled":
                self.cancelled.emit()
            case _:
                if isinstance(what, Exception) and not self.isSignalConnected(QMetaMethod.fromSignal(self.failed)):
                    # Nobody waits for it, so it is a bug: reported, not lost.
                    raise what
                self.failed.emit(what)


def join_all() -> None:
    """Cancel and join everything that still runs; a live thread at exit would keep the process."""
    for task in list(_live):
        task.cancel()
    for task in list(_live):
        task.join()
