"""The main window before anything is in it: the frame that is on the screen at once, and is furnished after that.

Nothing here may be slow to import: no `Qt` namespace (its enums take 20 ms to build), no events (6 ms), no settings,
no texts. What comes into the window is put there by `studio.view.shell` once the first paint is done.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QSize, QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QMainWindow, QWidget

from studio.core.files import resources_folder
from studio.view.windowstate import WindowState

if TYPE_CHECKING:
    from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent, QResizeEvent

NAME = "Lantern Studio"
MINIMUM_PX = (1100, 700)
USUAL_PX = (1360, 860)
RAIL_PX = 104


class MainWindow(QMainWindow):
    """An empty frame.

    `painted()` follows the first paint. `closing(event)`, `entered(event)` and `dropped(event)` hand Qt's events to
    whoever furnishes the window; until then the window closes and takes no drops.
    """

    painted = Signal()
    closing = Signal(object)
    entered = Signal(object)
    dropped = Signal(object)

    def __init__(self, state: WindowState) -> None:
        super().__init__()
        self.is_furnished = False
        self.setWindowTitle(NAME)
        self.setObjectName("window")
        self.setAcceptDrops(True)
        # A small screen, or a large scale, may have less room than that.
        room = self.screen().availableSize()
        self.setMinimumSize(QSize(*MINIMUM_PX).boundedTo(room))
        self.resize(QSize(*USUAL_PX).boundedTo(room))
        if state.geometry:
            self.restoreGeometry(QByteArray.fromBase64(state.geometry.encode()))
        curtain = Curtain(state.is_dark)
        # The curtain covers the whole window, so it is the curtain that Qt paints: with some window systems the window
        # behind it never gets a paint event.
        curtain.painted.connect(self.painted)
        self.setCentralWidget(curtain)

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
    """The ground of the window with that of the rail, in the colours of the last time, until the parts are there.

    `painted()` follows its first paint.
    """

    painted = Signal()

    def __init__(self, is_dark: bool | None) -> None:
        super().__init__()
        self._is_painted = False
        dark = is_dark if is_dark is not None else QPalette().window().color().lightness() < 128
        path: Path = resources_folder() / "style" / "tokens.json"
        tokens = json.loads(path.read_text("utf-8"))["dark" if dark else "light"]
        self._rail = QWidget(self)
        for widget, token in ((self, "window"), (self._rail, "sunken")):
            # Not painted by hand: QPainter's overloads for pens and brushes build the enums of `Qt`.
            palette = QPalette()
            palette.setColor(QPalette.ColorRole.Window, QColor(tokens[token]))
            widget.setPalette(palette)
            widget.setAutoFillBackground(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._rail.setGeometry(0, 0, RAIL_PX, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._is_painted:
            self._is_painted = True
            QTimer.singleShot(0, self.painted.emit)
