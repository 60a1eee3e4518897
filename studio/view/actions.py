"""Actions as data: one table from which the menu bar, the shortcuts and the command palette are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do.

    Attributes:
        id: `area.verb`, for tests, settings and the palette's memory.
        title: the shown text, already translated, or a function where it changes ("Undo Add block").
        run: does it.
        shortcut: portable text like "Ctrl+K"; "" for none.
        menu: the menu's translated title; "" keeps it out of the menu bar but in the palette.
        enabled: whether it can be done now.
        help: a sentence for the tooltip and the palette.
        is_separated: a line stands before it in the menu.
        before: the id of the action above which the menu in a menu stands; "" puts it at the end.
    """

    id: str
    title: str | Callable[[], str]
    run: Callable[[], None]
    shortcut: str = ""
    menu: str = ""
    enabled: Callable[[], bool] = _always
    help: str = ""
    is_separated: bool = False
    before: str = ""

    def text(self) -> str:
        return self.title if isinstance(self.title, str) else self.title()


class Actions(QObject):
    """The table. `add` returns the function that takes the actions out again; `changed` follows both."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._actions: dict[str, Action] = {}

    def add(self, actions: Iterable[Action]) -> Callable[[], None]:
        added = list(actions)
        for action in added:
            if action.id in self._actions:
                raise ValueError(f"an action called {action.id!r} exists already")
            self._actions[action.id] = action
        self.changed.emit()

        def undo() -> None:
            for action in added:
                self._actions.pop(action.id, None)
            self.changed.emit()

        return undo

    def __iter__(self) -> Iterator[Action]:
        return iter(self._actions.values())

    def __getitem__(self, id: str) -> Action:
        return self._actions[id]

    def trigger(self, id: str) -> None:
        """Do it, if it can be done now."""
        action = self._actions[id]
        if action.enabled():
            action.run()


def q_action(action: Action, parent: QObject) -> QAction:
    """A Qt action for a menu, which asks again whether it is enabled each time its menu opens."""
    made = QAction(action.text(), parent)
    made.setObjectName(action.id)
    if action.shortcut:
        made.setShortcut(QKeySequence(action.shortcut))
    made.setToolTip(action.help or action.text())
    made.triggered.connect(lambda: action.run() if action.enabled() else None)
    return made
