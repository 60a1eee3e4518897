"""The menu bar, made from the table of actions; each menu asks again what can be done when it opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu, QWidget

from studio.view.actions import Action, Actions, q_action

SUBMENU = " › "

# The widget within which an action's shortcut works; None for the whole window.
ScopeOf = Callable[[Action], QWidget | None]


class MenuBar(QObject):
    """Keeps `window`'s menu bar equal to `actions`. `order` are the titles of menus, in order; others come before the
    last one. A menu called "File › Recent" is a menu in a menu."""

    def __init__(self, window: QMainWindow, actions: Actions, order: Sequence[str], scope_of: ScopeOf) -> None:
        super().__init__(window)
        self._window, self._actions = window, actions
        self._order = list(order)
        self._scope_of = scope_of
        self._made: list[QAction] = []
        self._menus: dict[str, QMenu] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.rebuild)
        actions.changed.connect(self._timer.start)
        self.rebuild()

    def rebuild(self) -> None:
        """Make the bar anew."""
        self._timer.stop()
        self._window.menuBar().clear()
        for made in self._made:
            made.deleteLater()
        self._made, self._menus = [], {}
        titles = [action.menu.partition(SUBMENU)[0] for action in self._actions if action.menu]
        others = [title for title in dict.fromkeys(titles) if title not in self._order]
        for title in (*self._order[:-1], *others, self._order[-1]):
            if title in titles:
                self._menus[title] = self._window.menuBar().addMenu(title)
        for action in self._actions:
            self._add(action)
        for menu in self._menus.values():
            self._keep_up_to_date(menu)

    def _add(self, action: Action) -> None:
        made = q_action(action, self._window)
        self._made.append(made)
        scope = self._scope_of(action)
        if scope is not None:
            made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            scope.addAction(made)
        if action.menu:
            menu = self._menu(action.menu, action.before)
            if action.is_separated and menu.actions():
                menu.addSeparator()
            menu.addAction(made)
        elif scope is None:
            self._window.addAction(made)

    def _menu(self, title: str, before: str) -> QMenu:
        if title not in self._menus:
            parent, _, inner = title.partition(SUBMENU)
            outer = self._menus[parent]
            made, place = QMenu(inner, outer), _place(outer, before)
            if place is None:
                outer.addMenu(made)
            else:
                outer.insertMenu(place, made)
            self._menus[title] = made
        return self._menus[title]

    def _keep_up_to_date(self, menu: QMenu) -> None:
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(lambda: self._refresh(menu, opening=True))
        # A disabled Qt action takes no shortcut either, so all are enabled again; `run` asks before it acts.
        menu.aboutToHide.connect(lambda: self._refresh(menu, opening=False))

    def _refresh(self, menu: QMenu, *, opening: bool) -> None:
        known = {action.id: action for action in self._actions}
        for made in menu.actions():
            action = known.get(made.objectName())
            if action is not None:
                made.setText(action.text())
                made.setEnabled(action.enabled() if opening else True)


def _place(menu: QMenu, before: str) -> QAction | None:
    """The action above which something stands that comes before `before`, with the line that belongs to it."""
    actions = menu.actions()
    names = [action.objectName() for action in actions]
    if before not in names:
        return None
    place = names.index(before)
    return actions[place - 1] if place and actions[place - 1].isSeparator() else actions[place]
