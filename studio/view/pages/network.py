"""The Network page: palette, list of blocks, drawing, inspector and forecast, all over the one project value."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from studio.core.problem import Problem, Severity
from studio.core.project import Project
from studio.core.templates import templates
from studio.core.text import problem_message, tr, trn
from studio.view.actions import Action, q_action
from studio.view.network.clipping import blocks_from_text
from studio.view.network.composer import Composer
from studio.view.network.devices import Devices
from studio.view.network.drawing import DrawingPanel
from studio.view.network.footing import Footing
from studio.view.network.inspector import Inspector
from studio.view.network.listing import NetworkList
from studio.view.network.model import text_in
from studio.view.network.notice import Notice
from studio.view.network.rows import Row
from studio.view.network.shelf import Shelf
from studio.view.network.start import Start
from studio.view.theme import set_role, theme
from studio.view.workspace import Page, PageStatus, Workspace

# Below this the drawing would take the room that the list needs; it can be switched on all the same.
_WIDTH_FOR_DRAWING_PX = 1060


class NetworkPage(Page):
    """Where the network is composed."""

    id = "network"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        document = workspace.document
        self.composer = Composer(document)
        self.devices = Devices(workspace.engine)
        self.shelf = Shelf()
        self.list = NetworkList(self.composer)
        self.drawing = DrawingPanel()
        self.inspector = Inspector(document, self.composer)
        self.footing = Footing(document, self.composer, self.devices)
        self.start = Start()
        self.notice = Notice()
        self.middle = QStackedWidget()
        self.middle.addWidget(self.start)
        self.middle.addWidget(self.list)
        self._status: tuple[PageStatus, str] | None = None
        self._is_drawing_wanted: bool | None = None
        self._lay_out()
        self._connect()
        self._refresh()

    def _lay_out(self) -> None:
        space = theme().space_px
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(space + 4)
        character = self.fontMetrics().averageCharWidth()
        for widget, stretch, least in (
            (self.shelf, 0, 18),
            (self._middle_column(), 1, 34),
            (self.drawing, 0, 16),
            (self.inspector, 0, 32),
        ):
            widget.setMinimumWidth(least * character)
            self.splitter.addWidget(widget)
            self.splitter.setStretchFactor(self.splitter.count() - 1, stretch)
        self.splitter.setSizes([200, 520, 160, 310])
        column = QVBoxLayout(self)
        column.setContentsMargins(space * 2, space * 2, space * 2, space * 2)
        column.setSpacing(round(space * 1.5))
        column.addLayout(self._header())
        column.addWidget(self.splitter, 1)
        column.addWidget(self.footing)

    def _header(self) -> QHBoxLayout:
        title = QLabel(tr("Network"))
        set_role(title, "title")
        self.summary = QLabel()
        set_role(self.summary, "muted")
        self.templates_button = QPushButton()
        self.templates_button.setText(tr("Templates"))
        self.templates_button.setObjectName("network.templates")
        self.templates_button.setAccessibleName(tr("Templates"))
        self.templates_button.setToolTip(tr("Put a ready network in place of this one. It can be undone."))
        self.templates_button.setMenu(self._templates_menu())
        self.drawing_button = QCheckBox()
        self.drawing_button.setText(tr("Drawing"))
        self.drawing_button.setObjectName("network.show_drawing")
        self.drawing_button.setAccessibleName(tr("Show the drawing"))
        self.drawing_button.setToolTip(
            tr("A picture of the network: wide means large maps, thick means many channels.")
        )
        self.drawing_button.clicked.connect(self._want_drawing)
        row = QHBoxLayout()
        row.setSpacing(theme().space_px * 2)
        row.addWidget(title)
        row.addWidget(self.summary, 1, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(self.templates_button)
        row.addWidget(self.drawing_button)
        return row

    def _middle_column(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme().space_px)
        column.addWidget(self.notice)
        column.addWidget(self.middle, 1)
        return holder

    def _templates_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for action in self._template_actions():
            menu.addAction(q_action(action, menu))
        return menu

    def _connect(self) -> None:
        self.workspace.document.changed.connect(self._on_project)
        self.workspace.pictures.changed.connect(self._tell_status)
        self.shelf.used.connect(self._on_used)
        self.start.template_wanted.connect(self.composer.use_template)
        self.start.dropped.connect(self._on_dropped)
        self.list.link_wanted.connect(self._on_link)
        self.list.inspector_wanted.connect(self.inspector.focus_first)
        self.list.menu_wanted.connect(self._show_menu)
        self.drawing.drawing.chosen.connect(lambda name: self.composer.select((name,)))
        self.composer.selected_changed.connect(lambda: self.drawing.show_selected(self.composer.selected))
        self.composer.refused.connect(self.notice.say)
        self.composer.accepted.connect(self.notice.clear)
        self.inspector.data_wanted.connect(lambda: self.workspace.navigator.go("data"))
        theme().changed.connect(self.list.viewport().update)

    def _on_project(self, old: Project, new: Project) -> None:
        same = all(getattr(old, part) is getattr(new, part) for part in ("network", "preprocessing", "data", "recipe"))
        if not same:
            self._refresh()

    def _refresh(self) -> None:
        document = self.workspace.document
        project, report = document.project, document.report
        blocks = len(project.network.blocks)
        self.middle.setCurrentWidget(self.list if blocks else self.start)
        self.summary.setText(trn(blocks, "{n} block", "{n} blocks") if blocks else "")
        self.list.refresh(project, report)
        self.inspector.refresh()
        self.footing.refresh()
        self._show_drawing()
        self._tell_status()

    def _tell_status(self) -> None:
        status = (self.status(), self.status_text())
        if status != self._status:
            self._status = status
            self.status_changed.emit()

    def _show_drawing(self) -> None:
        document = self.workspace.document
        has_blocks = bool(document.project.network.blocks)
        is_wanted = self._is_drawing_wanted
        is_shown = has_blocks and (self.width() >= _WIDTH_FOR_DRAWING_PX if is_wanted is None else is_wanted)
        self.drawing.setVisible(is_shown)
        self.drawing_button.setChecked(is_shown)
        self.drawing_button.setEnabled(has_blocks)
        if is_shown:
            self.drawing.drawing.show_network(document.project, document.report)

    def _want_drawing(self, is_wanted: bool) -> None:
        self._is_drawing_wanted = is_wanted
        self._show_drawing()

    def _on_used(self, kind: str) -> None:
        self.composer.insert_kind(kind)

    def _on_dropped(self, data: object) -> None:
        blocks = blocks_from_text(text_in(data))  # type: ignore[arg-type]  # a signal forgets that it is QMimeData
        if isinstance(blocks, Problem):
            self.notice.say(blocks)
        else:
            self.composer.insert_blocks(blocks)

    def _on_link(self, row: Row) -> None:
        if row.part != "block":
            self.workspace.navigator.go("data")
        else:
            self._fix(row.id)

    def _fix(self, id: str) -> None:
        """The nearest fix of a block's trouble."""
        row = next((row for row in self.list.rows.rows if row.id == id), None)
        fix = next((fix for problem in (row.problems if row else ()) for fix in problem.fixes), None)
        if fix is not None:
            self.composer.apply_fix(fix)

    def _fix_selected(self) -> None:
        for name in self.composer.selected[:1]:
            self._fix(name)

    def _show_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        for action in self._block_actions():
            if action.is_separated:
                menu.addSeparator()
            made = q_action(action, menu)
            made.setEnabled(action.enabled())
            menu.addAction(made)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)

    def status(self) -> PageStatus:
        report = self.workspace.document.report
        if not report.blocks:
            return PageStatus.NOTHING
        severities = {problem.severity for problem in self._own_problems()}
        if Severity.ERROR in severities:
            return PageStatus.ERROR
        is_tight = self.footing.problem is not None
        return PageStatus.WARNING if Severity.WARNING in severities or is_tight else PageStatus.READY

    def _own_problems(self) -> list[Problem]:
        """Those of the network; what is missing from the pictures is the Data page's."""
        problems, premature = self.workspace.document.report.all_problems, self.workspace.pictures.premature_codes
        return [p for p in problems if not p.code.startswith("project.") and p.code not in premature]

    def status_text(self) -> str:
        match self.status():
            case PageStatus.NOTHING:
                return tr("The network has no blocks yet.")
            case PageStatus.READY:
                return tr("The network is ready to be trained.")
            case _:
                problem = next(iter(self._own_problems()), self.footing.problem)
                return problem_message(problem) if problem is not None else ""

    def show_target(self, target: str) -> None:
        """Select the block with this id."""
        self.composer.select((target,))
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_of_page(self) -> list[Action]:
        menu = tr("Network")
        extra = [
            Action(
                "network.add",
                tr("Add a block…"),
                self._add,
                "Ctrl+B",
                menu,
                self.isVisible,
                tr("Goes to the palette's search: type a name and press Enter."),
            )
        ]
        drawing = Action(
            "network.drawing",
            tr("Show the drawing"),
            lambda: self._want_drawing(self.drawing.isHidden()),
            "",
            menu,
            lambda: self.isVisible() and self.drawing_button.isEnabled(),
            tr("Shows or hides the picture of the network beside the list."),
        )
        return [*extra, *self._block_actions(), drawing, *self._template_actions()]

    def _add(self) -> None:
        self.shelf.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.shelf.search.selectAll()

    def _has_chosen(self) -> bool:
        return self.isVisible() and bool(self.composer.chosen)

    def _has_fix(self) -> bool:
        row = next((row for row in self.list.rows.rows if row.id in self.composer.selected), None)
        return self.isVisible() and row is not None and any(problem.fixes for problem in row.problems)

    def _block_actions(self) -> list[Action]:
        menu, composer = tr("Network"), self.composer

        def act(id: str, title: str, run: Callable[[], object], keys: str, help: str, *, line: bool = False) -> Action:
            return Action(f"network.{id}", title, lambda: _do(run), keys, menu, self._has_chosen, help, line)

        fix = Action(
            "network.fix",
            tr("Apply the nearest fix"),
            self._fix_selected,
            "Alt+Return",
            menu,
            self._has_fix,
            tr("Changes the selected block's setting to the nearest value that works."),
        )
        return [
            act(
                "cut", tr("Cut blocks"), composer.cut, "Ctrl+X", tr("Copies the blocks and takes them out."), line=True
            ),
            act("copy", tr("Copy blocks"), composer.copy, "Ctrl+C", tr("Copies the blocks, also for other projects.")),
            Action(
                "network.paste",
                tr("Paste blocks"),
                composer.paste,
                "Ctrl+V",
                menu,
                self.isVisible,
                tr("Puts copied blocks after the selection."),
            ),
            act(
                "duplicate", tr("Duplicate blocks"), composer.duplicate, "Ctrl+D", tr("Makes a copy right after them.")
            ),
            act("delete", tr("Delete blocks"), composer.remove, "Del", tr("Takes the blocks out. It can be undone.")),
            act("up", tr("Move up"), lambda: composer.shift(-1), "Alt+Up", tr("Nearer to the input."), line=True),
            act("down", tr("Move down"), lambda: composer.shift(1), "Alt+Down", tr("Nearer to the output.")),
            fix,
            Action(
                "network.select_all",
                tr("Select all blocks"),
                composer.select_all,
                "Ctrl+A",
                menu,
                self.isVisible,
                tr("Selects everything between input and output."),
            ),
        ]

    def _template_actions(self) -> list[Action]:
        def use(name: str) -> Callable[[], None]:
            return lambda: self.composer.use_template(templates()[name])

        return [
            Action(
                f"network.template.{name}",
                tr("Template: {template}", template=template.label),
                use(name),
                "",
                tr("Network"),
                help=template.help,
                is_separated=number == 0,
            )
            for number, (name, template) in enumerate(templates().items())
        ]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.devices.watch(True)
        self._show_drawing()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.devices.watch(False)
        self.composer.seal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._is_drawing_wanted is None:
            self._show_drawing()


def _do(run: Callable[[], object]) -> None:
    run()
