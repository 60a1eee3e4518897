"""The welcome: what a window without a project shows in the Data place, so that nobody meets a dialog first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.core.text import tr
from studio.view.elided import ElidedLabel
from studio.view.icons import IconLabel, icon, program_icon
from studio.view.openings import Openings
from studio.view.pieces import clear
from studio.view.recovery import RecoveryCopy
from studio.view.theme import theme
from studio.view.workspace import SettingsHolder

_WIDTH_EMS = 57  # grows with the text, so that the buttons keep their words
_SIGN_PX = 64
_ICON_PX = 28


@dataclass(frozen=True, slots=True)
class Way:
    """A card: one way to begin, with its icon's name as id and one button."""

    id: str
    title: str
    words: str
    label: str
    help: str
    run: Callable[[], None]


class RecentButton(QPushButton):
    """A project that was open before: its name and its place, on one button as wide as the list."""

    def __init__(self, name: str, place: str) -> None:
        super().__init__()
        self.setObjectName("welcome.recent")
        self.setProperty("role", "quiet")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        line = self._line = QHBoxLayout(self)
        line.setContentsMargins(8, 4, 8, 4)
        line.setSpacing(12)
        self.name = QLabel(name)
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.place = ElidedLabel(place, Qt.TextElideMode.ElideMiddle)
        self.place.setProperty("role", "muted")
        line.addWidget(self.name)
        line.addWidget(self.place, 1)
        for label in (self.name, self.place):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        return self._line.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._line.minimumSize()


class Welcome(QScrollArea):
    """Ways to begin: what a crash left behind, the sample, a folder, a project, and the recent ones."""

    def __init__(self, settings: SettingsHolder, openings: Openings) -> None:
        super().__init__()
        self._settings, self._openings = settings, openings
        self.setObjectName("welcome")
        self.setAccessibleName(tr("Welcome"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH_EMS * self.fontMetrics().height())
        inner.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(inner)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(18)
        self._recovered = QVBoxLayout()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        column.addLayout(self._head())
        column.addLayout(self._recovered)
        column.addLayout(self._ways())
        column.addLayout(self._recent)
        outer = QWidget()
        centred = QVBoxLayout(outer)
        centred.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(inner, 100)
        row.addStretch(1)
        centred.addStretch(1)
        centred.addLayout(row)
        centred.addStretch(2)
        self.setWidget(outer)
        settings.changed.connect(lambda *_: self.show_recent())
        openings.unpacking.connect(self._on_unpacking)
        theme().changed.connect(self.show_recent)
        self.show_recent()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(18)
        sign = QLabel()
        sign.setPixmap(program_icon().pixmap(QSize(_SIGN_PX, _SIGN_PX)))
        words = QVBoxLayout()
        words.setSpacing(4)
        title = QLabel(tr("Welcome to Lantern Studio"))
        title.setProperty("role", "title")
        below = QLabel(tr("Train an image classifier from a folder of pictures, and see where the memory goes."))
        below.setProperty("role", "muted")
        below.setWordWrap(True)
        words.addWidget(title)
        words.addWidget(below)
        row.addWidget(sign)
        row.addLayout(words, 1)
        return row

    def _ways(self) -> QGridLayout:
        openings = self._openings
        sample = Way(
            "sample",
            tr("Start with the sample"),
            tr("2,000 handwritten digits and a small network. It learns them in under a minute, on any computer."),
            tr("Open the sample project"),
            tr("Unpacks the pictures that come with the program and opens them as a project."),
            openings.open_sample,
        )
        folder = Way(
            "folder",
            tr("Use your own pictures"),
            tr("A folder with one folder in it for each class. Or drop it anywhere on this window."),
            tr("Choose a folder of pictures"),
            tr("Nothing in the folder is changed; the names of the folders in it become the classes."),
            openings.choose_folder_dialog,
        )
        project = Way(
            "project",
            tr("Go on with a project"),
            tr("A project file holds the network, the training settings and where the pictures are."),
            tr("Open a project"),
            tr("Opens a file that ends in .studio.json."),
            openings.open_dialog,
        )
        grid = QGridLayout()
        grid.setSpacing(14)
        self.sample = self._add_way(grid, 0, sample)
        self.sample.setProperty("role", "primary")
        self.folder = self._add_way(grid, 1, folder)
        self.project = self._add_way(grid, 2, project)
        return grid

    def _add_way(self, grid: QGridLayout, column: int, way: Way) -> QPushButton:
        card = QFrame()
        card.setProperty("role", "card")
        inside = QVBoxLayout(card)
        inside.setContentsMargins(18, 18, 18, 18)
        inside.setSpacing(8)
        picture = IconLabel(way.id, _ICON_PX, "accent")
        heading = QLabel(way.title)
        heading.setProperty("role", "heading")
        heading.setWordWrap(True)
        text = QLabel(way.words)
        text.setProperty("role", "muted")
        text.setWordWrap(True)
        button = QPushButton(way.label)
        button.setObjectName(f"welcome.{way.id}")
        button.setAccessibleName(way.label)
        button.setToolTip(way.help)
        button.clicked.connect(way.run)
        inside.addWidget(picture)
        inside.addWidget(heading)
        inside.addWidget(text)
        inside.addStretch(1)
        inside.addSpacing(6)
        inside.addWidget(button)
        grid.addWidget(card, 0, column)
        grid.setColumnStretch(column, 1)
        return button

    def show_recent(self) -> None:
        """The projects that were open before; those whose file is gone say so and can be forgotten."""
        clear(self._recent)
        recent = self._settings.value.recent
        if not recent:
            return
        title = QLabel(tr("Recent projects"))
        title.setProperty("role", "heading")
        self._recent.addWidget(title)
        for path in recent:
            self._recent.addWidget(self._recent_row(path))

    def _recent_row(self, path: str) -> QWidget:
        place = Path(path)
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        name = RecentButton(_project_name(place), str(place.parent))
        name.setAccessibleName(tr("Open {path}", path=path))
        name.setToolTip(tr("Open {path}", path=path))
        name.clicked.connect(lambda: self._openings.open_project(place))
        forget = QToolButton()
        forget.setObjectName("welcome.forget")
        forget.setIcon(icon("close", "muted"))
        forget.setAccessibleName(tr("Forget {path}", path=path))
        forget.setToolTip(tr("Take it out of this list. The file stays where it is."))
        forget.clicked.connect(lambda: self._openings.forget(path))
        line.addWidget(name, 1)
        line.addWidget(forget)
        return row

    def show_recovered(self, copies: tuple[RecoveryCopy, ...], forget: Callable[[RecoveryCopy], None]) -> None:
        """Offer what windows that ended unexpectedly left behind; `forget` deletes a copy."""
        clear(self._recovered)
        for copy in copies:
            self._recovered.addWidget(self._recovered_card(copy, forget))

    def _recovered_card(self, copy: RecoveryCopy, forget: Callable[[RecoveryCopy], None]) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card-warning")
        card.setObjectName("welcome.recovered")
        row = QHBoxLayout(card)
        row.setContentsMargins(16, 12, 12, 12)
        row.setSpacing(10)
        sign = IconLabel("recover", _ICON_PX, "warning")
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(copy.saved_at))
        words = QLabel(
            tr("The program ended unexpectedly. “{name}” was kept as it was at {when}.", name=_name(copy), when=when)
        )
        words.setWordWrap(True)
        recover = QPushButton(tr("Recover it"))
        recover.setObjectName("welcome.recover")
        recover.setProperty("role", "primary")
        recover.setToolTip(tr("Open it as unsaved work; the saved file stays as it is until you save."))
        discard = QPushButton(tr("Discard"))
        discard.setObjectName("welcome.discard")
        discard.setToolTip(tr("Delete this copy. The project's own file is not touched."))

        def bring_back() -> None:
            self._openings.recover(copy)
            forget(copy)

        recover.clicked.connect(bring_back)
        discard.clicked.connect(lambda: forget(copy))
        row.addWidget(sign)
        row.addWidget(words, 1)
        row.addWidget(discard)
        row.addWidget(recover)
        return card

    def _on_unpacking(self, is_on: bool) -> None:
        self.sample.setEnabled(not is_on)
        self.sample.setText(tr("Unpacking…") if is_on else tr("Open the sample project"))


def _name(copy: RecoveryCopy) -> str:
    return copy.project.name or (_project_name(copy.path) if copy.path else tr("a project without a name"))


def _project_name(path: Path) -> str:
    return path.name.removesuffix(".json").removesuffix(".studio")
