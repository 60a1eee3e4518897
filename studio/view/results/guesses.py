"""The classified pictures as a list: each with its likeliest labels as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from studio.core.quantities import share_text
from studio.core.text import tr
from studio.dataset.labels import shown
from studio.runs.answers import Guess, Prediction
from studio.view.data.thumbnails import THUMBNAIL_PX, Thumbnails
from studio.view.theme import theme

AnyIndex = QModelIndex | QPersistentModelIndex
GUESSED_ROLE = Qt.ItemDataRole.UserRole + 1
_PICTURE_PX = THUMBNAIL_PX
_GAP_PX = 10
_LARGEST_ZOOM = 4


@dataclass(frozen=True, slots=True)
class Guessed:
    """One picture: `prediction` is None while the answer is on its way."""

    path: Path
    prediction: Prediction | None = None

    @property
    def guesses(self) -> tuple[Guess, ...]:
        return self.prediction.top if self.prediction is not None else ()

    @property
    def refused(self) -> str | None:
        return self.prediction.refused if self.prediction is not None else None


class GuessModel(QAbstractListModel):
    """The pictures, newest first."""

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._rows: list[Guessed] = []
        thumbnails.arrived.connect(self._on_arrived)

    @property
    def rows(self) -> tuple[Guessed, ...]:
        return tuple(self._rows)

    def show(self, rows: Sequence[Guessed]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def answer(self, predictions: Sequence[Prediction]) -> None:
        """Fill in what the model said."""
        by_path = {Path(one.path): one for one in predictions}
        for row, guessed in enumerate(self._rows):
            if guessed.path in by_path:
                self._rows[row] = replace(guessed, prediction=by_path[guessed.path])
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        guessed = self._rows[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return shown(guessed.path.name)
            case Qt.ItemDataRole.DecorationRole:
                return self._thumbnails.get(guessed.path)
            case Qt.ItemDataRole.AccessibleTextRole:
                return guess_sentence(guessed)
            case Qt.ItemDataRole.ToolTipRole:
                return f"{shown(str(guessed.path))}\n{guess_sentence(guessed)}"
            case _ if role == GUESSED_ROLE:
                return guessed
        return None

    def _on_arrived(self, paths: Sequence[Path]) -> None:
        for row, guessed in enumerate(self._rows):
            if guessed.path in paths:
                self.dataChanged.emit(self.index(row), self.index(row), [Qt.ItemDataRole.DecorationRole])


def guess_sentence(guessed: Guessed) -> str:
    """What the model says of a picture, in one sentence."""
    name = shown(guessed.path.name)
    if guessed.refused is not None:
        return tr("{name} cannot be classified: {reason}", name=name, reason=guessed.refused)
    if not guessed.guesses:
        return tr("{name}: waiting for the answer…", name=name)
    parts = [f"{shown(guess.label)} {share_text(guess.probability)}" for guess in guessed.guesses]
    return tr("{name}: {guesses}", name=name, guesses=", ".join(parts))


class _GuessDelegate(QStyledItemDelegate):
    """Left the picture; right its name and a line for each guess."""

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        line = option.fontMetrics.height() + 4
        guessed: Guessed = index.data(GUESSED_ROLE)
        lines = 1 + max(len(guessed.guesses), 5 if guessed.refused is None else 3)
        return QSize(220, max(_PICTURE_PX, lines * line) + 2 * _GAP_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        painter.save()
        guessed: Guessed = index.data(GUESSED_ROLE)
        area: QRect = option.rect.adjusted(_GAP_PX, _GAP_PX, -_GAP_PX, -_GAP_PX)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme().colour("selection"))
        painter.setPen(theme().colour("line"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme().colour("accent"), 2))
            painter.drawRect(option.rect.adjusted(1, 1, -2, -2))
        self._picture(painter, QRect(area.left(), area.top(), _PICTURE_PX, _PICTURE_PX), index, guessed)
        texts = area.adjusted(_PICTURE_PX + 12, 0, 0, 0)
        line = option.fontMetrics.height() + 4
        painter.setFont(theme().font("small_text"))
        painter.setPen(theme().colour("muted"))
        name = painter.fontMetrics().elidedText(
            str(index.data(Qt.ItemDataRole.DisplayRole)), Qt.TextElideMode.ElideMiddle, texts.width()
        )
        painter.drawText(QRect(texts.left(), texts.top(), texts.width(), line), Qt.AlignmentFlag.AlignVCenter, name)
        below = texts.adjusted(0, line, 0, 0)
        if guessed.refused is not None:
            self._refusal(painter, below, guessed.refused)
        elif guessed.guesses:
            self._bars(painter, below, guessed.guesses, line)
        else:
            painter.drawText(below, Qt.AlignmentFlag.AlignTop, tr("Waiting for the answer…"))
        painter.restore()

    @staticmethod
    def _picture(painter: QPainter, frame: QRect, index: AnyIndex, guessed: Guessed) -> None:
        pixmap = index.data(Qt.ItemDataRole.DecorationRole)
        if pixmap is None:
            is_refused = guessed.refused is not None
            painter.fillRect(frame, theme().colour("error_soft" if is_refused else "sunken"))
            if is_refused:
                painter.setPen(theme().colour("error"))
                painter.setFont(theme().font("title_text", bold=True))
                painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, "!")
            return
        # Tiny pictures are enlarged by whole steps, so that their pixels stay what they are.
        most = max(pixmap.width(), pixmap.height(), 1)
        zoom = max(1, min(_LARGEST_ZOOM, frame.width() // most))
        target = QRect(0, 0, pixmap.width() * zoom, pixmap.height() * zoom)
        target.moveCenter(frame.center())
        painter.drawPixmap(target, pixmap)
        painter.setPen(theme().colour("line"))
        painter.drawRect(target.adjusted(-1, -1, 0, 0))

    @staticmethod
    def _refusal(painter: QPainter, area: QRect, reason: str) -> None:
        painter.setPen(theme().colour("error"))
        wrap = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
        painter.drawText(area, wrap, reason)

    @staticmethod
    def _bars(painter: QPainter, area: QRect, guesses: Sequence[Guess], line: int) -> None:
        plain, bold = theme().font(), theme().font(bold=True)
        painter.setFont(bold)
        metrics = painter.fontMetrics()
        number = metrics.horizontalAdvance("100.0%") + 4
        longest = max(metrics.horizontalAdvance(shown(guess.label)) for guess in guesses)
        label = min(longest + 6, max(40, (area.width() - number) // 2))
        for place, guess in enumerate(guesses):
            top = area.top() + place * line
            painter.setFont(bold if place == 0 else plain)
            painter.setPen(theme().colour("text" if place == 0 else "muted"))
            text = painter.fontMetrics().elidedText(shown(guess.label), Qt.TextElideMode.ElideRight, label - 4)
            middle = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRect(area.left(), top, label, line), middle | Qt.AlignmentFlag.AlignLeft, text)
            right = QRect(area.right() - number, top, number, line)
            painter.drawText(right, middle | Qt.AlignmentFlag.AlignRight, share_text(guess.probability))
            track = QRect(area.left() + label, top + line // 2 - 4, area.width() - label - number - 6, 8)
            painter.fillRect(track, theme().colour("sunken"))
            track.setWidth(max(1, round(track.width() * min(1.0, max(0.0, guess.probability)))))
            painter.fillRect(track, theme().series(0) if place == 0 else theme().colour("faint"))


class GuessList(QListView):
    """The list."""

    def __init__(self, model: GuessModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(_GuessDelegate(self))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setObjectName("results.guesses")
        self.setAccessibleName(tr("Classified pictures"))
        theme().changed.connect(self.viewport().update)
