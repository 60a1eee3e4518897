"""Live tensors by role: how many, how large, against the forecast, and why they exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QHeaderView

from studio.core.events import Role, RoleTotal
from studio.core.forecast import Forecast
from studio.core.quantities import share_text, size_text
from studio.core.text import tr
from studio.memory.timeline import ROLES, role_explanation, role_label
from studio.view.memory.tables import COLOUR_ROLE, SHARE_ROLE, FlatTable, ShareDelegate

_NAME, _COUNT, _SIZE, _SHARE, _FORECAST, _WHY = range(6)


def forecast_by_role(forecast: Forecast | None) -> Mapping[Role, int]:
    """The forecast's parts under the names of the census; empty without a forecast."""
    if forecast is None:
        return {}
    return {
        "weights": forecast.weights,
        "gradients": forecast.gradients,
        "optimiser": forecast.optimiser,
        "data": forecast.input,
        "activations": forecast.activations,
    }


class RoleTable(FlatTable):
    """One row for each role, in a fixed order, so that rows do not jump while a run goes on."""

    def __init__(self) -> None:
        super().__init__(
            [
                (tr("Role"), tr("What the tensors are for.")),
                (tr("Tensors"), tr("How many distinct pieces of memory they hold.")),
                (tr("Size"), tr("How much memory they take; views of one tensor count once.")),
                (tr("Share"), tr("Of the memory of all live tensors.")),
                (tr("Forecast"), tr("What was predicted for the peak, before the run.")),
                (tr("What it is"), tr("Why these tensors exist, and what makes them more.")),
            ],
            tr("Live tensors by role"),
            wide=_WHY,
            numbers=(_COUNT, _SIZE, _FORECAST),
        )
        self.horizontalHeader().setSectionResizeMode(_SHARE, QHeaderView.ResizeMode.Fixed)
        self.setItemDelegateForColumn(_SHARE, ShareDelegate(self))
        self._shown: tuple[object, object] | None = None

    def show_totals(self, totals: Sequence[RoleTotal], forecast: Mapping[Role, int]) -> None:
        """Show the newest census."""
        if self._shown == (totals, forecast):
            return
        self._shown = (totals, forecast)
        by_role = {total.role: total for total in totals}
        all_bytes = sum(total.bytes for total in totals)
        roles = [role for role in ROLES if role in by_role]
        is_new = self.rowCount() != len(roles)
        self.setRowCount(len(roles))
        for row, role in enumerate(roles):
            total = by_role[role]
            why = role_explanation(role)
            share = total.bytes / all_bytes if all_bytes else 0.0
            self.put(row, _NAME, role_label(role), why)
            self.put(row, _COUNT, f"{total.count:,}")
            self.put(row, _SIZE, size_text(total.bytes), f"{total.bytes:,} B")
            cell = self.put(row, _SHARE, share_text(share))
            cell.setData(SHARE_ROLE, share)
            cell.setData(COLOUR_ROLE, ROLES.index(role))
            self.put(row, _FORECAST, size_text(forecast[role]) if role in forecast else "–")
            self.put(row, _WHY, why, why)
        if is_new:
            self.setColumnWidth(_SHARE, self.fontMetrics().horizontalAdvance("0") * 22)
            self.fit()
