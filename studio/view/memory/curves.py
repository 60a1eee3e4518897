"""Memory curves made ready for the page: roles on one another, the highest value so far, values at a moment."""

from __future__ import annotations

from dataclasses import dataclass

from studio.core.frozen import FrozenMap
from studio.core.runstate import MemoryCurves
from studio.core.series import Series
from studio.core.text import tr
from studio.memory.timeline import ROLES, role_label
from studio.view.plots.curves import nearest_point


class RoleStack:
    """Tensor bytes by role, each role lying on the ones before it; takes in only what is new."""

    def __init__(self) -> None:
        self.tops: dict[str, Series] = {role: Series() for role in ROLES}

    def take(self, by_role: FrozenMap[Series]) -> None:
        """Bring the stack up to `by_role`, whose series grow together; one that shrank is another run's."""
        counts = [len(by_role.get(role, Series())) for role in ROLES]
        known = len(self.tops[ROLES[0]])
        if max(counts) < known:
            self.tops, known = {role: Series() for role in ROLES}, 0
        columns = [by_role[role].since(known) for role in ROLES if role in by_role]
        if not columns or not columns[0][0]:
            return
        xs = columns[0][0]
        below = [0.0] * len(xs)
        for role in ROLES:
            if role in by_role:
                _, values = by_role[role].since(known)
                below = [low + value for low, value in zip(below, values, strict=False)]
            self.tops[role] = self.tops[role].extended(xs[: len(below)], below)


class HighWater:
    """The highest value of a growing series; looks at each point once."""

    def __init__(self) -> None:
        self._taken = 0
        self.value: float | None = None

    def take(self, series: Series) -> float | None:
        """The highest value so far; begins anew where the series is shorter than before."""
        if len(series) < self._taken:
            self._taken, self.value = 0, None
        _, values = series.since(self._taken)
        if values:
            self._taken += len(values)
            self.value = max(values) if self.value is None else max(self.value, *values)
        return self.value


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured thing at two moments. `is_count` tells a number of things from bytes."""

    name: str
    first: float
    second: float
    is_count: bool = False

    @property
    def difference(self) -> float:
        return self.second - self.first


def figures_between(curves: MemoryCurves, first_seconds: float, second_seconds: float) -> tuple[Figure, ...]:
    """Everything that was measured, at the samples nearest to two moments."""
    named = [
        (tr("Resident"), curves.resident, False),
        (tr("In use by native code"), curves.native_live, False),
        (tr("Python objects"), curves.python_blocks, True),
        (tr("Tensors on the card"), curves.gpu_allocated, False),
        (tr("Reserved on the card"), curves.gpu_reserved, False),
        (tr("Used on the card by all programs"), curves.gpu_card_used, False),
    ]
    named += [
        (tr("Tensors: {role}", role=role_label(role)), curves.tensor_bytes[role], False)
        for role in ROLES
        if role in curves.tensor_bytes
    ]
    found = []
    for name, series, is_count in named:
        first, second = nearest_point(series, first_seconds), nearest_point(series, second_seconds)
        if first is not None and second is not None:
            found.append(Figure(name, first[1], second[1], is_count))
    return tuple(found)
