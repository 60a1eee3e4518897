"""One picture as it is and as the network sees it, made by the very function that training uses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.core.project import Preprocessing
from studio.core.text import problem_message, tr
from studio.dataset.loading import Refused, load_rgb, to_working_size
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.view.background import BackgroundTask
from studio.view.pieces import wrapped

_SIDE_PX = 128

Pixels = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]


def image_of_rgb(pixels: Pixels) -> QImage:
    """RGB rows to a Qt image that owns its memory."""
    height, width = pixels.shape[:2]
    return QImage(np.ascontiguousarray(pixels).tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def _fitted(image: QImage) -> QImage:
    """As large as a label: enlarged, its pixels stay what they are; reduced, they are averaged."""
    is_enlarged = max(image.width(), image.height()) <= _SIDE_PX
    mode = Qt.TransformationMode.FastTransformation if is_enlarged else Qt.TransformationMode.SmoothTransformation
    return image.scaled(_SIDE_PX, _SIDE_PX, Qt.AspectRatioMode.KeepAspectRatio, mode)


def _as_rgb(working: Pixels) -> Pixels:
    """C x H x W with one or three channels to H x W x 3."""
    moved = np.moveaxis(working, 0, -1)
    return np.repeat(moved, 3, axis=2) if moved.shape[2] == 1 else moved


class Preview(QWidget):
    """Left the picture, right the network's input, both scaled in the same way."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted: tuple[Path, Preprocessing] | None = None
        self._task: BackgroundTask | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        self._before, self._after = QLabel(), QLabel()
        for label, text in ((self._before, tr("The file")), (self._after, tr("What the network sees"))):
            label.setFixedSize(QSize(_SIDE_PX, _SIDE_PX))
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setAccessibleName(text)
            holder = QVBoxLayout()
            caption = QLabel(text)
            caption.setProperty("role", "faint")
            holder.addWidget(caption)
            holder.addWidget(label)
            row.addLayout(holder)
        row.addStretch(1)
        column.addLayout(row)
        self._caption = wrapped("", "muted")
        column.addWidget(self._caption)
        self.clear()

    def clear(self) -> None:
        """Nothing is chosen."""
        self._wanted = None
        self._before.clear()
        self._after.clear()
        self._caption.setText(tr("Choose a picture to see what the network makes of it."))

    def show_picture(self, path: Path, preprocessing: Preprocessing) -> None:
        """Show `path`; the newest wish wins over one that is still being decoded."""
        if self._wanted == (path, preprocessing):
            return
        self._wanted = (path, preprocessing)
        if self._task is None:
            self._begin()

    def _begin(self) -> None:
        if self._wanted is None:
            return
        wanted = self._wanted
        path, preprocessing = wanted

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[QImage, QImage, tuple[int, int]]:
            rgb = load_rgb(path, preprocessing.background)
            seen = image_of_rgb(_as_rgb(to_working_size(rgb, preprocessing)))
            return _fitted(image_of_rgb(rgb)), _fitted(seen), (rgb.shape[1], rgb.shape[0])

        task = BackgroundTask("preview", work)
        task.done.connect(lambda found: self._on_done(wanted, *found))
        task.failed.connect(lambda error: self._on_failed(wanted, error))
        task.cancelled.connect(lambda: setattr(self, "_task", None))
        self._task = task
        task.start()

    def _on_done(self, wanted: tuple[Path, Preprocessing], file: QImage, seen: QImage, size: tuple[int, int]) -> None:
        self._task = None
        if wanted != self._wanted:
            self._begin()
            return
        preprocessing = wanted[1]
        self._before.setPixmap(QPixmap.fromImage(file))
        self._after.setPixmap(QPixmap.fromImage(seen))
        self._caption.setText(
            tr(
                "{name}: {width} x {height} px becomes {new_width} x {new_height} px.",
                name=wanted[0].name,
                width=size[0],
                height=size[1],
                new_width=preprocessing.width,
                new_height=preprocessing.height,
            )
        )

    def _on_failed(self, wanted: tuple[Path, Preprocessing], error: Exception) -> None:
        self._task = None
        if wanted != self._wanted:
            self._begin()
            return
        self._before.clear()
        self._after.clear()
        self._caption.setText(problem_message(error.problem) if isinstance(error, Refused) else str(error))
