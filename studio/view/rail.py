"""The rail on the left: the six places in the order of the work, each with the state that it is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QVBoxLayout

from studio.core.text import tr
from studio.view.badges import paint_status, status_words
from studio.view.icons import paint_icon
from studio.view.places import Place
from studio.view.theme import theme
from studio.view.window import RAIL_PX
from studio.view.workspace import PageStatus

_ICON_PX = 26
_BADGE_PX = 15
_PADDING_PX = 10


class RailButton(QAbstractButton):
    """One place: icon, name and, at the icon's corner, the shape of its state."""

    def __init__(self, place: Place, number: int) -> None:
        super().__init__()
        self.place = place
        self._number = number
        self._status = PageStatus.NOTHING
        self.setText(tr(place.label))
        self.setObjectName(f"rail.{place.id}")
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_status(PageStatus.NOTHING, "")

    @property
    def status(self) -> PageStatus:
        return self._status

    def show_status(self, status: PageStatus, sentence: str) -> None:
        self._status = status
        state = sentence or status_words(status)
        self.setAccessibleName(self.text())
        self.setAccessibleDescription(f"{status_words(status)}. {sentence}" if sentence else status_words(status))
        self.setToolTip(f"{tr(self.place.help)}\n{state}\nCtrl+{self._number}")
        self.update()

    def sizeHint(self) -> QSize:
        text = self.fontMetrics()
        width = max(RAIL_PX, text.horizontalAdvance(self.text()) + 2 * _PADDING_PX)
        return QSize(width, _ICON_PX + text.height() + 2 * _PADDING_PX + 6)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(6, 3, -6, -3)
        self._paint_ground(painter, area)
        chosen = self.isChecked()
        colour = theme().colour("accent" if chosen else "muted")
        middle = area.center().x()
        sign = QRectF(middle - _ICON_PX / 2, area.y() + _PADDING_PX - 2, _ICON_PX, _ICON_PX)
        paint_icon(painter, self.place.icon, sign, colour)
        badge = QRectF(sign.right() + 2, sign.top() - 4, _BADGE_PX, _BADGE_PX)
        paint_status(painter, self._status, badge)
        font = self.font()
        font.setBold(chosen)
        painter.setFont(font)
        painter.setPen(theme().colour("text" if chosen else "muted"))
        words = QRectF(self.rect())
        words.setTop(sign.bottom() + 2)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop), self.text())
        painter.end()

    def _paint_ground(self, painter: QPainter, area: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        if self.isChecked():
            painter.setBrush(theme().colour("accent_soft"))
            painter.drawRoundedRect(area, 8, 8)
            painter.setBrush(theme().colour("accent"))
            painter.drawRoundedRect(QRectF(0, area.y() + 8, 3, area.height() - 16), 1.5, 1.5)
        elif self.underMouse():
            painter.setBrush(theme().colour("raised"))
            painter.drawRoundedRect(area, 8, 8)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme().colour("accent"), 2))
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 8, 8)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()


class Rail(QFrame):
    """The places in a column. `wanted(id)` follows a click or a key."""

    wanted = Signal(str)

    def __init__(self, places: Sequence[Place]) -> None:
        super().__init__()
        self.setProperty("role", "rail")
        self.setObjectName("rail")
        self.setAccessibleName(tr("Places"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        group = QButtonGroup(self)
        made: dict[str, RailButton] = {}
        for number, place in enumerate(places, start=1):
            button = RailButton(place, number)
            button.clicked.connect(lambda _checked=False, name=place.id: self.wanted.emit(name))
            group.addButton(button)
            column.addWidget(button)
            made[place.id] = button
        column.addStretch(1)
        self.buttons: Mapping[str, RailButton] = made
        theme().changed.connect(self._repaint)

    def choose(self, id: str) -> None:
        """Show that the window is at this place; the keyboard goes there too where it was in the rail."""
        self.buttons[id].setChecked(True)
        if any(button.hasFocus() for button in self.buttons.values()):
            self.buttons[id].setFocus()

    def show_status(self, id: str, status: PageStatus, sentence: str) -> None:
        self.buttons[id].show_status(status, sentence)

    def _repaint(self) -> None:
        for button in self.buttons.values():
            button.update()
