"""Paints one row of the network: sign, name, settings, shape, parameters, share of memory, trouble and its fix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from studio.core.quantities import share_text
from studio.core.text import tr
from studio.view.network.glyphs import paint_sign, sign_colour
from studio.view.network.model import ROW_ROLE
from studio.view.network.rows import Row
from studio.view.network.wording import parameters_text
from studio.view.theme import theme

Index = QModelIndex | QPersistentModelIndex
_WRAPPED = int(Qt.TextFlag.TextWordWrap) | int(Qt.AlignmentFlag.AlignLeft) | int(Qt.AlignmentFlag.AlignTop)
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
PAD_PX = 10
GAP_PX = 4
_BAR_PX = 56
# A list with less room than this many characters leaves the bar out, so that names stay whole.
_WIDE_CHARACTERS = 58


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a row are, in the view's pixels; empty rectangles are not painted."""

    card: QRect
    sign: QRect
    title: QRect
    details: QRect
    shape: QRect
    parameters: QRect
    bar: QRect
    trouble: QRect
    link: QRect


class RowDelegate(QStyledItemDelegate):
    """Paints rows and reports clicks on the link inside of one by `link_clicked(row)`."""

    link_clicked = Signal(object)

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        width = self._view.viewport().width()
        return QSize(width, card_height(index.data(ROW_ROLE), width) + GAP_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW_ROLE)
        rect = option.rect
        state = option.state
        where = layout_of(row, rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _paint_thread(painter, where, index.row() == 0, index.row() == index.model().rowCount() - 1)
        has_focus = bool(state & QStyle.StateFlag.State_HasFocus) and self._view.hasFocus()
        _paint_card(painter, where.card, row, bool(state & QStyle.StateFlag.State_Selected), has_focus)
        paint_sign(painter, QRectF(where.sign), row.group)
        _paint_words(painter, where, row)
        _paint_share(painter, where.bar, row)
        if row.problems:
            _paint_text(painter, where.trouble, row.trouble, font=small_font(), colour="error", flags=_WRAPPED)
        if row.link:
            _paint_link(painter, where.link, row.link)
        painter.restore()

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        if event.type() == QEvent.Type.MouseButtonRelease:
            row: Row = index.data(ROW_ROLE)
            rect = option.rect
            if row.link and layout_of(row, rect).link.contains(cast(QMouseEvent, event).position().toPoint()):
                self.link_clicked.emit(row)
                return True
        return super().editorEvent(event, model, option, index)

    def is_on_link(self, row: Row, rect: QRect, event: QMouseEvent) -> bool:
        """Whether the mouse is over the row's link."""
        return bool(row.link) and layout_of(row, rect).link.contains(event.position().toPoint())


def small_font() -> QFont:
    return theme().font("small_text")


def title_font() -> QFont:
    font = theme().font()
    font.setWeight(QFont.Weight.DemiBold)
    return font


def card_height(row: Row, width: int) -> int:
    """The height of a row's card in a list of this width; all rows without trouble have the same."""
    if row.problems:
        return layout_of(row, QRect(0, 0, width, 0)).card.height()
    return 2 * PAD_PX + QFontMetrics(title_font()).height() + QFontMetrics(small_font()).height()


def layout_of(row: Row, rect: QRect) -> Layout:
    """The places of the parts in a row that starts at `rect`'s top left and has its width."""
    title, small = QFontMetrics(title_font()), QFontMetrics(small_font())
    left, top, width = rect.left() + 2, rect.top(), rect.width() - 4
    side = title.height() + small.height()
    text_left, right = left + PAD_PX + side + PAD_PX, left + width - PAD_PX
    is_wide = width >= _WIDE_CHARACTERS * title.averageCharWidth()
    bar_px = _BAR_PX + small.horizontalAdvance("99.9%") + 6 if is_wide and row.share is not None else 0
    bar = QRect(right - bar_px, top + PAD_PX, bar_px, side)
    numbers_right = right - (_BAR_PX + small.horizontalAdvance("99.9%") + 6 + PAD_PX if is_wide else 0)
    if row.part != "block":
        numbers_right = right
    # A row that has one line only has it in the middle.
    is_single = not row.details and not row.parameters and not row.is_frozen
    first = top + PAD_PX + (small.height() // 2 if is_single else 0)
    second = top + PAD_PX + title.height()
    shape_px = title.horizontalAdvance(row.shape) if row.part == "block" else 0
    parameters_px = small.horizontalAdvance(parameters_text(row.parameters))
    is_beside = row.link and not row.problems
    link_px = small.horizontalAdvance(row.link) + 20 if row.link else 0
    taken = PAD_PX + max(shape_px, link_px if is_beside else 0)
    title_rect = QRect(text_left, first, max(0, numbers_right - taken - text_left), title.height())
    details = QRect(
        text_left,
        second,
        max(0, numbers_right - PAD_PX - max(parameters_px, link_px if is_beside else 0) - text_left),
        small.height(),
    )
    bottom, link, trouble = second + small.height(), QRect(), QRect()
    if row.problems:
        words = small.boundingRect(QRect(0, 0, right - text_left, 10_000), _WRAPPED, row.trouble)
        trouble = QRect(text_left, bottom + 4, right - text_left, words.height())
        bottom = trouble.bottom() + 1
    link_height = small.height() + 8
    if is_beside:
        link = QRect(right - link_px, top + PAD_PX + (side - link_height) // 2, link_px, link_height)
    elif row.link:
        link = QRect(text_left, bottom + 6, min(link_px, right - text_left), link_height)
        bottom = link.bottom() + 1
    return Layout(
        card=QRect(left, top, width, bottom + PAD_PX - top),
        sign=QRect(left + PAD_PX, top + PAD_PX, side, side),
        title=title_rect,
        details=details,
        shape=QRect(numbers_right - shape_px, first, shape_px, title.height()),
        parameters=QRect(numbers_right - parameters_px, second, parameters_px, small.height()),
        bar=bar,
        trouble=trouble,
        link=link,
    )


def _paint_thread(painter: QPainter, where: Layout, is_first: bool, is_last: bool) -> None:
    """The line along which pictures go through the network, behind the signs."""
    x, middle = where.sign.center().x(), where.sign.center().y()
    painter.setPen(QPen(theme().colour("line"), 2))
    painter.drawLine(x, middle if is_first else where.card.top() - GAP_PX, x, middle)
    if not is_last:
        painter.drawLine(x, middle, x, where.card.bottom() + GAP_PX)


def _paint_card(painter: QPainter, card: QRect, row: Row, is_selected: bool, has_focus: bool) -> None:
    fill = theme().colour("selection" if is_selected else "error_soft" if row.problems else "raised")
    if row.part != "block" and not is_selected and not row.problems:
        fill = theme().colour("sunken")
    edge = theme().colour("error" if row.problems else "accent" if is_selected else "line")
    painter.setBrush(fill)
    painter.setPen(QPen(theme().colour("accent") if has_focus else edge, 2 if has_focus else 1))
    painter.drawRoundedRect(QRectF(card).adjusted(1, 1, -1, -1), 8, 8)


def _paint_words(painter: QPainter, where: Layout, row: Row) -> None:
    details = ", ".join(part for part in (row.details, tr("frozen") if row.is_frozen else "") if part)
    _paint_text(painter, where.title, row.title, font=title_font(), colour="text")
    _paint_text(painter, where.details, details, font=small_font(), colour="muted")
    if row.part == "block":
        _paint_text(painter, where.shape, row.shape, font=theme().font(), colour="text", flags=int(_RIGHT))
        _paint_text(
            painter,
            where.parameters,
            parameters_text(row.parameters),
            font=small_font(),
            colour="muted",
            flags=int(_RIGHT),
        )


def _paint_text(
    painter: QPainter, place: QRect, text: str, *, font: QFont, colour: str, flags: int = int(_LEFT)
) -> None:
    if not text or place.width() <= 0:
        return
    painter.setFont(font)
    painter.setPen(theme().colour(colour))
    if flags == int(_LEFT):
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width())
    painter.drawText(place, flags, text)


def _paint_share(painter: QPainter, place: QRect, row: Row) -> None:
    """How much of the training memory the block takes: a bar and its number."""
    if place.width() <= 0 or row.share is None:
        return
    track = QRectF(place.left(), place.center().y() - 3, _BAR_PX, 6)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().colour("grid"))
    painter.drawRoundedRect(track, 3, 3)
    filled = QRectF(track)
    filled.setWidth(max(3.0, track.width() * row.share) if row.share > 0.001 else 0.0)
    painter.setBrush(QColor(sign_colour(row.group)))
    painter.drawRoundedRect(filled, 3, 3)
    number = QRect(place.left() + _BAR_PX + 4, place.top(), place.width() - _BAR_PX - 4, place.height())
    _paint_text(painter, number, share_text(row.share), font=small_font(), colour="muted", flags=int(_RIGHT))


def _paint_link(painter: QPainter, place: QRect, text: str) -> None:
    painter.setBrush(theme().colour("surface"))
    painter.setPen(QPen(theme().colour("accent"), 1))
    painter.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    painter.setFont(small_font())
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width() - 12)
    painter.drawText(place, int(Qt.AlignmentFlag.AlignCenter), shown)
