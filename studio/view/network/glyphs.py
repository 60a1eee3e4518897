"""Small drawn signs of the groups of blocks: a shape and a colour for each, so that neither has to be told alone."""

from __future__ import annotations

from typing import assert_never

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap

from studio.core.blocks import Group
from studio.view.theme import theme

Sign = Group | None
"""None stands for what is no block, or a block that this version does not know."""


def sign_colour(sign: Sign) -> QColor:
    """The group's colour in the present mode."""
    match sign:
        case Group.CONVOLUTION:
            return theme().series(0)
        case Group.POOLING:
            return theme().series(2)
        case Group.NORMALISATION:
            return theme().series(3)
        case Group.ACTIVATION:
            return theme().series(1)
        case Group.DENSE:
            return theme().series(6)
        case Group.COMPOSITE:
            return theme().series(5)
        case Group.RECURRENT:
            return theme().series(7)
        case Group.ATTENTION:
            return theme().series(3)
        case Group.MERGING:
            return theme().series(4)
        case None:
            return theme().colour("muted")
    assert_never(sign)


def paint_sign(painter: QPainter, place: QRectF, sign: Sign) -> None:
    """The group's sign in `place`, a square."""
    colour = sign_colour(sign)
    soft = QColor(colour)
    soft.setAlphaF(0.16)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(soft)
    painter.drawRoundedRect(place, place.width() * 0.24, place.width() * 0.24)
    side = place.width() * 0.52
    painter.translate(place.center() - QPointF(side / 2, side / 2))
    pen = QPen(colour, max(1.4, place.width() * 0.065))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(_path(sign, side))
    painter.restore()


def _path(sign: Sign, side: float) -> QPainterPath:
    path = QPainterPath()
    match sign:
        case Group.CONVOLUTION:  # a window that slides over a picture
            path.addRect(QRectF(0, 0, side, side))
            path.addRect(QRectF(0, 0, side * 0.55, side * 0.55))
        case Group.POOLING:  # much becomes little
            _lines(path, side, [(0, 0.1), (1, 0.1), (0.5, 0.95), (0, 0.1)])
        case Group.NORMALISATION:  # a bell curve
            path.moveTo(0, side * 0.9)
            path.cubicTo(side * 0.42, side * 0.9, side * 0.3, side * 0.1, side * 0.5, side * 0.1)
            path.cubicTo(side * 0.7, side * 0.1, side * 0.58, side * 0.9, side, side * 0.9)
        case Group.ACTIVATION:  # the bend of a ReLU
            _lines(path, side, [(0, 0.8), (0.48, 0.8), (1, 0.12)])
        case Group.DENSE:  # everything with everything
            for start in (0.12, 0.88):
                for end in (0.12, 0.88):
                    _lines(path, side, [(0, start), (1, end)])
        case Group.COMPOSITE:  # a stage with a way around it
            path.addRect(QRectF(side * 0.3, side * 0.45, side * 0.4, side * 0.5))
            _lines(path, side, [(0, 0.7), (0.3, 0.7)])
            _lines(path, side, [(0.7, 0.7), (1, 0.7)])
            path.moveTo(side * 0.08, side * 0.7)
            path.cubicTo(side * 0.1, side * -0.08, side * 0.9, side * -0.08, side * 0.92, side * 0.7)
        case Group.RECURRENT:  # round and round
            path.arcMoveTo(QRectF(side * 0.05, side * 0.05, side * 0.9, side * 0.9), 40)
            path.arcTo(QRectF(side * 0.05, side * 0.05, side * 0.9, side * 0.9), 40, 290)
            _lines(path, side, [(0.62, 0.2), (0.86, 0.24), (0.92, 0.0)])
        case Group.ATTENTION:  # one looks at all
            for end in (0.08, 0.5, 0.92):
                _lines(path, side, [(0.5, 0.92), (end, 0.3)])
                path.addEllipse(QPointF(side * end, side * 0.16), side * 0.1, side * 0.1)
        case Group.MERGING:
            _lines(path, side, [(0, 0.05), (0.5, 0.5), (1, 0.5)])
            _lines(path, side, [(0, 0.95), (0.5, 0.5)])
        case None:  # a picture in its frame
            path.addRect(QRectF(0, side * 0.08, side, side * 0.84))
            _lines(path, side, [(0, 0.78), (0.35, 0.45), (0.6, 0.7), (0.76, 0.55), (1, 0.8)])
    return path


def _lines(path: QPainterPath, side: float, points: list[tuple[float, float]]) -> None:
    path.moveTo(points[0][0] * side, points[0][1] * side)
    for x, y in points[1:]:
        path.lineTo(x * side, y * side)


def sign_icon(sign: Sign, side_px: int, scale: float = 2.0) -> QIcon:
    """The sign as an icon of `side_px` logical pixels, drawn at `scale` for sharp screens."""
    pixmap = QPixmap(QSize(round(side_px * scale), round(side_px * scale)))
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_sign(painter, QRectF(0, 0, side_px, side_px), sign)
    painter.end()
    return QIcon(pixmap)
