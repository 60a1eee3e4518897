"""Bugs: whatever no one has caught, in any thread, saves the project and is shown as a report that can be copied."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from studio.core.text import tr, trn
from studio.view.report import report_text, trace_text

_COPIED_MS = 1600


class BugCatcher(QObject):
    """Takes Python's three hooks while it is installed. `caught(report)` arrives in the window's thread.

    `save` is called first, in the window's thread; `private` says what must not be in a report.
    """

    caught = Signal(str)
    _raised = Signal(str)

    def __init__(self, save: Callable[[], object], private: Callable[[], tuple[tuple[str, str], ...]]) -> None:
        super().__init__()
        self._save, self._private = save, private
        self._is_saving = False
        self._hooks: tuple[Any, Any, Any] | None = None
        self._raised.connect(self._on_raised, Qt.ConnectionType.AutoConnection)

    def install(self) -> None:
        self._hooks = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self.take
        threading.excepthook = self._take_thread
        sys.unraisablehook = self._take_unraisable

    def remove(self) -> None:
        """Give the hooks back."""
        if self._hooks is not None:
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._hooks
            self._hooks = None

    def take(self, kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        """An exception that no one has caught."""
        if issubclass(kind, (KeyboardInterrupt, SystemExit)):
            sys.__excepthook__(kind, error or kind(), trace)
            return
        text = trace_text(kind, error, trace)
        if sys.stderr is not None:  # a windowed program on Windows has none
            sys.stderr.write(text)
        self._raised.emit(text)

    def _take_thread(self, what: threading.ExceptHookArgs) -> None:
        self.take(what.exc_type, what.exc_value, what.exc_traceback)

    def _take_unraisable(self, what: Any) -> None:
        self.take(what.exc_type, what.exc_value, what.exc_traceback)

    def _on_raised(self, trace: str) -> None:
        if not self._is_saving:
            self._is_saving = True
            try:
                self._save()
            finally:
                self._is_saving = False
        self.caught.emit(report_text(trace, self._private()))


class BugDialog(QDialog):
    """The newest report; further ones are counted, so that a bug that repeats fills no screen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Something went wrong"))
        self.setObjectName("bug")
        self.setModal(False)
        self.resize(720, 460)
        self._count = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        title = QLabel(tr("Something went wrong in Lantern Studio"))
        title.setProperty("role", "heading")
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.report = QPlainTextEdit()
        self.report.setObjectName("bug.report")
        self.report.setReadOnly(True)
        self.report.setProperty("role", "code")
        self.report.setAccessibleName(tr("Report"))
        self.report.setToolTip(tr("Your name, your home folder and your project's folders are left out."))
        column.addWidget(title)
        column.addWidget(self.words)
        column.addWidget(self.report, 1)
        column.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.copy = QPushButton(tr("Copy the report"))
        self.copy.setObjectName("bug.copy")
        self.copy.setProperty("role", "primary")
        self.copy.setToolTip(tr("Copies the text above, to send it to those who can mend the bug."))
        self.copy.clicked.connect(self._copy)
        close = QPushButton(tr("Close"))
        close.setObjectName("bug.close")
        close.setToolTip(tr("Go on working. Saving the project now is wise."))
        close.clicked.connect(self.close)
        row.addStretch(1)
        row.addWidget(close)
        row.addWidget(self.copy)
        return row

    def show_report(self, report: str) -> None:
        self._count = self._count + 1 if self.isVisible() else 1
        words = tr(
            "It is a bug, not your doing. A copy of the project was kept, and a run that goes on is not touched by it. "
            "The report below holds nothing personal."
        )
        if self._count > 1:
            words += " " + trn(self._count, "It has happened {n} time.", "It has happened {n} times.")
        self.words.setText(words)
        self.report.setPlainText(report)
        self.show()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report.toPlainText())
        self.copy.setText(tr("Copied"))
        QTimer.singleShot(_COPIED_MS, self.copy, lambda: self.copy.setText(tr("Copy the report")))
