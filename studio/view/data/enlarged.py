"""A picture in a window of its own, as large as it is or enlarged to be seen, with its name, class and size."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from studio.core.text import problem_message, tr
from studio.dataset.labels import shown
from studio.dataset.loading import Refused, load_rgb
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.view.background import BackgroundTask
from studio.view.data.preview import image_of_rgb
from studio.view.pieces import button, wrapped

_SIDE_PX = 480


class PictureView(QWidget):
    """Paints an image as large as fits: enlarged by whole steps without smoothing, reduced smoothly."""

    def __init__(self) -> None:
        super().__init__()
        self.image = QImage()
        self.setMinimumSize(_SIDE_PX, _SIDE_PX)
        self.setAccessibleName(tr("Picture"))

    def show_image(self, image: QImage) -> None:
        self.image = image
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.image.isNull():
            return
        most = max(self.image.width(), self.image.height())
        zoom = min(self.width(), self.height()) / most
        size = self.image.size() * (int(zoom) if zoom >= 1 else zoom)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, zoom < 1)
        target = self.rect()
        target.setSize(size)
        target.moveCenter(self.rect().center())
        painter.drawImage(target, self.image)


class EnlargedPicture(QDialog):
    """Stays beside the window while one goes on; `show_picture` puts another picture in."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("enlarged")
        self._path, self._label = Path(), ""
        self._task: BackgroundTask | None = None
        self.picture = PictureView()
        self.caption = wrapped("", is_selectable=True)
        self.caption.setObjectName("enlarged.caption")
        close = button(tr("Close"), tr("Close this window."), "enlarged.close", self.close)
        row = QHBoxLayout()
        row.addWidget(self.caption, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(10)
        column.addWidget(self.picture, 1)
        column.addLayout(row)

    def show_picture(self, path: Path, label: str) -> None:
        """Show `path`, which belongs to the class `label`; decoded off the window's thread."""
        self._path, self._label = path, label
        self.setWindowTitle(shown(path.name))
        self.caption.setText(shown(path.name))
        self.picture.show_image(QImage())
        self.show()
        self.raise_()

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> QImage | Refused:
            try:
                return image_of_rgb(load_rgb(path))
            except Refused as refused:
                return refused

        task = BackgroundTask("enlarged", work)
        task.done.connect(lambda found: self._on_done(task, found))
        self._task = task.start()

    def _on_done(self, task: BackgroundTask, found: QImage | Refused) -> None:
        if task is not self._task:
            return
        self._task = None
        if isinstance(found, Refused):
            self.caption.setText(problem_message(found.problem))
            return
        self.picture.show_image(found)
        self.caption.setText(
            tr(
                "{name}, class {label}, {width:,} x {height:,} px",
                name=shown(self._path.name),
                label=shown(self._label),
                width=found.width(),
                height=found.height(),
            )
        )
