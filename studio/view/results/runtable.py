"""The table of runs: sortable, with a column for each setting in which the runs differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPalette
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from studio.core.quantities import duration_text
from studio.core.text import tr
from studio.dataset.labels import natural_key, shown
from studio.runs.catalogue import RunOutcome, RunSummary
from studio.view.badges import paint_status
from studio.view.results.wording import (
    NOTHING,
    accuracy_text,
    date_text,
    outcome_colour,
    outcome_sentence,
    outcome_status,
    outcome_word,
    setting_label,
    shown_settings,
    value_text,
)
from studio.view.theme import theme

AnyIndex = QModelIndex | QPersistentModelIndex
OUTCOME_ROLE = Qt.ItemDataRole.UserRole + 1
RUN_ROLE = Qt.ItemDataRole.UserRole + 2
_LARGEST_COLUMN_PX = 260
_MEASURED_ROWS = 60


@dataclass(frozen=True)
class Column:
    """One column: its heading, a sentence about it, what a cell says, and by what it is sorted (None comes last)."""

    name: str
    title: str
    help: str
    text: Callable[[RunSummary], str]
    key: Callable[[RunSummary], Any]
    is_number: bool = False
    is_setting: bool = False


def _natural(text: str) -> tuple[object, ...]:
    return natural_key(text)


def _fixed_columns() -> tuple[Column, ...]:
    return (
        Column("started", tr("Started"), tr("When the run began, in local time."),
               lambda run: date_text(run.started), lambda run: run.started),
        Column("name", tr("Name"), tr("The name of the project that was trained."),
               lambda run: shown(run.name), lambda run: _natural(run.name)),
        Column("outcome", tr("Outcome"), tr("What became of the run."),
               lambda run: outcome_word(run.outcome), lambda run: run.outcome),
        Column("accuracy", tr("Accuracy"),
               tr("The best share of validation pictures that the network named right, over all epochs."),
               lambda run: accuracy_text(run.best_validation_accuracy), lambda run: run.best_validation_accuracy, True),
        Column("epochs", tr("Epochs"), tr("How many times training went through all pictures, of how many."),
               _epochs, lambda run: run.epochs_done, True),
        Column("seconds", tr("Duration"), tr("How long the run has worked, without its pauses."),
               lambda run: duration_text(run.seconds) if run.seconds else NOTHING, lambda run: run.seconds, True),
    )  # fmt: skip


def _epochs(run: RunSummary) -> str:
    return f"{run.epochs_done:,}" if run.epochs_done == run.epochs else f"{run.epochs_done:,} / {run.epochs:,}"


def _setting_column(name: str, runs: Sequence[RunSummary]) -> Column:
    def key(run: RunSummary) -> Any:
        value = run.settings.get(name)
        return value if isinstance(value, (int, float)) else None if value is None else _natural(str(value))

    label = setting_label(name, runs)
    is_number = all(isinstance(run.settings.get(name), (int, float, type(None))) for run in runs)
    return Column(
        name, label, tr("A setting of the runs: {name}.", name=label), lambda run: value_text(name, run, runs), key,
        is_number, True,
    )  # fmt: skip


class RunModel(QAbstractTableModel):
    """A row per run. Rows are sorted here, so that a missing value is last in either direction."""

    def __init__(self) -> None:
        super().__init__()
        self._all: tuple[RunSummary, ...] = ()
        self._rows: list[RunSummary] = []
        self._columns = _fixed_columns()
        self._differing: frozenset[str] = frozenset()
        self._is_everything = False
        self._sort = ("started", Qt.SortOrder.DescendingOrder)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self._columns

    @property
    def sorting(self) -> tuple[int, Qt.SortOrder]:
        """The column by which the rows are sorted, and the direction."""
        names = [column.name for column in self._columns]
        return (names.index(self._sort[0]) if self._sort[0] in names else 0), self._sort[1]

    def show(self, runs: Sequence[RunSummary], *, everything: bool) -> None:
        """Show these runs; with `everything`, also the settings that are the same in all of them."""
        if tuple(runs) == self._all and everything == self._is_everything:
            return
        self.beginResetModel()
        self._all, self._is_everything = tuple(runs), everything
        names = shown_settings(self._all, everything=everything) if self._all else ()
        self._columns = (*_fixed_columns(), *(_setting_column(name, self._all) for name in names))
        self._rows = self._sorted()
        self.endResetModel()

    def compare(self, runs: Sequence[RunSummary]) -> None:
        """Mark the settings in which these runs differ; with one run or none, among all settings those in which all
        runs do."""
        compared = runs if len(runs) > 1 else self._all if self._is_everything else ()
        differing = frozenset(shown_settings(compared, everything=False)) if compared else frozenset()
        if differing != self._differing and self._rows:
            self._differing = differing
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(self._columns) - 1))
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._columns) - 1)

    def run(self, row: int) -> RunSummary:
        return self._rows[row]

    def row_of(self, path: str) -> int:
        """The row of the run in this folder; -1 where it is not there."""
        return next((row for row, run in enumerate(self._rows) if run.path == path), -1)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._columns)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if not 0 <= column < len(self._columns):
            return
        self._sort = (self._columns[column].name, order)
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        runs = [self._rows[index.row()] for index in old]
        self._rows = self._sorted()
        place = {run.path: row for row, run in enumerate(self._rows)}
        new = [self.index(place[run.path], index.column()) for run, index in zip(runs, old, strict=True)]
        self.changePersistentIndexList(old, new)
        self.layoutChanged.emit()

    def _sorted(self) -> list[RunSummary]:
        name, order = self._sort
        column = next((column for column in self._columns if column.name == name), self._columns[0])
        known = [run for run in self._all if column.key(run) is not None]
        missing = [run for run in self._all if column.key(run) is None]
        is_mixed = len({type(column.key(run)) is tuple for run in known}) > 1

        def key(run: RunSummary) -> Any:
            return _natural(str(column.text(run))) if is_mixed else column.key(run)

        return [*sorted(known, key=key, reverse=order == Qt.SortOrder.DescendingOrder), *missing]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return column.help
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        run, column = self._rows[index.row()], self._columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(run)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.BackgroundRole if column.name in self._differing:
                return theme().colour("accent_soft")
            case Qt.ItemDataRole.ForegroundRole if column.name == "outcome":
                return theme().colour(outcome_colour(run.outcome))
            case Qt.ItemDataRole.FontRole if column.name == "accuracy":
                return theme().font(bold=True)
            case Qt.ItemDataRole.ToolTipRole:
                return self._tooltip(run, column)
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{column.title}: {column.text(run)}"
            case _ if role == OUTCOME_ROLE and column.name == "outcome":
                return run.outcome
            case _ if role == RUN_ROLE:
                return run
        return None

    @staticmethod
    def _tooltip(run: RunSummary, column: Column) -> str:
        if column.name == "data.folder":
            return shown(str(run.settings.get("data.folder", "")))
        if column.is_setting:
            return f"{column.title}: {column.text(run)}"
        return f"{shown(run.folder.name)}\n{outcome_sentence(run)}"


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class _OutcomeDelegate(QStyledItemDelegate):
    """The outcome as a shape beside its word."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        super().initStyleOption(option, index)
        # Qt would paint chosen cells in one colour; the word keeps that of its outcome.
        colour = index.data(Qt.ItemDataRole.ForegroundRole)
        if colour is not None:
            option.palette.setColor(QPalette.ColorRole.HighlightedText, colour)

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return super().sizeHint(option, index) + QSize(self._size(option) + 8, 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        size = self._size(option)
        whole = option.rect
        shifted = QStyleOptionViewItem(option)
        if option.state & option.state.State_Selected:
            painter.fillRect(whole, theme().colour("selection"))
        shifted.rect = whole.adjusted(size + 8, 0, 0, 0)
        super().paint(painter, shifted, index)
        outcome: RunOutcome = index.data(OUTCOME_ROLE)
        area = QRectF(whole.left() + 6, whole.center().y() - size / 2 + 1, size, size)
        paint_status(painter, outcome_status(outcome), area)

    @staticmethod
    def _size(option: QStyleOptionViewItem) -> int:
        return max(12, int(option.fontMetrics.ascent()))


class RunTable(QTableView):
    """The table. `chosen(list[RunSummary])` follows the selection, the current run first; `delete_wanted()` the Delete
    key."""

    chosen = Signal(list)
    delete_wanted = Signal()

    def __init__(self, model: RunModel) -> None:
        super().__init__()
        self._runs = model
        self.setModel(model)
        self.setItemDelegateForColumn(2, _OutcomeDelegate(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setMinimumHeight(120)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 12)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSortIndicator(*model.sorting)
        header.setHighlightSections(False)
        header.setResizeContentsPrecision(_MEASURED_ROWS)
        self.setSortingEnabled(True)
        self.setObjectName("results.runs")
        self.setAccessibleName(tr("Runs"))
        self.setToolTip(tr("Choose a run to see it below. Choose several with Ctrl or Shift to compare them."))
        self._is_restoring = False
        self._is_fitting = False
        # A person's own widths stay until other columns come.
        self._has_own_widths = False
        header.sectionResized.connect(self._on_resized)
        self._announced: list[RunSummary] = []
        self.selectionModel().selectionChanged.connect(self._announce)
        self.selectionModel().currentRowChanged.connect(self._announce)
        theme().changed.connect(self.viewport().update)

    def show_runs(self, runs: Sequence[RunSummary], *, everything: bool) -> None:
        """Show these runs and keep what is chosen; where that is gone, choose the newest run."""
        chosen = [run.path for run in self.chosen_runs()]
        had_columns = [column.name for column in self._runs.columns]
        bar = self.verticalScrollBar().value()
        self._is_restoring = True
        self._runs.show(runs, everything=everything)
        self.horizontalHeader().setSortIndicator(*self._runs.sorting)
        if had_columns != [column.name for column in self._runs.columns]:
            self._has_own_widths = False
        if not self._has_own_widths:
            self.fit_columns()
        left = [path for path in chosen if self._runs.row_of(path) >= 0]
        self.choose(left or [run.path for run in runs[:1]])
        self.verticalScrollBar().setValue(bar)
        self._is_restoring = False
        self._announce()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Delete):
            self.delete_wanted.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def fit_columns(self) -> None:
        """As wide as their words need, within reason."""
        self._is_fitting = True
        self.resizeColumnsToContents()
        for column in range(self._runs.columnCount()):
            wide = self.columnWidth(column) + 4
            self.setColumnWidth(column, min(wide, _LARGEST_COLUMN_PX))
        self._is_fitting = False

    def _on_resized(self) -> None:
        self._has_own_widths = self._has_own_widths or not self._is_fitting

    def choose(self, paths: Sequence[str]) -> None:
        """Choose the runs in these folders; the first becomes the current one."""
        rows = [row for path in paths if (row := self._runs.row_of(path)) >= 0]
        if not rows:
            return
        last = self._runs.columnCount() - 1
        selection = QItemSelection()
        for row in rows:
            selection.select(self._runs.index(row, 0), self._runs.index(row, last))
        command = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(self._runs.index(rows[0], 0), command.NoUpdate)
        self.selectionModel().select(selection, command.ClearAndSelect)
        self.scrollTo(self._runs.index(rows[0], 0))

    def chosen_runs(self) -> list[RunSummary]:
        """The chosen runs in the order of the table, the current one first."""
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        current = self.currentIndex().row()
        if current in rows:
            rows.remove(current)
            rows.insert(0, current)
        return [self._runs.run(row) for row in rows]

    def _announce(self, *_: object) -> None:
        if self._is_restoring:
            return
        chosen = self.chosen_runs()
        self._runs.compare(chosen)
        if chosen != self._announced:
            self._announced = chosen
            self.chosen.emit(chosen)
