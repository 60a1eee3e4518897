"""The machine's memory, looked at once a second for the strip: the host's by psutil, a graphics card's by NVML."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil
from PySide6.QtCore import QObject, QTimer, Signal

from studio.dataset.progress import IsCancelled, ReportProgress
from studio.view.background import BackgroundTask

_INTERVAL_MS = 1000


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of a memory is used, by everything on the machine."""

    used_bytes: int
    total_bytes: int


class MachineWatch(QObject):
    """`measured(host, card)` once a second; `card` is None where there is none or NVML is missing."""

    measured = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._card: Any = None
        self._nvml: Any = None
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.measure)

    def start(self) -> None:
        """Begin; the driver is asked in the background, since its first answer can take a second."""
        self._timer.start()
        self.measure()
        task = BackgroundTask("graphics card", _first_card)
        task.done.connect(self._take_card)
        task.start()
        self._task = task

    def stop(self) -> None:
        self._timer.stop()

    def measure(self) -> None:
        memory = psutil.virtual_memory()
        self.measured.emit(Usage(memory.total - memory.available, memory.total), self._card_usage())

    def _take_card(self, found: tuple[Any, Any] | None) -> None:
        if found is not None:
            self._nvml, self._card = found

    def _card_usage(self) -> Usage | None:
        if self._card is None:
            return None
        with suppress(self._nvml.NVMLError):
            info = self._nvml.nvmlDeviceGetMemoryInfo(self._card)
            return Usage(int(info.used), int(info.total))
        return None


def _first_card(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[Any, Any] | None:
    """The NVML module and its first card; None without driver or card."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        return (pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)) if pynvml.nvmlDeviceGetCount() else None
    except pynvml.NVMLError:
        return None
