"""What stands in the place of a page that could not be made: which, why, and the way on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout

from studio.core.text import tr
from studio.view.places import Place
from studio.view.workspace import Page, PageStatus, Workspace


class UnopenedPage(Page):
    """The other pages go on working."""

    def __init__(self, workspace: Workspace, place: Place, error: Exception) -> None:
        self.id = place.id
        super().__init__(workspace)
        self._words = tr("{place} could not be opened: {reason}", place=tr(place.label), reason=str(error))
        column = QVBoxLayout(self)
        column.setContentsMargins(40, 40, 40, 40)
        title = QLabel(self._words)
        title.setProperty("role", "heading")
        title.setWordWrap(True)
        title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        below = QLabel(tr("The other places work as usual. Saving the project and opening the program again may help."))
        below.setProperty("role", "muted")
        below.setWordWrap(True)
        column.addWidget(title)
        column.addWidget(below)
        column.addStretch(1)

    def status(self) -> PageStatus:
        return PageStatus.ERROR

    def status_text(self) -> str:
        return self._words
