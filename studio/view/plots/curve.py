"""A live plot: title, legend, curves, hover values, zoom, log scale, and export as a picture or as numbers.

It draws at most ten times a second, only what is new, and nothing at all while it is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.core.series import Series
from studio.core.text import tr
from studio.view.plots.bubble import Bubble
from studio.view.plots.curves import Curve, CurveMemory, text_of
from studio.view.plots.export import write_csv, write_png
from studio.view.plots.graph import AxisSpec, Graph
from studio.view.plots.legend import LegendEntry
from studio.view.plots.tools import PlotTools
from studio.view.theme import set_role, theme

DRAW_MS = 100
# Plots of one page draw in different turns of the event loop, so that no turn is long.
_APART_MS = 9
_turns = cycle(range(4))
_ZOOM_FACTOR = 0.5


class CurvePlot(QWidget):
    """Curves over one x. Give it whole series; it takes in what is new. Marks (epochs) are named by `marks_name`.

    `picked(x)` follows a click into the plot or Enter on the cursor, where `can_pick`. Keyboard: left and right move
    the cursor along the points, + and - zoom, Home shows all, Escape hides the cursor.
    """

    picked = Signal(float)

    def __init__(
        self,
        title: str,
        curves: Sequence[Curve],
        x: AxisSpec,
        y: AxisSpec,
        *,
        help: str,
        x_name: str,
        marks_name: str = "",
        can_log: bool = False,
        can_pick: bool = False,
        has_legend: bool = True,
    ) -> None:
        super().__init__()
        self.title, self.curves, self.x_name = title, tuple(curves), x_name
        self._x, self._y, self._marks_name, self._can_pick = x, y, marks_name, can_pick
        self._memories = {curve.id: CurveMemory() for curve in curves}
        self._given = {curve.id: Series() for curve in curves}
        self._marks: tuple[tuple[float, str], ...] = ()
        self._pins: tuple[tuple[float, str], ...] = ()
        self._x_end: float | None = None
        self._weight = 0.0
        self._cursor_x: float | None = None
        self._is_dirty = False
        self._pressed_at = QPointF()
        self.graph: Graph | None = None
        self.drawn_count = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._draw_ms = DRAW_MS + _APART_MS * next(_turns)
        self._timer.setInterval(self._draw_ms)
        self._timer.timeout.connect(self.draw)
        self.setAccessibleName(title)
        self.setToolTip(help)
        self._build(can_log, has_legend)
        theme().changed.connect(self._on_theme)

    def _build(self, can_log: bool, has_legend: bool) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(8)
        heading = QLabel(self.title)
        set_role(heading, "heading")
        head.addWidget(heading)
        # A single curve is named by the title already.
        has_names = len(self.curves) > 1
        self.entries = {curve.id: LegendEntry(curve, has_name=has_names) for curve in self.curves if has_legend}
        for entry in self.entries.values():
            head.addWidget(entry)
        head.addStretch(1)
        self._tools = PlotTools(self.title, can_log=can_log)
        self._tools.all_wanted.connect(self.show_all)
        self._tools.log_toggled.connect(self.set_log)
        self._tools.export_wanted.connect(self._ask)
        head.addWidget(self._tools)
        column.addLayout(head)
        self.note = QLabel("")
        self.note.setWordWrap(True)
        self.note.setVisible(False)
        column.addWidget(self.note)
        self._stage = QVBoxLayout()
        column.addLayout(self._stage, 1)
        self._bubble = Bubble(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    # What is shown

    def show_series(self, **series: Series) -> None:
        """Show these curves from now on, by curve id; the others stay."""
        self._given.update(series)
        self._touch()

    def show_marks(self, marks: Iterable[tuple[float, str]]) -> None:
        """Mark these x with these names (epochs)."""
        new = tuple(marks)
        if new != self._marks:
            self._marks = new
            self._touch()

    def show_pins(self, pins: Iterable[tuple[float, str]]) -> None:
        """Mark moments that a person has chosen."""
        self._pins = tuple(pins)
        if self.graph is not None:
            self.graph.show_pins(self._pins)

    def show_end(self, x: float | None) -> None:
        """Where x will end, when that is known."""
        self._x_end = x

    def set_smoothing(self, weight: float) -> None:
        """Draw smoothed curves over faint raw ones; `weight` from 0 (off) to below 1."""
        if weight != self._weight:
            self._weight = weight
            self._touch()

    def set_log(self, is_log: bool) -> None:
        """Draw y on a logarithmic scale, or a plain one."""
        self._tools.log.setChecked(is_log)
        if self.graph is not None:
            self.graph.set_log(is_log)
        self._touch()

    @property
    def is_log(self) -> bool:
        return self._tools.log.isChecked()

    def show_all(self) -> None:
        """Leave the zoom."""
        if self.graph is not None:
            self.graph.is_zoomed = False
        self._tools.all.setVisible(False)
        self._touch()

    def latest_text(self) -> str:
        """The newest values with their names and units, for people who cannot see the curves."""
        parts = []
        for curve in self.curves:
            value = self._given[curve.id].last
            if value is not None:
                parts.append(tr("{name}: {value}", name=curve.label, value=text_of(value, self._y.text)))
        return "; ".join(parts) if parts else tr("No values yet.")

    # Drawing

    def _touch(self) -> None:
        self._is_dirty = True
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def minimumSizeHint(self) -> QSize:
        """Names of curves give way where the plot is narrow; their forms and values stay."""
        least = super().minimumSizeHint()
        return QSize(least.width() - sum(entry.name_px for entry in self.entries.values()), least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_names()

    def _fit_names(self) -> None:
        hidden_px = sum(entry.full_name_px - entry.name_px for entry in self.entries.values())
        has_room = super().minimumSizeHint().width() + hidden_px <= self.width()
        for entry in self.entries.values():
            entry.show_name(has_room)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_dirty or self.graph is None:
            self._is_dirty = True
            self._timer.start(0)

    def draw(self) -> None:
        """Draw now what is new; does nothing while hidden."""
        self._timer.setInterval(self._draw_ms)
        if not self.isVisible() or not self._is_dirty:
            return
        graph = self._ready_graph()
        self._is_dirty = False
        for name, memory in self._memories.items():
            memory.take(self._given[name], self._weight)
        graph.show_marks(self._marks)
        graph.draw(self._memories, self._weight, self._x_end)
        self.drawn_count += 1
        for curve in self.curves:
            value = self._given[curve.id].last
            if curve.id in self.entries:
                self.entries[curve.id].show_value("" if value is None else text_of(value, self._y.text))
        self._fit_names()
        self.setAccessibleDescription(self.latest_text())
        graph.widget.setAccessibleDescription(self.latest_text())
        self._say_odd()
        self._place_bubble()

    def _ready_graph(self) -> Graph:
        if self.graph is None:
            graph = self.graph = Graph(self.curves, self._x, self._y, marks_name=self._marks_name)
            graph.set_log(self.is_log)
            graph.show_pins(self._pins)
            graph.view.sigRangeChangedManually.connect(self._on_zoomed)
            graph.widget.setAccessibleName(self.title)
            graph.widget.setToolTip("")
            graph.widget.installEventFilter(self)
            viewport = graph.widget.viewport()
            viewport.installEventFilter(self)
            viewport.setMouseTracking(True)
            self._stage.addWidget(graph.widget)
            self._frame(False)
        return self.graph

    def _say_odd(self) -> None:
        odd = sum(memory.odd_count for memory in self._memories.values())
        if odd:
            set_role(self.note, "warning")
            self.note.setText(tr("Values that are not numbers (NaN or infinite) are left out: {n}.", n=odd))
        if odd or self.note.property("role") == "warning":
            self.note.setVisible(bool(odd))

    def _on_theme(self) -> None:
        if self.graph is not None:
            self.graph.use_colours()
            self.graph.show_pins(self._pins)
            self._frame(self.graph.widget.hasFocus())
            self._touch()

    def _frame(self, has_focus: bool) -> None:
        if self.graph is not None:
            colour = theme().colour("accent" if has_focus else "surface").name()
            self.graph.widget.setStyleSheet(f"border: 2px solid {colour}; border-radius: 4px;")

    # Cursor, zoom and keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        graph = self.graph
        if graph is None:
            return False
        match event.type():
            case QEvent.Type.FocusIn | QEvent.Type.FocusOut:
                self._frame(event.type() == QEvent.Type.FocusIn)
            case QEvent.Type.Leave:
                self.show_cursor(None)
            case QEvent.Type.MouseMove if isinstance(event, QMouseEvent):
                self.show_cursor(graph.x_at(event.position()))
            case QEvent.Type.MouseButtonPress if isinstance(event, QMouseEvent):
                self._pressed_at = event.position()
            case QEvent.Type.MouseButtonRelease if isinstance(event, QMouseEvent) and watched is not graph.widget:
                x = graph.x_at(event.position())
                is_click = (event.position() - self._pressed_at).manhattanLength() < QApplication.startDragDistance()
                if self._can_pick and x is not None and is_click and event.button() == Qt.MouseButton.LeftButton:
                    self.picked.emit(x)
            case QEvent.Type.KeyPress if isinstance(event, QKeyEvent) and watched is graph.widget:
                return self._on_key(event.key(), graph)
            case _:
                pass
        return False

    def _on_key(self, key: int, graph: Graph) -> bool:
        low, high = graph.window()
        middle = self._cursor_x if self._cursor_x is not None else (low + high) / 2
        match key:
            case Qt.Key.Key_Left | Qt.Key.Key_Right:
                start = self._cursor_x if self._cursor_x is not None else high
                self.show_cursor(self._next_x(start, -1 if key == Qt.Key.Key_Left else 1, graph))
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self._zoom_by(_ZOOM_FACTOR, middle, graph)
            case Qt.Key.Key_Minus:
                self._zoom_by(1 / _ZOOM_FACTOR, middle, graph)
            case Qt.Key.Key_Home:
                self.show_all()
            case Qt.Key.Key_Escape if self._cursor_x is not None:
                self.show_cursor(None)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self._can_pick and self._cursor_x is not None:
                self.picked.emit(self._cursor_x)
            case _:
                return False
        return True

    def _next_x(self, x: float, direction: int, graph: Graph) -> float:
        """The x of the next drawn point in a direction, over all curves."""
        others = [float(p) for curve in self.curves for p in graph.drawn(curve.id)[0] if (p - x) * direction > 1e-9]
        return (min(others) if direction > 0 else max(others)) if others else x

    def _zoom_by(self, factor: float, middle: float, graph: Graph) -> None:
        low, high = graph.window()
        half = (high - low) * factor / 2
        graph.zoom(middle - half, middle + half)
        self._on_zoomed()

    def _on_zoomed(self, *_: object) -> None:
        if self.graph is not None:
            self.graph.is_zoomed = True
            self._tools.all.setVisible(True)
            self._touch()

    def show_cursor(self, x: float | None) -> None:
        """Show the values at the points nearest to `x`, or no cursor."""
        self._cursor_x = x
        self._place_bubble()

    def _place_bubble(self) -> None:
        graph, x = self.graph, self._cursor_x
        if graph is None or x is None:
            self._bubble.setVisible(False)
            if graph is not None:
                graph.cursor.setVisible(False)
            return
        points = [
            (curve, memory.nearest(x)) for curve, memory in zip(self.curves, self._memories.values(), strict=True)
        ]
        known = [(curve, point) for curve, point in points if point is not None]
        if not known:
            self._bubble.setVisible(False)
            return
        closest = min((point[0] for _, point in known), key=lambda there: abs(there - x))
        graph.cursor.setPos(closest)
        graph.cursor.setVisible(True)
        rows = [
            (
                curve.colour,
                tr("{name}: {value}", name=curve.label, value=text_of(value, self._y.text)),
                "" if at == closest else f"({self._x.text(at)})",
            )
            for curve, (at, value) in known
        ]
        place = graph.widget.mapTo(self, QPoint(round(graph.place_of(closest)), 26))
        self._bubble.show_values(f"{self.x_name} {self._x.text(closest)}", rows, place)

    def cursor_text(self) -> str:
        """What the cursor shows; "" without a cursor."""
        return self._bubble.text() if self._bubble.isVisibleTo(self) else ""

    # Export

    def _ask(self, form: str) -> None:
        """Ask where to, without holding up the window."""
        dialog = QFileDialog(self, tr("Export"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter("PNG (*.png)" if form == "png" else "CSV (*.csv)")
        dialog.setDefaultSuffix(form)
        dialog.selectFile(f"{self.title}.{form}")
        dialog.fileSelected.connect(lambda path: self.export(Path(path)))
        dialog.open()

    def export(self, path: Path) -> None:
        """Write the plot to `path`, as a table (".csv") or else as a picture; the note says how it went."""
        shown = [curve for curve in self.curves if len(self._given[curve.id])]
        try:
            if path.suffix.lower() == ".csv":
                write_csv(path, self.x_name, [(curve.label, self._given[curve.id]) for curve in shown])
            else:
                self.show_cursor(None)
                legend = [(curve.label, curve.colour) for curve in shown]
                write_png(path, self._ready_graph().widget.grab(), self.title, legend)
        except OSError as error:
            set_role(self.note, "error")
            reason = error.strerror or str(error)
            self.note.setText(
                tr("{file} could not be written: {reason}. Choose another folder.", file=str(path), reason=reason)
            )
        else:
            set_role(self.note, "good")
            self.note.setText(tr("Saved as {file}.", file=str(path)))
        self.note.setVisible(True)
