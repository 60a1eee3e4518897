"""An immutable, hashable mapping, so that values that hold settings and facts stay values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

V_co = TypeVar("V_co", covariant=True)


class FrozenMap(Mapping[str, V_co]):
    """A read-only mapping with string keys that compares and hashes by content.

    >>> FrozenMap({"kernel": 3}).with_items(kernel=5)["kernel"]
    5
    """

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[str, V_co] | None = None, /, **more: V_co) -> None:
        self._items: dict[str, V_co] = {**(items or {}), **more}
        self._hash: int | None = None

    def __getitem__(self, key: str) -> V_co:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._items.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self._items == other._items
        return NotImplemented

    def __repr__(self) -> str:
        return f"FrozenMap({self._items!r})"

    def with_items(self, **items: V_co) -> FrozenMap[V_co]:  # type: ignore[misc]  # never mutates, so covariance holds
        """A new mapping with these items set."""
        return FrozenMap({**self._items, **items})
