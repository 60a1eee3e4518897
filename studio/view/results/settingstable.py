"""The settings of the chosen runs side by side, the differing ones marked and first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from studio.core.text import tr
from studio.dataset.labels import shown
from studio.runs.catalogue import RunSummary, differing_settings
from studio.view.results.wording import date_text, in_order, setting_label, value_text
from studio.view.theme import theme

AnyIndex = QModelIndex | QPersistentModelIndex
DIFFERS_ROLE = Qt.ItemDataRole.UserRole + 1


class SettingsModel(QAbstractTableModel):
    """A row per setting, a column per run."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[RunSummary, ...] = ()
        self._names: tuple[str, ...] = ()
        self._differing: frozenset[str] = frozenset()

    def show(self, runs: Sequence[RunSummary], *, only_differing: bool) -> None:
        """Show the settings of these runs, or only those in which they differ."""
        self.beginResetModel()
        self._runs = tuple(runs)
        names = in_order(name for run in runs for name in run.settings)
        self._differing = frozenset(differing_settings(self._runs))
        differing = tuple(name for name in names if name in self._differing)
        same = tuple(name for name in names if name not in self._differing)
        self._names = differing if only_differing and len(runs) > 1 else (*differing, *same)
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._names)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 1 + len(self._runs)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            if section == 0:
                return tr("Setting")
            run = self._runs[section - 1]
            return f"{shown(run.name)}\n{date_text(run.started)}"
        if role == Qt.ItemDataRole.ToolTipRole and section > 0:
            return shown(self._runs[section - 1].folder.name)
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        name = self._names[index.row()]
        differs = name in self._differing
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(name, index.column())
            case Qt.ItemDataRole.AccessibleTextRole:
                text = self._text(name, index.column())
                return tr("{text} (differs)", text=text) if differs else text
            case Qt.ItemDataRole.ToolTipRole if index.column() > 0:
                value = self._runs[index.column() - 1].settings.get(name)
                return shown(str(value)) if name == "data.folder" else self._text(name, index.column())
            case Qt.ItemDataRole.BackgroundRole if differs:
                return theme().colour("accent_soft")
            case Qt.ItemDataRole.FontRole if differs and index.column() > 0:
                return theme().font(bold=True)
            case _ if role == DIFFERS_ROLE:
                return differs
        return None

    def _text(self, name: str, column: int) -> str:
        if column == 0:
            return setting_label(name, self._runs)
        return value_text(name, self._runs[column - 1], self._runs)


class SettingsTable(QTableView):
    """The table of settings."""

    def __init__(self, model: SettingsModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 10)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(110)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.setObjectName("results.settings")
        self.setAccessibleName(tr("Settings of the chosen runs"))
        self.setToolTip(tr("Settings that differ between the chosen runs are marked and come first."))
        theme().changed.connect(self.viewport().update)
