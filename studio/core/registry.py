"""A table of named members: explicit built-ins, plus those that installed packages add by entry point.

An entry names its implementation as `"module:function"`, so that listing members imports none of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def resolve(target: str) -> Any:
    """The object that `"module:name"` stands for.

    Raises:
        ImportError, AttributeError: the module or the name does not exist.
    """
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


class Registry(Generic[T]):
    """Named members of one kind, in a fixed order.

    `group` is the entry-point group from which further members are read when first asked for; a plug-in that fails to
    load is kept in `failures` and never breaks the built-ins.
    """

    def __init__(self, what: str, members: Mapping[str, T], group: str = "") -> None:
        self.what = what
        self._members: dict[str, T] = dict(members)
        self._group = group
        self.failures: dict[str, str] = {}

    def _load_plugins(self) -> None:
        if not self._group:
            return
        group, self._group = self._group, ""
        for entry in entry_points(group=group):
            try:
                self._members.setdefault(entry.name, entry.load())
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything at import
                self.failures[entry.name] = f"{type(error).__name__}: {error}"

    def __getitem__(self, name: str) -> T:
        self._load_plugins()
        try:
            return self._members[name]
        except KeyError:
            raise KeyError(f"no {self.what} is called {name!r}; there are: {', '.join(self._members)}") from None

    def __contains__(self, name: object) -> bool:
        self._load_plugins()
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(self._members)

    def __len__(self) -> int:
        self._load_plugins()
        return len(self._members)

    def items(self) -> Iterator[tuple[str, T]]:
        self._load_plugins()
        return iter(self._members.items())

    def add(self, name: str, member: T) -> Callable[[], None]:
        """Add a member; returns the function that takes it out again."""
        if name in self._members:
            raise ValueError(f"a {self.what} called {name!r} exists already")
        self._members[name] = member

        def undo() -> None:
            self._members.pop(name, None)

        return undo
