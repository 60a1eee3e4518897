"""How training pictures are varied: the settings, and what they make of the chosen picture, shown by the engine."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.core.augmentation import Augmentation
from studio.core.edits import SetPart
from studio.core.fields import Value
from studio.core.problem import Problem
from studio.core.project import Project, fields_of
from studio.core.text import problem_message, tr
from studio.view.form import Form
from studio.view.pieces import wrapped
from studio.view.theme import set_role
from studio.view.workspace import Workspace

_COLUMNS, _ROWS = 4, 2
_CELL_PX = 76
# A value that is being dragged or typed is not asked about at each step.
_CALM_MS = 150
# An engine that is slower than this gets a word about it.
_PATIENCE_MS = 400


class _Answers(QObject):
    """Brings what arrives on the engine's thread to the window's."""

    arrived = Signal(int, object)


class Variations(QWidget):
    """The augmentation form, and below it the picture before and after, drawn anew by "Again"."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._path: Path | None = None
        self._asked: tuple[Project, Path, int] | None = None
        self._number, self._turn = 0, 0
        self._is_waiting = False
        self._answers = _Answers()
        self._answers.arrived.connect(self._on_answer)
        self._calm, self._patience = QTimer(self), QTimer(self)
        for timer, pause, action in ((self._calm, _CALM_MS, self._ask), (self._patience, _PATIENCE_MS, self._say_wait)):
            timer.setSingleShot(True)
            timer.setInterval(pause)
            timer.timeout.connect(action)
        self.form = Form(fields_of(Augmentation))
        self.form.edited.connect(self._edit)
        self.caption = wrapped("", "muted")
        self.again = QPushButton(tr("Again"))
        self.again.setObjectName("data.vary_again")
        self.again.setToolTip(tr("Draw other random changes of the same picture, as training does in each epoch."))
        self.again.clicked.connect(self._draw_again)
        self.strip, self.cells = _strip()
        row = QHBoxLayout()
        row.addWidget(self.again)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.form)
        column.addWidget(self.caption)
        column.addWidget(self.strip)
        column.addLayout(row)

    def refresh(self, path: Path | None) -> None:
        """Show what the project says now, with the picture at `path`."""
        self._path = path
        wanted = self._workspace.document.project.augmentation
        self.form.show_values({field.name: getattr(wanted, field.name) for field in fields_of(wanted)})
        is_shown = wanted.is_on and path is not None
        self.strip.setVisible(is_shown)
        self.again.setVisible(is_shown)
        if not is_shown:
            self._forget()
            self._say(_resting_text(wanted))
        elif self._asked is None or self._asked != self._question():
            self._calm.start()

    def _edit(self, name: str, value: Value) -> None:
        edit = SetPart("augmentation", name, value)
        self._workspace.document.edit(tr("Change the augmentation"), edit.apply, merge=f"augmentation.{name}")

    def _draw_again(self) -> None:
        self._turn += 1
        self._ask()

    def _question(self) -> tuple[Project, Path, int] | None:
        """What the engine needs to know, and no more: a change of the network is no new question."""
        project, path = self._workspace.document.project, self._path
        if path is None:
            return None
        asked = Project(preprocessing=project.preprocessing, recipe=project.recipe, augmentation=project.augmentation)
        return asked, path, self._turn

    def _ask(self) -> None:
        question = self._question()
        if question is None or self._is_waiting:  # the answer that is on its way asks again
            return
        self._asked = question
        self._number += 1
        self._is_waiting = True
        number, answers = self._number, self._answers
        self._patience.start()
        project, path, turn = question
        future = self._workspace.engine.augment_preview(project, path, _COLUMNS * _ROWS - 1, turn)

        def hand_over(done: Future[tuple[bytes, ...] | Problem]) -> None:
            answers.arrived.emit(number, done.result())

        future.add_done_callback(hand_over)

    def _on_answer(self, number: int, answer: tuple[bytes, ...] | Problem) -> None:
        if number != self._number:
            return
        self._is_waiting = False
        self._patience.stop()
        if self._asked != self._question():
            self._ask()
        if isinstance(answer, Problem):
            for cell in self.cells:
                cell.clear()
            self._say(problem_message(answer), "error")
            return
        for cell, png in zip(self.cells, answer, strict=False):
            cell.setPixmap(_fitted(png))
        self._say(_shown_text(self._workspace.document.project.augmentation))

    def _forget(self) -> None:
        """What is on its way is not wanted any more."""
        self._calm.stop()
        self._patience.stop()
        self._number += 1
        self._is_waiting, self._asked = False, None

    def _say_wait(self) -> None:
        if self._workspace.engine.state in {"off", "starting"}:
            self._say(tr("The engine is starting…"))
        else:
            self._say(tr("The engine is drawing…"))

    def _say(self, text: str, role: str = "muted") -> None:
        self.caption.setText(text)
        set_role(self.caption, role)


def _strip() -> tuple[QWidget, list[QLabel]]:
    """The places of the pictures: the first as it is, then what becomes of it."""
    strip = QWidget()
    grid = QGridLayout(strip)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setSpacing(4)
    grid.setColumnStretch(_COLUMNS, 1)
    cells = []
    for number in range(_COLUMNS * _ROWS):
        cell = QLabel()
        cell.setFixedSize(_CELL_PX, _CELL_PX)
        cell.setAlignment(Qt.AlignmentFlag.AlignCenter)
        name = tr("The picture as it is") if number == 0 else tr("Variation {n}", n=number)
        cell.setAccessibleName(name)
        cell.setToolTip(name)
        grid.addWidget(cell, number // _COLUMNS, number % _COLUMNS)
        cells.append(cell)
    return strip, cells


def _fitted(png: bytes) -> QPixmap:
    """The picture in the size of a cell; small ones keep hard pixels, so that they can be seen."""
    picture = QPixmap()
    picture.loadFromData(png)
    if picture.isNull():
        return picture
    is_small = max(picture.width(), picture.height()) < _CELL_PX
    way = Qt.TransformationMode.FastTransformation if is_small else Qt.TransformationMode.SmoothTransformation
    return picture.scaled(_CELL_PX, _CELL_PX, Qt.AspectRatioMode.KeepAspectRatio, way)


def _resting_text(wanted: Augmentation) -> str:
    if wanted.is_on:
        return tr("Choose a picture to see what becomes of it.")
    return tr(
        "Pictures are used as they are. Random changes help where there are few of them: raise a value to see what "
        "becomes of the chosen picture."
    )


def _shown_text(wanted: Augmentation) -> str:
    text = tr(
        "The first is the picture as it is. Only pictures to learn from are changed, anew in each epoch; those to "
        "check with never are."
    )
    return text if not wanted.mixup else text + " " + tr("Mixup is not shown: it takes two pictures.")
