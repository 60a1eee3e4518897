"""Classify pictures with a run's model: drop or choose them, and see the likeliest labels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QIcon
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from studio.core.problem import Problem
from studio.core.text import problem_message, problem_repair, problem_why, tr, trn
from studio.dataset.formats import PICTURE_SUFFIXES, is_system_file, suffix_of
from studio.dataset.labels import natural_key, shown
from studio.runs.answers import Prediction
from studio.runs.catalogue import RunSummary
from studio.runs.launchers.process import EngineProcess
from studio.view.data.thumbnails import Thumbnails
from studio.view.filedialogs import file_dialog
from studio.view.icons import pixmap
from studio.view.pieces import button, row, wrapped
from studio.view.results.flow import FlowLayout
from studio.view.results.guesses import Guessed, GuessList, GuessModel, guess_sentence
from studio.view.results.wording import run_title
from studio.view.theme import set_role, theme
from studio.view.workspace import SettingsHolder

TOP = 5
MOST_PICTURES = 200
_LOOK_MS = 200
_SETTLE_MS = 300
_TRY_PX = 40
_SIGN_PX = 22
_MOST_TRIES = 10
TRY_THESE = "try_these"


def _spread(paths: Sequence[Path], most: int) -> list[Path]:
    """At most `most` of `paths`, evenly from the first to the last.

    Of the sample that is one picture of each digit, all of which its usual network tells after a few epochs; it does
    not tell all twenty.
    """
    if len(paths) <= most:
        return list(paths)
    return [paths[-(-place * (len(paths) - 1) // (most - 1))] for place in range(most)]


class _Answers(QObject):
    """Hands an answer over from the engine's reader thread to the window's."""

    arrived = Signal(int, object)


class DropZone(QFrame):
    """Takes pictures that are dropped on it. `dropped(list[Path])`."""

    dropped = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self.setObjectName("classify.zone")
        self._icon = QLabel()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(12, 10, 12, 10)
        self.column.setSpacing(6)
        hint = QLabel(tr("Drop pictures here"))
        hint.setProperty("role", "muted")
        line = QHBoxLayout()
        line.addStretch(1)
        line.addWidget(self._icon)
        line.addWidget(hint)
        line.addStretch(1)
        self.column.addLayout(line)
        self._frame(is_over=False)
        theme().changed.connect(self._on_theme)

    def _on_theme(self) -> None:
        self._frame(is_over=False)

    def _frame(self, *, is_over: bool) -> None:
        line = theme().colour("accent" if is_over else "line").name()
        ground = theme().colour("accent_soft" if is_over else "surface").name()
        self.setStyleSheet(
            f"QFrame#classify\\.zone {{ border: 2px dashed {line}; border-radius: 8px; background: {ground}; }}"
        )
        self._icon.setPixmap(pixmap("results", _SIGN_PX, "accent" if is_over else "muted", self.devicePixelRatioF()))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()
            self._frame(is_over=True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._frame(is_over=False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._frame(is_over=False)
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.dropped.emit(paths)


class Classifier(QFrame):
    """The panel. `train_wanted` follows the button that is there while no run has a model."""

    train_wanted = Signal()

    def __init__(self, engine: EngineProcess, settings: SettingsHolder) -> None:
        super().__init__()
        self._engine, self._settings = engine, settings
        self._run: RunSummary | None = None
        self._asked = 0
        self._is_waiting = False
        self._answers = _Answers()
        self._answers.arrived.connect(self._on_answer)
        self._thumbnails = Thumbnails()
        self._thumbnails.arrived.connect(self._on_thumbnails)
        self._tries: dict[Path, QToolButton] = {}
        self._tries_folder: Path | None = None
        self._look = QTimer(self)
        self._look.setInterval(_LOOK_MS)
        self._look.timeout.connect(self._say_waiting)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._again)
        self._build()
        self.use_run(None)

    def _build(self) -> None:
        self.setProperty("role", "card")
        self.setObjectName("results.classify")
        self.model = GuessModel(self._thumbnails)
        self.guesses = GuessList(self.model)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        heading = QLabel(tr("Classify a picture"))
        heading.setProperty("role", "heading")
        self.model_text = wrapped("", "muted")
        column.addWidget(heading)
        column.addWidget(self.model_text)
        self.train_button = button(
            tr("Go to the Train page"), tr("Train a network first; then it can classify pictures."), "classify.train",
            self.train_wanted.emit, "primary",
        )  # fmt: skip
        column.addWidget(self.train_button)
        self.zone = DropZone()
        self.zone.dropped.connect(self.classify)
        self.choose_button = button(
            tr("Choose pictures…"), tr("Picks picture files from the disk. They are only read, never changed."),
            "classify.choose", self.ask_for_pictures, "primary",
        )  # fmt: skip
        self.zone.column.addWidget(self.choose_button, alignment=Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.zone)
        column.addWidget(self._tries_part())
        column.addLayout(self._state())
        column.addWidget(self.guesses, 1000)
        column.addStretch(1)

    def _tries_part(self) -> QWidget:
        self._tries_holder = QWidget()
        column = QVBoxLayout(self._tries_holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        title = QLabel(tr("Or try one of these:"))
        title.setProperty("role", "muted")
        flow_holder = QWidget()
        self._tries_flow = FlowLayout(flow_holder, 2)
        column.addWidget(title)
        column.addWidget(flow_holder)
        return self._tries_holder

    def _state(self) -> QVBoxLayout:
        """What goes on, with the buttons below: beside them, a long reason would be a word wide."""
        self.state_text = wrapped("")
        self.state_text.setObjectName("classify.state")
        self.again_button = button(
            tr("Try again"), tr("Asks the engine once more about the same pictures."), "classify.again", self._again
        )
        self.clear_button = button(tr("Clear"), tr("Empties the list below."), "classify.clear", self.clear, "quiet")
        rows = QVBoxLayout()
        rows.setSpacing(4)
        rows.addWidget(self.state_text)
        buttons = row(self.again_button, self.clear_button)
        buttons.addStretch(1)
        rows.addLayout(buttons)
        return rows

    # What a person does

    def use_run(self, run: RunSummary | None) -> None:
        """Classify with this run's model from now on; pictures in the list are classified anew."""
        is_other = (run.path if run else None) != (self._run.path if self._run else None)
        self._run = run
        has_model = run is not None and run.model is not None
        self.zone.setVisible(has_model)
        self.train_button.setVisible(not has_model)
        if run is None or not has_model:
            self.model_text.setText(tr("No run has left a model yet. Train a network, and it will classify for you."))
            self._tries_holder.hide()
            self._say("")
            self.again_button.hide()
            self.clear_button.hide()
            self.guesses.hide()
            return
        self.model_text.setText(tr("With the model of {run}", run=run_title(run)))
        self.model_text.setToolTip(shown(str(run.model)))
        self._show_tries(run)
        if is_other and self.model.rows:
            self._settle.start()
        self._refresh_state()

    def ask_for_pictures(self) -> None:
        """Let the person choose picture files."""
        if self._run is None:
            return
        dialog = file_dialog(
            self, self._settings, tr("Choose pictures"), "classify", QFileDialog.FileMode.ExistingFiles
        )
        patterns = " ".join(f"*.{suffix}" for suffix in sorted(PICTURE_SUFFIXES))
        dialog.setNameFilters([f"{tr('Pictures')} ({patterns})", f"{tr('All files')} (*)"])
        dialog.filesSelected.connect(lambda names: self.classify([Path(name) for name in names]))
        dialog.open()

    def classify(self, paths: Sequence[Path]) -> None:
        """Ask the model about these pictures; of a folder, about those that lie in it."""
        if self._run is None or self._run.model is None:
            return
        pictures = list(dict.fromkeys(_pictures(paths)))
        asked = pictures[:MOST_PICTURES]
        if not asked:
            self._say(tr("There is no picture among what was dropped."), "warning")
            return
        known = [row for row in self.model.rows if row.path not in set(asked)]
        self.model.show([*map(Guessed, asked), *known][:MOST_PICTURES])
        self.guesses.scrollToTop()
        self._ask(asked)
        if len(pictures) > len(asked):
            self._say(
                tr(
                    "The first {most} of {n:,} pictures are classified here. For more, use: studio predict",
                    most=MOST_PICTURES,
                    n=len(pictures),
                ),
                "warning",
            )

    def clear(self) -> None:
        """Empty the list; an answer that is still on its way is not waited for."""
        self._asked += 1
        self._is_waiting = False
        self._look.stop()
        self.model.show(())
        self._refresh_state()

    # Asking and being answered

    def _again(self) -> None:
        rows = [Guessed(row.path) for row in self.model.rows]
        if rows:
            self.model.show(rows)
            self._ask([row.path for row in rows])

    def _ask(self, paths: Sequence[Path]) -> None:
        if self._run is None or self._run.model is None:
            return
        self._asked += 1
        number, answers = self._asked, self._answers
        # Rows of an earlier question that has not been answered are asked again with this one.
        waiting = [row.path for row in self.model.rows if row.prediction is None]
        wanted = list(dict.fromkeys([*paths, *waiting]))
        self._is_waiting = True
        self._refresh_state()
        self._look.start()
        future = self._engine.predict(self._run.model, wanted, TOP)

        def hand_over(done: Future[tuple[Prediction, ...] | Problem]) -> None:
            answers.arrived.emit(number, done.result())

        future.add_done_callback(hand_over)

    def _on_answer(self, number: int, answer: tuple[Prediction, ...] | Problem) -> None:
        if number != self._asked:
            return
        self._is_waiting = False
        self._look.stop()
        if isinstance(answer, Problem):
            parts = (problem_message(answer), problem_why(answer), problem_repair(answer))
            self._refresh_state()
            self._say(" ".join(part for part in parts if part), "error")
            self.again_button.show()
            return
        self.model.answer(answer)
        self._refresh_state()

    def _say_waiting(self) -> None:
        if not self._is_waiting:
            return
        if self._engine.state in {"off", "starting"}:
            self._say(tr("The engine is starting…"), "muted")
        else:
            self._say(tr("Looking at the pictures…"), "muted")

    def _refresh_state(self) -> None:
        self.again_button.hide()
        has_rows = bool(self.model.rows) and self._run is not None
        self.clear_button.setVisible(has_rows)
        self.guesses.setVisible(has_rows)
        if self._is_waiting:
            self._say_waiting()
            return
        rows = self.model.rows
        self.guesses.setAccessibleDescription(guess_sentence(rows[0]) if rows else "")
        refused = sum(row.refused is not None for row in rows)
        if refused:
            self._say(trn(refused, "{n} picture was refused.", "{n:,} pictures were refused."), "warning")
        else:
            self._say(trn(len(rows), "{n} picture", "{n:,} pictures") if rows else "", "muted")

    def _say(self, text: str, role: str = "muted") -> None:
        set_role(self.state_text, role)
        self.state_text.setText(text)

    # Pictures to try

    def _show_tries(self, run: RunSummary) -> None:
        """Pictures that lie beside the pictures of the run for just this, as they do beside the sample."""
        folder = Path(str(run.settings.get("data.folder") or ".")).parent / TRY_THESE
        if folder != self._tries_folder:
            self._tries_folder = folder
            while (item := self._tries_flow.takeAt(0)) is not None:
                if (old := item.widget()) is not None:
                    old.setParent(None)
                    old.deleteLater()
            found = list(_pictures([folder])) if folder.is_dir() else []
            self._tries = {path: self._try_button(path) for path in _spread(found, _MOST_TRIES)}
            for made in self._tries.values():
                self._tries_flow.addWidget(made)
        self._tries_holder.setVisible(bool(self._tries))
        self._on_thumbnails(list(self._tries))

    def _try_button(self, path: Path) -> QToolButton:
        made = QToolButton()
        made.setObjectName(f"classify.try.{path.name}")
        made.setFixedSize(_TRY_PX, _TRY_PX)
        made.setIconSize(QSize(_TRY_PX - 12, _TRY_PX - 12))
        made.setToolTip(tr("Classify {name}", name=shown(path.name)))
        made.setAccessibleName(tr("Classify {name}", name=shown(path.name)))
        made.clicked.connect(lambda: self.classify([path]))
        return made

    def _on_thumbnails(self, paths: Sequence[Path]) -> None:
        for path in paths:
            if path in self._tries and (picture := self._thumbnails.get(path)) is not None:
                self._tries[path].setIcon(QIcon(picture))


def _pictures(paths: Iterable[Path]) -> Iterable[Path]:
    """Files as they are; of a folder the pictures in it, in natural order."""
    for path in paths:
        if not path.is_dir():
            yield path.absolute()
            continue
        try:
            names = [entry.name for entry in os.scandir(path) if entry.is_file()]
        except OSError:
            continue
        kept = (name for name in names if suffix_of(name) in PICTURE_SUFFIXES and not is_system_file(name))
        yield from (path.absolute() / name for name in sorted(kept, key=natural_key))
