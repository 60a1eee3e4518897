"""What an empty network shows: the templates as cards, so that nobody has to begin with nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from studio.core.templates import Template, templates
from studio.core.text import tr, trn
from studio.view.network.clipping import BLOCKS_MIME
from studio.view.network.wording import block_label
from studio.view.pieces import wrapped
from studio.view.theme import set_role, theme


class Start(QScrollArea):
    """Cards of the templates. `template_wanted(Template)` follows a button, `dropped(QMimeData)` blocks put here."""

    template_wanted = Signal(object)
    dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("network.start")
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAcceptDrops(True)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(theme().space_px * 2)
        column.addWidget(wrapped(tr("The network has no blocks yet"), "title"))
        words = tr(
            "A network is a list of blocks that turns a picture into one number for each class. "
            "Start from a template and change it as you like, or add blocks from the palette on the left."
        )
        column.addWidget(wrapped(words, "muted"))
        for number, template in enumerate(templates().values()):
            column.addWidget(self._card(template, is_first=number == 0))
        column.addStretch(1)
        self.setWidget(body)

    def _card(self, template: Template, *, is_first: bool) -> QFrame:
        card = QFrame()
        set_role(card, "card")
        column = QVBoxLayout(card)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(theme().space_px)
        column.addWidget(wrapped(template.label, "heading"))
        column.addWidget(wrapped(template.help))
        blocks = template.network.blocks
        names = " › ".join(block_label(block.kind) for block in blocks)
        column.addWidget(wrapped(f"{trn(len(blocks), '{n} block', '{n} blocks')}: {names}", "muted"))
        button = QPushButton(tr("Use {template}", template=template.label))
        button.setObjectName(f"network.start.{template.name}")
        button.setAccessibleName(button.text())
        button.setToolTip(tr("Puts these blocks into the project. It can be undone."))
        if is_first:
            set_role(button, "primary")
        button.clicked.connect(lambda: self.template_wanted.emit(template))
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(BLOCKS_MIME):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.dropped.emit(event.mimeData())
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
