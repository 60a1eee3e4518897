"""The names of a plot's curves with their newest values, which also are its legend."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from studio.view.plots.curves import Curve, Style
from studio.view.theme import set_role, theme

_SWATCH_PX = QSize(20, 14)
_GAP_PX = 6


class Swatch(QWidget):
    """A small piece of a curve, drawn as it is drawn in the plot: told apart by its form and not only its colour."""

    def __init__(self, colour: int, style: Style) -> None:
        super().__init__()
        self._colour, self._style = colour, style
        self.setFixedSize(_SWATCH_PX)
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, middle = theme().series(self._colour), self.height() / 2
        if self._style == "area":
            painter.setBrush(colour)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(QRectF(3, 1, self.width() - 6, self.height() - 2), 3, 3)
            return
        pattern = Qt.PenStyle.DashLine if self._style == "dashed" else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 2, pattern))
        painter.drawLine(QPointF(0, middle), QPointF(self.width(), middle))
        if self._style == "points":
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(self.width() / 2, middle), 4, 4)


class LegendEntry(QWidget):
    """Swatch, name and newest value of one curve."""

    def __init__(self, curve: Curve, *, has_name: bool = True) -> None:
        super().__init__()
        self._has_name = has_name
        self.name = QLabel(curve.label)
        set_role(self.name, "muted")
        # The last letter may reach past its advance.
        self.name.setContentsMargins(0, 0, 2, 0)
        self.setToolTip(curve.label)
        self.value = QLabel("")
        self.value.setTextFormat(Qt.TextFormat.PlainText)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, theme().space_px, 0)
        row.setSpacing(_GAP_PX)
        row.addWidget(Swatch(curve.colour, curve.style))
        row.addWidget(self.name)
        row.addWidget(self.value)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.name.setVisible(has_name)
        self.setVisible(False)

    @property
    def full_name_px(self) -> int:
        """The width that the name takes where it is shown."""
        return self.name.sizeHint().width() + _GAP_PX if self._has_name and not self.isHidden() else 0

    @property
    def name_px(self) -> int:
        """The width that the name takes now."""
        return 0 if self.name.isHidden() else self.full_name_px

    def show_name(self, has_room: bool) -> None:
        """Show the name if there is room for it; it stays in the tooltip."""
        self.name.setVisible(has_room and self._has_name)

    def show_value(self, text: str) -> None:
        """Show the newest value; an entry without one is hidden, as its curve is.

        It keeps the room of the widest value so far, so that the names stand still while numbers change.
        """
        self.value.setText(text)
        self.value.setMinimumWidth(max(self.value.minimumWidth(), self.value.sizeHint().width()))
        self.setVisible(bool(text))
