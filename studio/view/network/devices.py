"""How much memory the device of the next run has: the machine's, and the cards that the engine can train on."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Protocol

import psutil
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from studio.core.text import tr
from studio.view.devices import Device, chosen_device, devices_of

# The engine needs some seconds to import torch; asking it again this often costs nothing.
_ASK_AGAIN_MS = 1500


class Engine(Protocol):
    """What is used of `studio.runs.launchers.process.EngineProcess`."""

    @property
    def state(self) -> str: ...

    def devices(self) -> Future[Any]: ...


class Devices(QObject):
    """The devices that are known so far. `changed` follows when the engine has named its own.

    It never starts the engine: it waits until that is ready, and asks it once.
    """

    changed = Signal()
    _answered = Signal(object)

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine
        self.known: tuple[Device, ...] = ()
        self._answered.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self._timer = QTimer(self)
        self._timer.setInterval(_ASK_AGAIN_MS)
        self._timer.timeout.connect(self.ask)

    def watch(self, is_on: bool) -> None:
        """Look for the engine while the page is seen, until it has answered."""
        if is_on and not self.known:
            self.ask()
        else:
            self._timer.stop()

    def ask(self) -> None:
        if self._engine.state != "ready":
            self._timer.start()
            return
        self._timer.stop()
        # The answer comes on a thread of the engine's; the signal brings it into this one.
        self._engine.devices().add_done_callback(lambda future: self._answered.emit(future.result()))

    def _take(self, answer: object) -> None:
        if isinstance(answer, Mapping):
            # The engine names the processor as a CPU; what counts there is the computer's memory.
            self.known = tuple(host() if device.id == "cpu" else device for device in devices_of(answer))
            self.changed.emit()

    def chosen(self, name: str) -> Device | None:
        """The device that a recipe's `device` stands for, with its memory; None if it is not known."""
        found = chosen_device(name or "auto", self.known)
        return found or (host() if name in ("auto", "", "cpu") else None)


def host() -> Device:
    """This machine's own memory."""
    return Device("cpu", tr("this computer"), int(psutil.virtual_memory().total))
