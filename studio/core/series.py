"""A growing curve as a value: old versions stay as they were, adding points copies nothing."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator


class Series:
    """Points (x, y) with x not falling, immutable to its holder.

    `extended` shares the buffer as long as it is called on the newest version, so that a run of 100,000 steps costs
    one append a step. Not for use from several threads at once.

    >>> Series().extended([1, 2], [0.5, 0.25]).last
    0.25
    """

    __slots__ = ("_length", "_x", "_y")

    def __init__(self) -> None:
        self._x = array("d")
        self._y = array("d")
        self._length = 0

    def extended(self, xs: Iterable[float], ys: Iterable[float]) -> Series:
        """This curve with more points at its end."""
        grown = self if len(self._x) == self._length else self.cut_after(float("inf"))
        result = Series.__new__(Series)
        result._x, result._y = grown._x, grown._y
        result._x.extend(xs)
        result._y.extend(ys)
        if len(result._x) != len(result._y):
            raise ValueError("as many x as y are needed")
        result._length = len(result._x)
        return result

    def cut_after(self, x: float) -> Series:
        """A copy without the points beyond `x`."""
        result = Series()
        end = bisect_right(self._x, x, 0, self._length)
        result._x, result._y = self._x[:end], self._y[:end]
        result._length = end
        return result

    def since(self, start: int) -> tuple[array[float], array[float]]:
        """Copies of x and y from the point number `start` on."""
        return self._x[start : self._length], self._y[start : self._length]

    @property
    def last(self) -> float | None:
        """The newest y; None where there is no point."""
        return self._y[self._length - 1] if self._length else None

    @property
    def last_x(self) -> float | None:
        return self._x[self._length - 1] if self._length else None

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return zip(*self.since(0), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Series):
            return NotImplemented
        return self.since(0) == other.since(0)

    __hash__ = None  # type: ignore[assignment]  # compares by content, which grows: not a key

    def __repr__(self) -> str:
        return f"Series({self._length} points, last {self.last})"
