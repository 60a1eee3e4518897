"""A read-only picture of the network: each feature map as a slab, as wide as the map and as thick as its channels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QScrollArea, QToolTip, QWidget

from studio.core.blocks import Shape, shape_text
from studio.core.check import Report
from studio.core.project import Project
from studio.core.text import tr
from studio.view.network.glyphs import Sign, sign_colour
from studio.view.network.rows import INPUT, OUTPUT
from studio.view.network.wording import block_label, spec_of
from studio.view.theme import theme

# Proportions of a drawing at its natural size, in pixels.
_GAP_PX = 5
_SLANT = 0.36
_DEPTH_SHARE = 0.3
_THINNEST_PX, _THICKEST_PX = 5.0, 26.0
_PLATE_PX = 4.0
_FLAT_PX = 9.0
_THICKEST_LOG2 = 11


@dataclass(frozen=True, slots=True)
class Slab:
    """One thing of the drawing. A plate is a block that leaves the shape as it is; `label` stands under a slab."""

    id: str
    tip: str
    sign: Sign
    label: str
    width: float
    depth: float
    thickness: float
    is_broken: bool = False

    @property
    def height(self) -> float:
        return self.thickness + self.depth


def slabs_of(project: Project, report: Report, width: float) -> list[Slab]:
    """The drawing from input to the last block; `width` is what the widest map may take, in pixels."""
    picture = project.preprocessing.shape
    known = [report_.output_shape for report_ in report.blocks if report_.output_shape]
    widest = max([max(shape[1:]) for shape in (picture, *known) if len(shape) == 3])
    slabs = [_slab(INPUT, tr("Input"), None, picture, widest=widest, width=width)]
    before: Shape | None = picture
    for block, measured in zip(project.network.blocks, report.blocks, strict=True):
        spec = spec_of(block.kind)
        sign = spec.group if spec else None
        shape, name = measured.output_shape, block_label(block.kind)
        if shape is None:
            # What follows a broken block is not broken itself: its shape is only not known yet.
            is_broken = bool(measured.problems)
            label = "?" if is_broken else ""
            slabs.append(Slab(block.id, name, sign, label, width * 0.4, 0, _PLATE_PX * 2, is_broken=is_broken))
        elif shape == before:
            last = slabs[-1]
            slabs.append(Slab(block.id, name, sign, "", last.width, min(last.depth, _PLATE_PX), _PLATE_PX))
        else:
            slabs.append(_slab(block.id, name, sign, shape, widest=widest, width=width))
        before = shape if shape is not None else before
    return slabs


def _slab(id: str, name: str, sign: Sign, shape: Shape, *, widest: int, width: float) -> Slab:
    label = shape_text(shape)
    if len(shape) != 3:
        # A row of values: as wide as its logarithm, so that 10 and 10,000 can both be seen.
        share = min(1.0, (1 + math.log2(max(1, shape[0]))) / 14)
        return Slab(id, f"{name}: {label}", sign, label, max(12.0, width * share), 0, _FLAT_PX)
    share = math.log2(shape[0] + 1) / _THICKEST_LOG2
    thickness = _THINNEST_PX + (_THICKEST_PX - _THINNEST_PX) * min(1.0, share)
    map_width = max(10.0, width * math.sqrt(max(shape[1:]) / widest))
    return Slab(id, f"{name}: {label}", sign, label, map_width, map_width * _DEPTH_SHARE, thickness)


class Drawing(QWidget):
    """Paints the slabs; a click on one asks for its block by `chosen(id)`."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._project, self._report = Project(), Report((), 0, 0, None, ())
        self._selected: frozenset[str] = frozenset()
        self.setAccessibleName(tr("Drawing of the network"))
        self.setAccessibleDescription(tr("The same blocks as in the list, which can be read and changed there."))
        theme().changed.connect(self.update)

    def show_network(self, project: Project, report: Report) -> None:
        self._project, self._report = project, report
        self._fit()

    def show_selected(self, ids: tuple[str, ...]) -> None:
        self._selected = frozenset(ids)
        self.update()

    def _fit(self) -> None:
        places = self.places()
        bottom = places[-1][1].bottom() if places else 0
        self.setMinimumHeight(round(bottom + self._label_px() + 12))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(150, 300)

    def _label_px(self) -> int:
        return QFontMetrics(theme().font("small_text")).height()

    def places(self) -> list[tuple[Slab, QRectF]]:
        """Each slab with its bounding rectangle, centred in the widget."""
        room = max(40.0, (self.width() - 16) / (1 + _DEPTH_SHARE * _SLANT))
        top, places = 6.0, []
        for slab in slabs_of(self._project, self._report, room):
            whole = slab.width + slab.depth * _SLANT
            places.append((slab, QRectF((self.width() - whole) / 2, top, whole, slab.height)))
            top += slab.height + _GAP_PX + (self._label_px() + 2 if slab.label else 0)
        return places

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme().font("small_text"))
        for slab, place in self.places():
            if place.bottom() + self._label_px() + 4 < event.rect().top() or place.top() > event.rect().bottom():
                continue
            self._paint_slab(painter, slab, place)

    def _paint_slab(self, painter: QPainter, slab: Slab, place: QRectF) -> None:
        is_selected = slab.id in self._selected
        colour = theme().colour("error") if slab.is_broken else sign_colour(slab.sign)
        edge = QPen(theme().colour("accent" if is_selected else "surface"), 2 if is_selected else 1)
        painter.setPen(edge)
        shift = slab.depth * _SLANT
        front = QRectF(place.left(), place.top() + slab.depth, slab.width, slab.thickness)
        if slab.depth:
            back = QPointF(shift, -slab.depth)
            corners = front.topLeft(), front.topRight(), front.bottomRight()
            painter.setBrush(_shade(colour, 125))
            painter.drawPolygon(QPolygonF([corners[0], corners[1], corners[1] + back, corners[0] + back]))
            painter.setBrush(_shade(colour, 75))
            painter.drawPolygon(QPolygonF([corners[1], corners[2], corners[2] + back, corners[1] + back]))
        painter.setBrush(colour)
        painter.drawRect(front)
        if slab.label:
            painter.setPen(theme().colour("error" if slab.is_broken else "text" if is_selected else "muted"))
            below = QRectF(0, place.bottom() + 1, self.width(), self._label_px())
            painter.drawText(below, int(Qt.AlignmentFlag.AlignCenter), slab.label)

    def slab_at(self, position: QPointF) -> Slab | None:
        return next((slab for slab, place in self.places() if place.adjusted(-4, -2, 4, 3).contains(position)), None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        slab = self.slab_at(event.position())
        if slab is not None:
            self.chosen.emit(slab.id)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            slab = self.slab_at(QPointF(event.pos()))
            words = slab.tip if slab else tr("Wide means large maps, thick means many channels. Click to select.")
            QToolTip.showText(event.globalPos(), words, self)
            return True
        return super().event(event)


def _shade(colour: QColor, percent: int) -> QColor:
    return colour.lighter(percent) if percent >= 100 else colour.darker(round(10_000 / percent))


class DrawingPanel(QScrollArea):
    """The drawing, scrolled where it is taller than the panel."""

    def __init__(self) -> None:
        super().__init__()
        self.drawing = Drawing()
        self.setWidget(self.drawing)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setObjectName("network.drawing")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(130)

    def show_selected(self, ids: tuple[str, ...]) -> None:
        """Mark these blocks and bring the first into view."""
        self.drawing.show_selected(ids)
        place = next((place for slab, place in self.drawing.places() if slab.id in ids), None)
        if place is not None and OUTPUT not in ids:
            self.ensureVisible(round(place.center().x()), round(place.center().y()), 0, 60)
