"""The doctor's window: everything that training depends on, with a verdict and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, assert_never

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.advice.checknames import check_label
from studio.advice.doctor import Check, Verdict, doctor
from studio.core.problem import Problem
from studio.core.text import tr
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.runs.answers import torch_facts
from studio.view.background import BackgroundTask
from studio.view.badges import StatusBadge
from studio.view.workspace import PageStatus, Workspace


class DoctorDialog(QDialog):
    """Looks at the machine when it is shown; the engine is asked what only torch can tell."""

    _answered = Signal(object)

    def __init__(self, workspace: Workspace, parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._task: BackgroundTask | None = None
        self._is_looking = False
        self.checks: tuple[Check, ...] = ()
        self.setObjectName("doctor")
        self.setWindowTitle(tr("Check this computer"))
        self.resize(760, 560)
        column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 16)
        column.setSpacing(12)
        title = QLabel(tr("What training depends on"))
        title.setProperty("role", "title")
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Looking…"))
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        column.addWidget(title)
        column.addWidget(self.bar)
        column.addWidget(self._area, 1)
        column.addLayout(self._buttons())
        self._answered.connect(self._measure, Qt.ConnectionType.QueuedConnection)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.again = QPushButton(tr("Look again"))
        self.again.setToolTip(tr("Measures everything once more, after something was changed."))
        self.again.clicked.connect(self.look)
        self.copy = QPushButton(tr("Copy as text"))
        self.copy.setToolTip(tr("Copies all lines, for a question to someone else."))
        self.copy.clicked.connect(self._copy)
        close = QPushButton(tr("Close"))
        close.setToolTip(tr("Close this window."))
        close.clicked.connect(self.close)
        row.addWidget(self.again)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(close)
        return row

    def look(self) -> None:
        """Measure the machine, with the engine's facts where it answers."""
        if self._is_looking:
            return
        self._is_looking = True
        self.bar.show()
        self.again.setEnabled(False)
        self._workspace.engine.proof().add_done_callback(self._on_proof)

    def _on_proof(self, future: Future[Any]) -> None:
        """Runs on the engine's reader thread."""
        self._answered.emit(future.result())

    def _measure(self, answer: Mapping[str, Any] | Problem) -> None:
        folders = self._workspace.folders
        facts = torch_facts(answer)

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[Check, ...]:
            return doctor((folders.runs, folders.cache, folders.data), facts)

        self._task = BackgroundTask("doctor", work)
        self._task.done.connect(self._show)
        self._task.start()

    def _show(self, checks: tuple[Check, ...]) -> None:
        self._task, self._is_looking = None, False
        self.checks = checks
        self.bar.hide()
        self.again.setEnabled(True)
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setContentsMargins(0, 0, 8, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(2, 1)
        for row, check in enumerate(checks):
            grid.addWidget(StatusBadge(_status(check.verdict)), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(_line(check_label(check.id), "muted"), row, 1, Qt.AlignmentFlag.AlignTop)
            words = QVBoxLayout()
            words.setSpacing(2)
            words.addWidget(_line(check.value, ""))
            if check.fix:
                words.addWidget(_line(check.fix, check.verdict if check.verdict in {"warning", "error"} else "muted"))
            grid.addLayout(words, row, 2)
        grid.setRowStretch(len(checks), 1)
        self._area.setWidget(inner)

    def _copy(self) -> None:
        lines = [f"{c.verdict:8} {c.id}: {c.value}" + (f" - {c.fix}" if c.fix else "") for c in self.checks]
        QGuiApplication.clipboard().setText("\n".join(lines) + "\n")


def _status(verdict: Verdict) -> PageStatus:
    match verdict:
        case "ok":
            return PageStatus.READY
        case "warning":
            return PageStatus.WARNING
        case "error":
            return PageStatus.ERROR
        case "unknown":
            return PageStatus.NOTHING
    assert_never(verdict)


def _line(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setMinimumWidth(160)
    if role:
        label.setProperty("role", role)
    return label
