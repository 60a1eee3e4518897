"""Widgets side by side where they fit, and in more rows where they do not."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from studio.view.theme import theme


class Reflow(QWidget):
    """Shows `widgets` in as many columns as fit, one of `columns`, most first."""

    def __init__(self, widgets: Sequence[QWidget], columns: Sequence[int]) -> None:
        super().__init__()
        self._widgets, self._choices = tuple(widgets), tuple(columns)
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme().space_px)
        self._arrange(self._choices[0])

    @property
    def columns(self) -> int:
        """In how many columns they stand."""
        return self._columns

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = event.size().width()
        self._arrange(next((n for n in self._choices if self._needed_px(n) <= width), self._choices[-1]))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._needed_px(self._choices[-1]), super().minimumSizeHint().height())

    def _needed_px(self, columns: int) -> int:
        widest = max(widget.minimumSizeHint().width() for widget in self._widgets)
        return columns * widest + (columns - 1) * self._grid.spacing()

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for number, widget in enumerate(self._widgets):
            self._grid.addWidget(widget, number // columns, number % columns)
        for column in range(len(self._widgets)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self.updateGeometry()
