"""Furnishes the main window: rail, pages, strip, drawer, menus, palette, notices, and what ties them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.settings import Settings
from studio.core.text import tr
from studio.view.actions import Action
from studio.view.closing import Closing
from studio.view.drawer import Drawer
from studio.view.hints import Hints
from studio.view.icons import program_icon
from studio.view.lastrun import LastRun
from studio.view.machine import MachineWatch
from studio.view.menus import MenuBar
from studio.view.notices import NoticeBar
from studio.view.openings import Openings
from studio.view.otherpictures import OtherPictures
from studio.view.own_actions import Doings, menu_order, own_actions, recent_actions
from studio.view.palette import CommandPalette
from studio.view.places import PLACES, Place
from studio.view.rail import Rail
from studio.view.safekeeping import Safekeeping
from studio.view.strip import Strip
from studio.view.theme import theme
from studio.view.unopened import UnopenedPage
from studio.view.welcome import Welcome
from studio.view.window import NAME, MainWindow
from studio.view.windowstate import WindowState
from studio.view.workspace import Page, PageStatus, Workspace

# Between building two pages the window answers the mouse and the keys.
_BETWEEN_PAGES_MS = 40


class Shell(QObject):
    """Everything in `window`. Pages are made one after the other while nothing else is to be done, or when needed."""

    def __init__(
        self, window: MainWindow, workspace: Workspace, state: WindowState, places: Sequence[Place] = PLACES
    ) -> None:
        super().__init__(window)
        self.window, self.workspace = window, workspace
        self.pages: dict[str, Page] = {}
        self._places = {place.id: place for place in places}
        # By action: the page whose focus its shortcut needs.
        self._page_actions: dict[str, Page] = {}
        self._shown = ""
        self._dialogs: dict[type[QDialog], QDialog] = {}
        self._forget_recent: Callable[[], None] | None = None
        self.notices = NoticeBar()
        self.openings = Openings(workspace, self.notices, window)
        self.last_run = LastRun(workspace)
        self.other_pictures = OtherPictures(workspace, self.notices)
        self.hints = Hints(workspace)
        self.machine = MachineWatch()
        self.rail = Rail(tuple(places))
        self.strip = Strip(workspace)
        self.drawer = Drawer(workspace.document, self.hints)
        self.welcome = Welcome(workspace.settings, self.openings)
        self.closing = Closing(window, workspace.training, self.openings, self.notices)
        self.safekeeping = Safekeeping(workspace, window, self.notices)
        self._add_actions()
        self._stack = QStackedWidget()
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._arrange(state)
        self.palette = CommandPalette(workspace.actions, window)
        self.menus = MenuBar(window, workspace.actions, menu_order(), self._scope_of)
        self._connect()
        window.setWindowIcon(program_icon())
        window.is_furnished = True
        self.show_place("data")
        self._refresh_title()
        self.safekeeping.offer(self.welcome)
        self._idle = QTimer(self)
        self._idle.setInterval(_BETWEEN_PAGES_MS)
        self._idle.timeout.connect(self._make_next_page)

    def begin(self) -> None:
        """Start what goes on beside the person: making pages, measuring memory, keeping recovery copies."""
        self._idle.start()
        self.machine.start()
        self.safekeeping.start()
        self.openings.offer_running()

    def _arrange(self, state: WindowState) -> None:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        notices = QHBoxLayout()
        notices.setContentsMargins(12, 0, 12, 0)
        notices.addWidget(self.notices)
        column.addLayout(notices)
        column.addWidget(self._stack, 1)
        self._stack.addWidget(self.welcome)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self._splitter.addWidget(middle)
        self._splitter.addWidget(self.drawer)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 0)
        self._splitter.setSizes([self.window.width() - state.drawer_px, state.drawer_px])
        self.drawer.setVisible(state.is_drawer_open)
        upper = QHBoxLayout()
        upper.setContentsMargins(0, 0, 0, 0)
        upper.setSpacing(0)
        upper.addWidget(self.rail)
        upper.addWidget(self._splitter, 1)
        whole = QWidget()
        rows = QVBoxLayout(whole)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addLayout(upper, 1)
        rows.addWidget(self.strip)
        self.window.setCentralWidget(whole)

    def _connect(self) -> None:
        workspace = self.workspace
        self.rail.wanted.connect(self.show_place)
        workspace.navigator.wanted.connect(self.show_place)
        workspace.navigator.hints_wanted.connect(lambda: self.show_drawer(True))
        workspace.document.changed.connect(self._on_project)
        workspace.document.saved_changed.connect(self._refresh_title)
        workspace.settings.changed.connect(self._on_settings)
        workspace.training.trouble.connect(self._on_trouble)
        workspace.training.started.connect(self.notices.forget_problem)
        self.closing.hurried.connect(self.safekeeping.keep)
        self.strip.hints_wanted.connect(self.toggle_drawer)
        self.drawer.closed.connect(lambda: self.show_drawer(False))
        self.drawer.applied.connect(self.notices.say)
        self.hints.changed.connect(self._on_hints)
        self.machine.measured.connect(self.strip.show_machine)
        self.window.closing.connect(self._on_close)
        self.window.entered.connect(self._on_enter)
        self.window.dropped.connect(self._on_drop)

    def _add_actions(self) -> None:
        doings = Doings(
            close=self.closing.begin,
            toggle_hints=self.toggle_drawer,
            show_palette=self.show_palette,
            show_settings=self.show_settings,
            show_guide=self.show_guide,
            show_doctor=self.show_doctor,
            show_about=self.show_about,
        )
        self.workspace.actions.add(own_actions(self.workspace, self.openings, doings, self._places.values()))
        self._forget_recent = self.workspace.actions.add(recent_actions(self.workspace, self.openings))

    # -- places ------------------------------------------------------------------------------------------------------

    def show_place(self, id: str, target: str = "") -> None:
        """Go to a place, and to what `target` names there. Making its page may take a moment the first time."""
        if id not in self._places:
            return
        self._shown = id
        self.rail.choose(id)
        welcome = id == "data" and self.workspace.document.is_untouched
        widget: QWidget = self.welcome if welcome else self.page(id)
        if self._stack.currentWidget() is not widget:
            self._stack.setCurrentWidget(widget)
        if target and isinstance(widget, Page):
            widget.show_target(target)

    @property
    def place(self) -> str:
        """The id of the place that is shown."""
        return self._shown

    def page(self, id: str) -> Page:
        """The page, made now if it was not needed before. One that cannot be made says so in its place."""
        if id not in self.pages:
            place = self._places[id]
            try:
                page = place.make(self.workspace)
            except Exception as error:  # noqa: BLE001 - one broken page must not take the others with it
                page = UnopenedPage(self.workspace, place, error)
                self.safekeeping.report(error)
            self.pages[id] = page
            self._stack.addWidget(page)
            page.status_changed.connect(lambda: self._show_status(id))
            self._add_page_actions(page)
            self._show_status(id)
        return self.pages[id]

    def _add_page_actions(self, page: Page) -> None:
        """Those of the Run menu act from anywhere; the others first show the page that they act on."""
        own = page.actions_of_page()
        run_menu = tr("Run")

        def shown_first(action: Action) -> Action:
            def run() -> None:
                if self._shown != page.id:
                    self.show_place(page.id)
                action.run()

            return action if action.menu == run_menu else replace(action, run=run)

        self._page_actions.update({action.id: page for action in own if action.menu != run_menu})
        self.workspace.actions.add([shown_first(action) for action in own])

    def _scope_of(self, action: Action) -> QWidget | None:
        return self._page_actions.get(action.id)

    def _show_status(self, id: str) -> None:
        page = self.pages[id]
        untouched = id == "data" and self.workspace.document.is_untouched
        self.rail.show_status(id, PageStatus.NOTHING if untouched else page.status(), page.status_text())

    def _make_next_page(self) -> None:
        missing = [name for name in self._places if name not in self.pages]
        if missing:
            self.page(missing[0])
            return
        self._idle.stop()
        self.hints.warm()
        # The plotting library takes half a second to import: now, not when the first curve is waited for.
        from studio.view.plots.toolkit import axis_class, graph_class

        axis_class()
        graph_class()

    # -- what changes ------------------------------------------------------------------------------------------------

    def _on_project(self, old: Project, new: Project) -> None:
        if self._shown == "data":
            self.show_place("data")
        if "data" in self.pages:
            self._show_status("data")
        self._refresh_title()

    def _refresh_title(self) -> None:
        document = self.workspace.document
        name = document.project.name or (document.path.name if document.path else "")
        self.window.setWindowTitle(f"{name}[*] — {NAME}" if name else f"{NAME}[*]")
        self.window.setWindowModified(not document.is_saved and not document.is_untouched)

    def _on_settings(self, old: Settings, new: Settings) -> None:
        if old.theme != new.theme:
            theme().use(new.theme)
        if old.language != new.language:
            self.notices.say(tr("The window speaks the chosen language when it is opened the next time."))
        if old.recent != new.recent:
            if self._forget_recent is not None:
                self._forget_recent()
            self._forget_recent = self.workspace.actions.add(recent_actions(self.workspace, self.openings))

    def _on_trouble(self, problem: Problem) -> None:
        """The Train page shows it in place."""
        if self._shown != "train":
            self.notices.say_problem(problem)

    def _on_hints(self) -> None:
        self.strip.show_hints(len(self.hints.hints), is_error=self.hints.has_error)

    def toggle_drawer(self) -> None:
        self.show_drawer(not self.drawer.isVisible())

    def show_drawer(self, is_open: bool) -> None:
        self.drawer.setVisible(is_open)
        if is_open:
            self.hints.refresh()

    # -- drops and closing -------------------------------------------------------------------------------------------

    def _on_enter(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def _on_drop(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.openings.open_path(paths[0])

    def _on_close(self, event: QCloseEvent) -> None:
        self.closing.on_close(event)

    def state(self, is_dark: bool) -> WindowState:
        """What the window remembers for the next time."""
        return WindowState(
            geometry=bytes(self.window.saveGeometry().toBase64().data()).decode(),
            is_drawer_open=self.drawer.isVisible(),
            drawer_px=max(self.drawer.width(), self.drawer.minimumWidth()),
            is_dark=is_dark,
        )

    def end(self) -> None:
        """Stop everything that goes on beside the person."""
        self._idle.stop()
        self.machine.stop()
        self.safekeeping.stop()
        if not self.closing.is_hurried:
            # Whoever was asked has saved the work, or does not want it.
            self.safekeeping.file.remove()

    # -- windows beside the window -----------------------------------------------------------------------------------

    def show_palette(self) -> None:
        self.palette.pop_up()

    def _dialog(self, kind: type[QDialog], make: Callable[[], QDialog]) -> QDialog:
        """The one dialog of this kind, in front."""
        if kind not in self._dialogs:
            self._dialogs[kind] = make()
        dialog = self._dialogs[kind]
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog

    def show_settings(self) -> None:
        from studio.view.settings_dialog import SettingsDialog

        self._dialog(SettingsDialog, lambda: SettingsDialog(self.workspace.settings, self.window))

    def show_guide(self) -> None:
        from studio.view.guide import GuideDialog

        self._dialog(GuideDialog, lambda: GuideDialog(self.window))

    def show_about(self) -> None:
        from studio.view.guide import AboutDialog

        self._dialog(AboutDialog, lambda: AboutDialog(self.window))

    def show_doctor(self) -> None:
        from studio.view.doctor_dialog import DoctorDialog

        dialog = self._dialog(DoctorDialog, lambda: DoctorDialog(self.workspace, self.window))
        if isinstance(dialog, DoctorDialog):
            dialog.look()
