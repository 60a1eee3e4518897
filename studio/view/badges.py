"""The state of a place or a run as a small shape: told by form and by colour, so that neither is needed alone."""

from __future__ import annotations

import math
from typing import assert_never

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from studio.core.text import tr
from studio.view.theme import theme
from studio.view.workspace import PageStatus


def status_words(status: PageStatus) -> str:
    """The shape in words, for tooltips and screen readers."""
    match status:
        case PageStatus.NOTHING:
            return tr("nothing yet")
        case PageStatus.READY:
            return tr("ready")
        case PageStatus.BUSY:
            return tr("working")
        case PageStatus.WARNING:
            return tr("warning")
        case PageStatus.ERROR:
            return tr("error")
    assert_never(status)


def paint_status(painter: QPainter, status: PageStatus, area: QRectF) -> None:
    """An empty ring, a disc with a tick, a half-filled disc, a triangle or an octagon, within `area`."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    inner = area.adjusted(1, 1, -1, -1)
    match status:
        case PageStatus.NOTHING:
            painter.setPen(QPen(theme().colour("faint"), 1.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(inner.adjusted(2, 2, -2, -2))
        case PageStatus.READY:
            _disc(painter, inner, theme().colour("good"))
            _stroke(painter, inner, [(0.27, 0.53), (0.43, 0.69), (0.74, 0.34)])
        case PageStatus.BUSY:
            colour = theme().colour("accent")
            painter.setPen(QPen(colour, 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(inner)
            painter.setBrush(colour)
            painter.drawPie(inner, 90 * 16, -180 * 16)
        case PageStatus.WARNING:
            triangle = [QPointF(0.5, 0.02), QPointF(1.0, 0.94), QPointF(0.0, 0.94)]
            _polygon(painter, inner, triangle, theme().colour("warning"))
            _mark(painter, inner, 0.36, 0.62, 0.78)
        case PageStatus.ERROR:
            turns = [(n + 0.5) * math.pi / 4 for n in range(8)]
            octagon = [QPointF(0.5 + 0.54 * math.cos(a), 0.5 + 0.54 * math.sin(a)) for a in turns]
            _polygon(painter, inner, octagon, theme().colour("error"))
            _stroke(painter, inner, [(0.33, 0.33), (0.67, 0.67)])
            _stroke(painter, inner, [(0.67, 0.33), (0.33, 0.67)])
        case _:
            assert_never(status)
    painter.restore()


def _disc(painter: QPainter, area: QRectF, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(area)


def _polygon(painter: QPainter, area: QRectF, corners: list[QPointF], colour: QColor) -> None:
    pen = QPen(colour, 1.2)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF([_at(area, corner.x(), corner.y()) for corner in corners]))


def _stroke(painter: QPainter, area: QRectF, points: list[tuple[float, float]]) -> None:
    pen = QPen(theme().colour("surface"), max(1.5, area.width() / 8))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF([_at(area, x, y) for x, y in points]))


def _mark(painter: QPainter, area: QRectF, top: float, bottom: float, dot: float) -> None:
    """An exclamation mark."""
    _stroke(painter, area, [(0.5, top), (0.5, bottom)])
    _stroke(painter, area, [(0.5, dot), (0.5, dot + 0.01)])


def _at(area: QRectF, x: float, y: float) -> QPointF:
    return QPointF(area.x() + x * area.width(), area.y() + y * area.height())


class StatusBadge(QWidget):
    """A status as a widget of its own, as high as the text beside it."""

    def __init__(self, status: PageStatus = PageStatus.NOTHING) -> None:
        super().__init__()
        self._status = status
        size = max(14, self.fontMetrics().ascent() + 2)
        self.setFixedSize(size, size)
        theme().changed.connect(self.update)
        self.show_status(status)

    @property
    def status(self) -> PageStatus:
        return self._status

    def show_status(self, status: PageStatus) -> None:
        self._status = status
        self.setAccessibleName(status_words(status))
        self.update()

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        paint_status(painter, self._status, QRectF(self.rect()))
        painter.end()
