"""Undo and redo over values: a stack of (label, value), with edits of one drag merged into one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """A value, the label of the edit that made it, and its merge key."""

    label: str
    value: T
    merge: str | None = None


class History(Generic[T]):
    """The present value with its past and future.

    >>> history = History(1)
    >>> history.push("Double", 2); history.undo(); history.value
    1
    """

    def __init__(self, value: T, limit: int = 500) -> None:
        self._steps: list[Step[T]] = [Step("", value)]
        self._place = 0
        self._limit = limit

    @property
    def value(self) -> T:
        return self._steps[self._place].value

    def push(self, label: str, value: T, merge: str | None = None) -> None:
        """Make `value` the present one. The same value again is no step.

        With the same `merge` key as the step before, it takes that step's place: one drag of a slider, one undo.
        """
        if value is self.value or value == self.value:
            return
        del self._steps[self._place + 1 :]
        present = self._steps[self._place]
        if merge is not None and present.merge == merge and self._place > 0:
            self._steps[self._place] = Step(label, value, merge)
            return
        self._steps.append(Step(label, value, merge))
        self._place += 1
        if len(self._steps) > self._limit + 1:
            del self._steps[0]
            self._place -= 1

    def seal(self) -> None:
        """End the present merge, so that the next edit with the same key is a step of its own."""
        step = self._steps[self._place]
        self._steps[self._place] = Step(step.label, step.value)

    @property
    def undo_label(self) -> str | None:
        """The label of the edit that `undo` would take back, or None."""
        return self._steps[self._place].label if self._place > 0 else None

    @property
    def redo_label(self) -> str | None:
        """The label of the edit that `redo` would bring back, or None."""
        return self._steps[self._place + 1].label if self._place + 1 < len(self._steps) else None

    def undo(self) -> T:
        """One step back; at the start it stays there."""
        self._place = max(0, self._place - 1)
        self.seal()
        return self.value

    def redo(self) -> T:
        """One step forward; at the end it stays there."""
        self._place = min(len(self._steps) - 1, self._place + 1)
        self.seal()
        return self.value
