"""The main window before anything is in it: the frame that is on the screen at once, and is furnished after that.

Nothing here may be slow to import: no `Qt` namespace (its enums take 20 ms to build), no settings, no texts. What comes
into the window is put there by `studio.view.shell` once the first paint is done.
"""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import QByteArray, QPointF, QRectF, QSize, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QDragEnterEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QMainWindow, QWidget

from studio.core.files import resources_folder
from studio.view.windowstate import WindowState

NAME = "Lantern Studio"
MINIMUM_PX = (1100, 700)
USUAL_PX = (1360, 860)
RAIL_PX = 104


class MainWindow(QMainWindow):
    """An empty frame with the program's name.

    `painted()` follows the first paint. `closing(event)`, `entered(event)` and `dropped(event)` hand Qt's events to
    whoever furnishes the window; until then the window closes and takes no drops.
    """

    painted = Signal()
    closing = Signal(object)
    entered = Signal(object)
    dropped = Signal(object)

    def __init__(self, state: WindowState) -> None:
        super().__init__()
        self.is_painted = False
        self.is_furnished = False
        self.setWindowTitle(NAME)
        self.setObjectName("window")
        self.setAcceptDrops(True)
        self.setMinimumSize(QSize(*MINIMUM_PX))
        self.resize(QSize(*USUAL_PX))
        if state.geometry:
            self.restoreGeometry(QByteArray.fromBase64(state.geometry.encode()))
        self.setCentralWidget(Curtain(state.is_dark))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.is_painted:
            self.is_painted = True
            QTimer.singleShot(0, self.painted.emit)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.is_furnished:
            self.closing.emit(event)
        else:
            event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.entered.emit(event)

    def dropEvent(self, event: QDropEvent) -> None:
        self.dropped.emit(event)


class Curtain(QWidget):
    """The outlines of the window with a lantern in the middle, until its parts are there."""

    def __init__(self, is_dark: bool | None) -> None:
        super().__init__()
        dark = is_dark if is_dark is not None else QPalette().window().color().lightness() < 128
        path: Path = resources_folder() / "style" / "tokens.json"
        tokens = json.loads(path.read_text("utf-8"))["dark" if dark else "light"]
        self._colours = {name: QColor(tokens[name]) for name in ("window", "sunken", "accent")}

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        width, height = self.width(), self.height()
        areas = {
            "window": QRectF(-1, -1, width + 2, height + 2),
            "sunken": QRectF(-1, -1, RAIL_PX + 1, height + 2),
        }
        for name, area in areas.items():
            # Not fillRect: choosing among its overloads builds the enums of `Qt`.
            painter.save()
            painter.setPen(self._colours[name])
            painter.setBrush(self._colours[name])
            painter.drawRect(area)
            painter.restore()
        painter.translate(RAIL_PX + (width - RAIL_PX) / 2, height / 2)
        paint_lantern(painter, 72.0, self._colours["accent"])
        painter.end()


def paint_lantern(painter: QPainter, size: float, colour: QColor) -> None:
    """The program's sign, a lantern `size` high, around the painter's origin."""
    unit = size / 24
    pen = QPen(colour)
    pen.setWidthF(1.6 * unit)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen)
    painter.drawArc(QRectF(-4 * unit, -11 * unit, 8 * unit, 8 * unit), 0, 180 * 16)
    painter.drawRoundedRect(QRectF(-6 * unit, -7 * unit, 12 * unit, 3 * unit), unit, unit)
    painter.drawRoundedRect(QRectF(-5 * unit, -4 * unit, 10 * unit, 12 * unit), unit, unit)
    painter.drawLine(QPointF(-6 * unit, 11 * unit), QPointF(6 * unit, 11 * unit))
    painter.setBrush(colour)
    painter.drawEllipse(QRectF(-2 * unit, 0, 4 * unit, 5 * unit))
