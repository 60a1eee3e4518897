"""The drawer on the right: the hints of the moment, and a box that explains an error pasted from elsewhere."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.advice.explain import Topic, explain, nearest_topics
from studio.advice.hint import EditRemedy, Hint
from studio.core.text import tr
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.view.background import BackgroundTask
from studio.view.document import Document
from studio.view.hintcard import HintCard
from studio.view.hints import Hints
from studio.view.icons import icon
from studio.view.pieces import clear, wrapped
from studio.view.theme import theme

_ASK_LINES = 4
_SHOWN_AT_MOST = 12


class Drawer(QFrame):
    """`closed()` follows its close button; `applied(label)` an edit that a hint's button made."""

    closed = Signal()
    applied = Signal(str)

    def __init__(self, document: Document, hints: Hints) -> None:
        super().__init__()
        self._document, self._hints = document, hints
        self._asking: BackgroundTask | None = None
        self.setProperty("role", "drawer")
        self.setObjectName("drawer")
        self.setAccessibleName(tr("Hints"))
        self.setMinimumWidth(300)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head())
        self._cards = QVBoxLayout()
        self._cards.setSpacing(10)
        self._answers = QVBoxLayout()
        self._answers.setSpacing(10)
        column.addWidget(self._scrolled(), 1)
        hints.changed.connect(self.show_hints)
        theme().changed.connect(self._show_icons)
        self.show_hints()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(16, 10, 8, 6)
        title = QLabel(tr("Hints"))
        title.setProperty("role", "heading")
        self._close = QToolButton()
        self._close.setObjectName("drawer.close")
        self._close.setAccessibleName(tr("Close the hints"))
        self._close.setToolTip(tr("Close the hints. The badge at the bottom opens them again."))
        self._close.clicked.connect(self.closed)
        row.addWidget(title, 1)
        row.addWidget(self._close)
        self._show_icons()
        return row

    def _show_icons(self) -> None:
        self._close.setIcon(icon("close", "muted"))

    def _scrolled(self) -> QScrollArea:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(14, 4, 14, 14)
        column.setSpacing(10)
        column.addLayout(self._cards)
        column.addLayout(self._ask_box())
        column.addLayout(self._answers)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        return area

    def _ask_box(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(6)
        title = QLabel(tr("Explain an error"))
        title.setProperty("role", "heading")
        self.ask = QPlainTextEdit()
        self.ask.setObjectName("drawer.ask")
        self.ask.setAccessibleName(tr("Error text to explain"))
        self.ask.setPlaceholderText(tr("Paste a traceback or a log from anywhere"))
        self.ask.setToolTip(
            tr("An error from another program, a notebook or a cluster: the lines that matter are found.")
        )
        self.ask.setTabChangesFocus(True)
        self.ask.setFixedHeight(self.fontMetrics().lineSpacing() * _ASK_LINES + 20)
        self.explain_button = QPushButton(tr("Explain"))
        self.explain_button.setObjectName("drawer.explain")
        self.explain_button.setToolTip(tr("Look the text up in what is known of errors in training. Nothing is sent."))
        self.explain_button.setEnabled(False)
        self.explain_button.clicked.connect(self.explain)
        self.ask.textChanged.connect(self._on_text)
        column.addSpacing(6)
        column.addWidget(title)
        column.addWidget(self.ask)
        column.addWidget(self.explain_button, 0, Qt.AlignmentFlag.AlignLeft)
        return column

    def show_hints(self) -> None:
        """Show the hints of the moment; cards that stay the same stay where they are."""
        hints = self._hints.hints[:_SHOWN_AT_MOST]
        if [card.hint for card in _cards_in(self._cards)] == list(hints) and hints:
            return
        clear(self._cards)
        for hint in hints:
            self._cards.addWidget(HintCard(hint, self._apply))
        if not hints:
            self._cards.addWidget(
                wrapped(tr("Nothing to mend. When something could be better, it is explained here."), "muted")
            )

    def _apply(self, remedy: EditRemedy) -> None:
        try:
            self._document.apply(remedy.edit, remedy.label)
        except ValueError as error:
            # The project has changed since the hint was made, and the value is outside its limits now.
            self.applied.emit(str(error))
            return
        self.applied.emit(tr("Done: {what}. Ctrl+Z takes it back.", what=remedy.label))
        self._hints.refresh()

    def _on_text(self) -> None:
        self.explain_button.setEnabled(bool(self.ask.toPlainText().strip()))

    def explain(self) -> None:
        """Look the pasted text up, off the window's thread: a log may have 100,000 lines."""
        text, project = self.ask.toPlainText(), self._document.project
        self.explain_button.setEnabled(False)

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[tuple[Hint, ...], tuple[Topic, ...]]:
            found = explain(text, project=project)
            return found, () if found else nearest_topics(text)

        self._asking = BackgroundTask("explain", work)
        self._asking.done.connect(lambda found: self._show_answers(*found))
        self._asking.start()

    def _show_answers(self, hints: tuple[Hint, ...], topics: tuple[Topic, ...]) -> None:
        self._on_text()
        clear(self._answers)
        for hint in hints[:_SHOWN_AT_MOST]:
            self._answers.addWidget(HintCard(hint, self._apply))
        if hints:
            return
        if topics:
            near = "\n".join(f"•  {topic.title}" for topic in topics)
            self._answers.addWidget(wrapped(tr("No line in it is known. It may be about:") + "\n" + near, "muted"))
        else:
            self._answers.addWidget(
                wrapped(
                    tr("No line in it is known. Paste the whole traceback, with its last line, where there is more."),
                    "muted",
                )
            )


def _cards_in(layout: QVBoxLayout) -> list[HintCard]:
    items = (layout.itemAt(place) for place in range(layout.count()))
    widgets = (item.widget() for item in items if item is not None)
    return [widget for widget in widgets if isinstance(widget, HintCard)]
