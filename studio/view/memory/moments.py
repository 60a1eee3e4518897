"""Two moments of a run side by side: what grew between them, and by how much."""

from __future__ import annotations

from PySide6.QtCore import Signal

from studio.core.quantities import duration_text, size_text
from studio.core.runstate import MemoryCurves
from studio.core.text import tr
from studio.view.memory.curves import Figure, figures_between
from studio.view.memory.tables import FlatTable
from studio.view.pieces import Card, button, row, wrapped

_NAME, _FIRST, _SECOND, _DIFFERENCE = range(4)
PIN_NAMES = ("A", "B")


def figure_text(value: float, figure: Figure, *, is_signed: bool = False) -> str:
    """Bytes with their unit, counts in full; differences with their sign."""
    sign = "+" if is_signed and value > 0 else ""
    return sign + (f"{value:,.0f}" if figure.is_count else size_text(value))


class MomentsCard(Card):
    """Keeps two moments, in seconds since the run began. `changed()` follows each choice."""

    changed = Signal()
    snapshot_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("memory.moments")
        self._moments: list[float | None] = [None, None]
        self._next = 0
        self._curves = MemoryCurves()
        self.column.addWidget(wrapped(tr("Compare two moments"), "heading"))
        self.advice = wrapped("", "muted")
        self.column.addWidget(self.advice)
        self.snapshot = button(
            tr("Count tensors now"),
            tr("Records at the next step which tensors are alive, and takes that moment for the comparison."),
            "memory.snapshot", run=self.snapshot_wanted.emit,
        )  # fmt: skip
        self.ends = button(
            tr("Compare start and now"), tr("Takes the run's first and newest sample."), "memory.ends",
            run=self.choose_ends,
        )  # fmt: skip
        self.forget = button(
            tr("Forget both"),
            tr("Takes the two marks off the plot again."),
            "memory.forget",
            self.clear,
            "quiet",
        )
        line = row(self.snapshot, self.ends, self.forget)
        line.addStretch(1)
        self.column.addLayout(line)
        self.table = FlatTable(
            [
                (tr("Measured"), tr("What was measured at both moments.")),
                (tr("At A"), tr("At the first moment.")),
                (tr("At B"), tr("At the second moment.")),
                (tr("Difference"), tr("B minus A: what grew is positive.")),
            ],
            tr("Differences between two moments"),
            wide=_NAME,
            numbers=(_FIRST, _SECOND, _DIFFERENCE),
        )
        self.column.addWidget(self.table)
        self._show()

    @property
    def pins(self) -> list[tuple[float, str]]:
        """The chosen moments with their names, for the plots."""
        return [(x, name) for x, name in zip(self._moments, PIN_NAMES, strict=True) if x is not None]

    def choose(self, seconds: float) -> None:
        """Take this moment: the first one, then the second, then in turn."""
        self._moments[self._next] = seconds
        self._next = 1 - self._next
        self._show()
        self.changed.emit()

    def choose_ends(self) -> None:
        """Take the first and the newest sample."""
        xs, _ = self._curves.resident.since(0)
        if xs:
            self._moments, self._next = [xs[0], xs[-1]], 0
            self._show()
            self.changed.emit()

    def clear(self) -> None:
        """Choose nothing."""
        self._moments, self._next = [None, None], 0
        self._show()
        self.changed.emit()

    def show_curves(self, curves: MemoryCurves) -> None:
        """Use these curves; the figures of chosen moments are looked up again only when a choice changes."""
        self._curves = curves
        self.ends.setEnabled(len(curves.resident) > 1)

    def _show(self) -> None:
        first, second = self._moments
        self.forget.setEnabled(first is not None or second is not None)
        self.table.setVisible(first is not None and second is not None)
        if first is None:
            self.advice.setText(
                tr("Click into a timeline, or press Enter on its cursor, to choose the first moment; then the second.")
            )
            return
        if second is None:
            self.advice.setText(tr("A is at {time}. Choose the second moment.", time=duration_text(first)))
            return
        self.advice.setText(tr("From {first} to {second}.", first=duration_text(first), second=duration_text(second)))
        self._fill(figures_between(self._curves, first, second))

    def _fill(self, figures: tuple[Figure, ...]) -> None:
        self.table.setRowCount(len(figures))
        for line, figure in enumerate(figures):
            self.table.put(line, _NAME, figure.name)
            self.table.put(line, _FIRST, figure_text(figure.first, figure))
            self.table.put(line, _SECOND, figure_text(figure.second, figure))
            self.table.put(line, _DIFFERENCE, figure_text(figure.difference, figure, is_signed=True))
        self.table.fit()
