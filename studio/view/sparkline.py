"""A small curve of the last minutes beside a number, drawn without any plotting library."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from studio.view.theme import theme

_KEPT = 120


class Sparkline(QWidget):
    """The newest values against a fixed top, in one colour of the series."""

    def __init__(self, series: int) -> None:
        super().__init__()
        self._series = series
        self._values: deque[float] = deque(maxlen=_KEPT)
        self._top = 1.0
        self.setFixedSize(self.sizeHint())
        theme().changed.connect(self.update)

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(self._values)

    def sizeHint(self) -> QSize:
        return QSize(64, 26)

    def add(self, value: float, top: float) -> None:
        """Append a value; `top` is the value at the upper edge."""
        self._values.append(value)
        self._top = max(top, 1e-9)
        self.update()

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(theme().colour("line"), 1))
        painter.setBrush(theme().colour("surface"))
        painter.drawRoundedRect(area, 4, 4)
        if len(self._values) > 1:
            self._paint_curve(painter, area.adjusted(2, 3, -2, -2))
        painter.end()

    def _paint_curve(self, painter: QPainter, area: QRectF) -> None:
        step = area.width() / (_KEPT - 1)
        first = area.right() - step * (len(self._values) - 1)
        points = [
            QPointF(first + step * n, area.bottom() - area.height() * min(1.0, max(0.0, value / self._top)))
            for n, value in enumerate(self._values)
        ]
        line = QPainterPath(points[0])
        for point in points[1:]:
            line.lineTo(point)
        ground = QPainterPath(line)
        ground.lineTo(points[-1].x(), area.bottom())
        ground.lineTo(points[0].x(), area.bottom())
        colour = theme().series(self._series)
        soft = theme().series(self._series)
        soft.setAlphaF(0.22)
        painter.fillPath(ground, soft)
        painter.setPen(QPen(colour, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(line)
