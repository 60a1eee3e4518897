"""The chosen block: what it does, what is wrong with it, its settings, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.core.blocks import BLOCKS, BlockSpec, shape_text
from studio.core.check import BlockReport
from studio.core.fields import Value
from studio.core.problem import Problem
from studio.core.project import Block
from studio.core.quantities import count_text, size_text
from studio.core.text import tr, trn
from studio.view.document import Document
from studio.view.form import Form
from studio.view.network.composer import Composer
from studio.view.network.glyphs import sign_icon
from studio.view.network.rows import INPUT, OUTPUT
from studio.view.network.wording import block_label, preparation_text, spec_of
from studio.view.pieces import clear, wrapped
from studio.view.problemcard import ProblemCard
from studio.view.theme import set_role, theme

_SIGN_PX = 30
# Problems that pictures solve: the way to the Data page belongs beside them.
_OF_DATA = frozenset({"block.no_classes", "project.no_data", "project.too_few_classes"})


class Inspector(QScrollArea):
    """Shows what is selected.

    Its contents are made anew when the selection or the trouble changes; while a setting is edited only values change,
    so that the field keeps the keyboard. `data_wanted` asks for the Data page.
    """

    data_wanted = Signal()

    def __init__(self, document: Document, composer: Composer) -> None:
        super().__init__()
        self._document = document
        self._composer = composer
        self._shown: object = None
        self._troubles = QVBoxLayout()
        self._problems: tuple[Problem, ...] = ()
        self.form: Form | None = None
        self._frozen: QCheckBox | None = None
        self._facts: tuple[QLabel, ...] = ()
        self.setObjectName("network.inspector")
        self.setAccessibleName(tr("Settings of the selected block"))
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        composer.selected_changed.connect(self.refresh)
        theme().changed.connect(self._rebuild)
        self._rebuild()

    def refresh(self) -> None:
        """Show the selection as the project is now."""
        if self._identity() != self._shown:
            self._rebuild()
        else:
            self._show_troubles()
            self._show_values()

    def focus_first(self) -> None:
        """Put the keyboard into the first setting, or onto the first button where there is none."""
        editors = list(self.form.editors.values()) if self.form else []
        target: QWidget | None = editors[0].input if editors else self.findChild(QPushButton)
        if editors and not editors[0].input.isEnabled():
            target = editors[0].findChild(QCheckBox)
        if target is not None:
            target.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.ensureWidgetVisible(target)

    def _identity(self) -> object:
        """What the contents depend on besides values and problems."""
        chosen, project = self._composer.chosen, self._document.project
        if not chosen:
            return (self._composer.selected, project.data.classes, project.preprocessing)
        can_be_frozen = all(self._can_be_frozen(block) for block in chosen)
        return (self._composer.selected, tuple(block.kind for block in chosen), can_be_frozen)

    def _can_be_frozen(self, block: Block) -> bool:
        measured = self._document.report.block(block.id)
        return block.frozen or bool(measured and measured.parameters)

    def _rebuild(self) -> None:
        self._shown = self._identity()
        self.form, self._frozen, self._facts, self._problems = None, None, (), ()
        self._troubles = QVBoxLayout()
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(2, 0, theme().space_px, theme().space_px)
        column.setSpacing(round(theme().space_px * 1.5))
        match self._composer.chosen:
            case ():
                self._build_end(column)
            case (block,):
                self._build_block(column, block)
            case several:
                self._build_several(column, several)
        column.addStretch(1)
        self.setWidget(body)
        self._show_troubles()
        self._show_values()

    def _build_end(self, column: QVBoxLayout) -> None:
        """The input, the output, or nothing."""
        project = self._document.project
        if self._composer.selected == (INPUT,):
            column.addLayout(_title(tr("Input"), sign_icon(None, _SIGN_PX)))
            shape = shape_text(project.preprocessing.shape)
            column.addWidget(wrapped(tr("One picture, as the network sees it: {shape}.", shape=shape), "muted"))
            how = preparation_text(project.preprocessing)
            column.addWidget(wrapped(tr("Every picture is prepared alike: {how}.", how=how)))
            column.addWidget(self._data_button(tr("Change on the Data page")))
        elif self._composer.selected == (OUTPUT,):
            column.addLayout(_title(tr("Output"), sign_icon(None, _SIGN_PX)))
            words = tr("One number for each class. The largest one is the network's answer.")
            column.addWidget(wrapped(words, "muted"))
            column.addLayout(self._troubles)
            if project.data.classes:
                heading = trn(project.class_count, "{n} class:", "{n} classes:")
                column.addWidget(wrapped(f"{heading} {', '.join(project.data.classes)}"))
        else:
            column.addWidget(_heading(tr("Settings")))
            column.addWidget(wrapped(tr("Select a block to see what it does and to change its settings."), "muted"))

    def _build_block(self, column: QVBoxLayout, block: Block) -> None:
        spec = spec_of(block.kind)
        column.addLayout(_title(block_label(block.kind), sign_icon(spec.group if spec else None, _SIGN_PX)))
        if spec is not None:
            column.addWidget(wrapped(tr(spec.help), "muted"))
        column.addLayout(self._troubles)
        if spec is not None and spec.fields:
            self.form = Form(spec.fields)
            self.form.edited.connect(lambda name, value: self._composer.set_value(block.id, name, value))
            column.addWidget(self.form)
        self._build_common(column, (block,))

    def _build_several(self, column: QVBoxLayout, chosen: tuple[Block, ...]) -> None:
        column.addWidget(_heading(trn(len(chosen), "{n} block selected", "{n} blocks selected")))
        column.addWidget(wrapped(tr("What you do here is done to all of them, as one step to undo."), "muted"))
        column.addLayout(self._troubles)
        self._build_common(column, chosen)

    def _build_common(self, column: QVBoxLayout, chosen: tuple[Block, ...]) -> None:
        if all(self._can_be_frozen(block) for block in chosen):
            box = QCheckBox(tr("Frozen"))
            box.setObjectName("network.frozen")
            box.setAccessibleName(box.text())
            box.setToolTip(
                tr("Training leaves frozen weights alone. Useful for a part that was trained already; saves memory.")
            )
            box.clicked.connect(self._composer.freeze)
            self._frozen = box
            column.addWidget(box)
        column.addLayout(self._facts_grid(is_one=len(chosen) == 1))
        column.addLayout(self._buttons())

    def _facts_grid(self, *, is_one: bool) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme().space_px * 2)
        grid.setVerticalSpacing(theme().space_px // 2)
        grid.setColumnStretch(1, 1)
        names = [
            (tr("Takes"), tr("The shape that arrives for each picture: channels x height x width, or values.")),
            (tr("Gives"), tr("The shape that leaves for each picture.")),
            (tr("Parameters"), tr("Numbers that training learns.")),
            (tr("Multiply-adds"), tr("The work for one picture: multiplications with their additions.")),
            (tr("Kept for training"), tr("Memory for each picture of a batch, needed to compute the gradients.")),
        ]
        values = []
        for place, (name, meaning) in enumerate(names if is_one else names[2:]):
            label, value = wrapped(name, "muted"), QLabel()
            label.setWordWrap(False)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            for widget in (label, value):
                widget.setToolTip(meaning)
            grid.addWidget(label, place, 0)
            grid.addWidget(value, place, 1)
            values.append(value)
        self._facts = tuple(values)
        return grid

    def _buttons(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(theme().space_px)
        shift = self._composer.shift
        deeds: tuple[tuple[str, str, str, Callable[[], None]], ...] = (
            ("up", tr("Move up"), tr("One place nearer to the input (Alt+Up)."), lambda: shift(-1)),
            ("down", tr("Move down"), tr("One place nearer to the output (Alt+Down)."), lambda: shift(1)),
            ("duplicate", tr("Duplicate"), tr("A copy right after it (Ctrl+D)."), self._composer.duplicate),
            ("delete", tr("Delete"), tr("Take it out (Del). It can be undone."), self._composer.remove),
        )
        for number, (name, label, meaning, deed) in enumerate(deeds):
            button = QPushButton(label)
            button.setObjectName(f"network.{name}")
            button.setAccessibleName(label)
            button.setToolTip(meaning)
            button.clicked.connect(deed)
            if name == "delete":
                set_role(button, "danger")
            grid.addWidget(button, number // 2, number % 2)
        return grid

    def _data_button(self, label: str) -> QPushButton:
        button = QPushButton(label)
        button.setObjectName("network.data")
        button.setAccessibleName(label)
        button.setToolTip(tr("The size and the colour of pictures are chosen on the Data page."))
        button.clicked.connect(self.data_wanted)
        return button

    def _problems_now(self) -> tuple[Problem, ...]:
        report = self._document.report
        if self._composer.selected == (OUTPUT,):
            return tuple(problem for problem in report.problems if not problem.place)
        ids = [block.id for block in self._composer.chosen]
        of_blocks = [problem for measured in report.blocks if measured.id in ids for problem in measured.problems]
        return (*of_blocks, *(problem for problem in report.problems if problem.place in ids))

    def _show_troubles(self) -> None:
        problems = self._problems_now()
        if problems == self._problems:
            return
        self._problems = problems
        clear(self._troubles)
        for problem in problems:
            card = ProblemCard(problem)
            card.fixed.connect(self._composer.apply_fix)
            if problem.code in _OF_DATA:
                teaches = tr("Shows where the pictures come from.")
                card.add_button(tr("Go to the Data page"), teaches, self.data_wanted.emit)
            self._troubles.addWidget(card)

    def _show_values(self) -> None:
        chosen = self._composer.chosen
        if not chosen:
            return
        if self.form is not None:
            _show_settings(self.form, chosen[0], self._document.project.class_count)
        if self._frozen is not None:
            self._frozen.setChecked(all(block.frozen for block in chosen))
        found = [measured for block in chosen if (measured := self._document.report.block(block.id))]
        for label, words in zip(self._facts, _facts(found, is_one=len(chosen) == 1), strict=True):
            label.setText(words)


def _show_settings(form: Form, block: Block, class_count: int) -> None:
    """The block's settings; where one follows something else, the field behind it holds what it follows."""
    spec: BlockSpec = BLOCKS[block.kind]
    followed: dict[str, Value] = dict(spec.resolve(block, class_count))
    if followed.get("stride", 0) is None:
        followed["stride"] = followed["kernel"]
    for field in spec.fields:
        value = block.settings.get(field.name, field.default)
        shown = value if field.accepts(value) else field.default
        stand_in = followed[field.name]
        if shown is None and stand_in is not None and field.accepts(stand_in):
            form.editors[field.name].show_value(stand_in)
        form.editors[field.name].show_value(shown)


def _facts(found: list[BlockReport], *, is_one: bool) -> list[str]:
    parameters, work = sum(b.parameters for b in found), sum(b.multiply_adds for b in found)
    kept = sum(b.activation_bytes for b in found)
    words = [
        f"{parameters:,}" if parameters else tr("none"),
        tr("{count} per picture", count=count_text(work)) if work else tr("none"),
        tr("{size} per picture", size=size_text(kept)) if kept else tr("nothing"),
    ]
    if not is_one:
        return words
    shapes = found[0] if found else None
    takes = ", ".join(map(shape_text, shapes.input_shapes)) if shapes else ""
    gives = shape_text(shapes.output_shape) if shapes and shapes.output_shape else ""
    return [takes or "–", gives or "–", *words]


def _heading(text: str) -> QLabel:
    return wrapped(text, "heading")


def _title(text: str, icon: QIcon) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(theme().space_px)
    sign = QLabel()
    sign.setPixmap(icon.pixmap(_SIGN_PX, _SIGN_PX))
    row.addWidget(sign)
    row.addWidget(_heading(text), 1)
    return row
