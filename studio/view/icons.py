"""Icons: simple strokes in `resources/icons`, drawn in the theme's colours at the size and sharpness of the screen."""

from __future__ import annotations

from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel

from studio.core.files import resources_folder
from studio.view.theme import theme


@cache
def _source(name: str) -> str:
    return (resources_folder() / "icons" / f"{name}.svg").read_text("utf-8")


@lru_cache(maxsize=256)
def _renderer(name: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_source(name).replace("currentColor", colour).encode()))


def paint_icon(painter: QPainter, name: str, area: QRectF, colour: QColor) -> None:
    """Draw an icon into `area`."""
    _renderer(name, colour.name()).render(painter, area)


def pixmap(name: str, size_px: int, token: str = "text", ratio: float = 1.0) -> QPixmap:
    """The icon in the theme's colour `token`; `ratio` is the screen's device pixel ratio."""
    return _pixmap(name, size_px, theme().colour(token), ratio)


def _pixmap(name: str, size_px: int, colour: QColor, ratio: float) -> QPixmap:
    drawn = QPixmap(QSize(size_px, size_px) * ratio)
    drawn.setDevicePixelRatio(ratio)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    paint_icon(painter, name, QRectF(0, 0, size_px, size_px), colour)
    painter.end()
    return drawn


def icon(name: str, token: str = "text") -> QIcon:
    """The icon for buttons, greyed where the button is disabled. Make it anew when the theme changes."""
    made = QIcon()
    for size_px in (16, 24, 48):
        made.addPixmap(pixmap(name, size_px, token, 2.0), QIcon.Mode.Normal)
        made.addPixmap(pixmap(name, size_px, "faint", 2.0), QIcon.Mode.Disabled)
    return made


class IconLabel(QLabel):
    """An icon that keeps to the theme."""

    def __init__(self, name: str, size_px: int, token: str = "text") -> None:
        super().__init__()
        self._name, self._size_px, self._token = name, size_px, token
        self.setFixedSize(size_px, size_px)
        theme().changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        self.setPixmap(pixmap(self._name, self._size_px, self._token, max(2.0, self.devicePixelRatioF())))


@cache
def program_icon() -> QIcon:
    """The sign of the program on a tile, for the window's frame and the task bar; the same in light and dark."""
    made = QIcon()
    for size_px in (16, 24, 32, 48, 64, 128, 256):
        tile = QPixmap(size_px, size_px)
        tile.fill(Qt.GlobalColor.transparent)
        painter = QPainter(tile)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour("sign"))
        painter.drawRoundedRect(QRectF(0, 0, size_px, size_px), size_px * 0.22, size_px * 0.22)
        margin, glow = size_px * 0.14, theme().colour("glow")
        paint_icon(painter, "lantern", QRectF(margin, margin, size_px - 2 * margin, size_px - 2 * margin), glow)
        painter.end()
        made.addPixmap(tile)
    return made
