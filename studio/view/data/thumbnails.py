"""Thumbnails off the window's thread: the newest wish first, a bounded store, nothing decoded twice while kept."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QPixmap

from studio.dataset.loading import Refused, thumbnail
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.view.background import BackgroundTask

THUMBNAIL_PX = 96
_KEPT = 3000  # about 110 MB at 96 px with four bytes a pixel
_WAITING = 400  # more than two screens; older wishes have scrolled out of sight
_WORKERS = 2


def image_of(path: Path, size_px: int = THUMBNAIL_PX) -> QImage | None:
    """The picture at `path`, upright and at most `size_px` on a side; None where it is refused."""
    try:
        pixels = thumbnail(path, size_px)
    except Refused:
        return None
    height, width = pixels.shape[:2]
    return QImage(pixels.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


class Thumbnails(QObject):
    """Pictures by path. `get` gives what is there and asks for what is not; `arrived(paths)` says what has come."""

    arrived = Signal(list)
    _made = Signal(object, object)

    def __init__(self, size_px: int = THUMBNAIL_PX) -> None:
        super().__init__()
        self._size_px = size_px
        self._kept: OrderedDict[Path, QPixmap | None] = OrderedDict()
        self._waiting: deque[Path] = deque(maxlen=_WAITING)
        self._lock = threading.Lock()
        self._workers: list[BackgroundTask] = []
        self._made.connect(self._take)

    def get(self, path: Path) -> QPixmap | None:
        """The thumbnail; None while it is on its way or where the picture is refused."""
        if path in self._kept:
            self._kept.move_to_end(path)
            return self._kept[path]
        with self._lock:
            if path not in self._waiting:
                self._waiting.append(path)
        if len(self._workers) < _WORKERS:
            self._hire()
        return None

    def has(self, path: Path) -> bool:
        """Whether it was decoded or refused already."""
        return path in self._kept

    def forget(self) -> None:
        """The folder changed: nothing that is kept is true any more."""
        with self._lock:
            self._waiting.clear()
        self._kept.clear()

    def _hire(self) -> None:
        worker = BackgroundTask("thumbnails", self._work)
        worker.done.connect(lambda _: self._dismiss(worker))
        worker.cancelled.connect(lambda: self._dismiss(worker))
        worker.failed.connect(lambda _: self._dismiss(worker))
        self._workers.append(worker)
        worker.start()

    def _dismiss(self, worker: BackgroundTask) -> None:
        self._workers.remove(worker)
        if self._waiting and not worker.is_stopped:
            self._hire()

    def _work(self, report: ReportProgress, is_cancelled: IsCancelled) -> None:
        while not is_cancelled():
            with self._lock:
                if not self._waiting:
                    return
                path = self._waiting.pop()
            self._made.emit(path, image_of(path, self._size_px))

    def _take(self, path: Path, image: QImage | None) -> None:
        self._kept[path] = QPixmap.fromImage(image) if image is not None else None
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        self.arrived.emit([path])
