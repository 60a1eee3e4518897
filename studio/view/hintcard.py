"""One hint as a card: what happened, why, what was measured, and what mends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from studio.advice.hint import CommandRemedy, EditRemedy, Hint, Remedy, StepRemedy
from studio.core.text import tr
from studio.view.badges import StatusBadge
from studio.view.icons import icon
from studio.view.pieces import button, severity_status, wrapped
from studio.view.theme import theme

Apply = Callable[[EditRemedy], None]

_COPIED_MS = 1600


class HintCard(QFrame):
    """A card for `hint`; `apply` does an edit remedy. The first remedy is the main button."""

    def __init__(self, hint: Hint, apply: Apply) -> None:
        super().__init__()
        self.hint = hint
        self._apply = apply
        self._has_main = False
        self.setProperty("role", "card")
        self.setObjectName(f"hint.{hint.id}")
        self.setAccessibleName(hint.title)
        self.setAccessibleDescription(" ".join((hint.why, *hint.evidence)))
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 14)
        column.setSpacing(8)
        column.addLayout(self._head())
        if hint.matched_line:
            column.addWidget(self._quote(hint.matched_line))
        for sentence in hint.evidence:
            column.addWidget(self._evidence(sentence))
        if hint.why:
            column.addWidget(wrapped(hint.why, "muted"))
        for remedy in hint.remedies:
            column.addWidget(self._remedy(remedy))
        if hint.causes or hint.sources:
            column.addWidget(self._more())

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        badge = StatusBadge(severity_status(self.hint.severity))
        title = wrapped(self.hint.title, "heading")
        row.addWidget(badge, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(title, 1)
        return row

    def _quote(self, line: str) -> QLabel:
        quote = wrapped(_breakable(line.strip()), "quote")
        quote.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        quote.setToolTip(tr("The line that was recognised."))
        return quote

    def _evidence(self, sentence: str) -> QLabel:
        label = wrapped(sentence, "evidence")
        label.setToolTip(tr("Measured here, not a guess."))
        return label

    def _remedy(self, remedy: Remedy) -> QWidget:
        match remedy:
            case EditRemedy(label=label):
                role = "" if self._has_main else "primary"
                self._has_main = True
                teaches = tr("Changes the project. It can be undone with Ctrl+Z.")
                return button(label, teaches, "hint.apply", lambda: self._apply(remedy), role)
            case CommandRemedy():
                return CommandRow(remedy)
            case StepRemedy(text=text):
                return wrapped("→ " + text)
        assert_never(remedy)

    def _more(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        unfolder = QToolButton()
        unfolder.setText(tr("Causes and sources"))
        unfolder.setObjectName("hint.more")
        unfolder.setToolTip(tr("What may be behind it, and where this knowledge comes from."))
        unfolder.setCheckable(True)
        unfolder.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        unfolder.setArrowType(Qt.ArrowType.RightArrow)
        inner = QLabel(_more_html(self.hint))
        inner.setWordWrap(True)
        inner.setOpenExternalLinks(True)
        inner.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        inner.setVisible(False)

        def unfold(is_open: bool) -> None:
            inner.setVisible(is_open)
            unfolder.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)

        unfolder.toggled.connect(unfold)
        column.addWidget(unfolder, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(inner)
        return holder


class CommandRow(QWidget):
    """A command with a button that copies it."""

    def __init__(self, remedy: CommandRemedy) -> None:
        super().__init__()
        self._command = remedy.command
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        if remedy.label:
            column.addWidget(wrapped(remedy.label))
        row = QHBoxLayout()
        row.setSpacing(6)
        text = wrapped(_breakable(remedy.command), "quote")
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = QToolButton()
        self.button.setObjectName("hint.copy")
        self.button.setIcon(icon("copy"))
        self.button.setToolTip(tr("Copy the command, to paste it into a terminal."))
        self.button.setAccessibleName(tr("Copy: {command}", command=remedy.command))
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.clicked.connect(self._copy)
        row.addWidget(text, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        theme().changed.connect(self._show_icon)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._command)
        self.button.setText(tr("Copied"))
        QTimer.singleShot(_COPIED_MS, self.button, lambda: self.button.setText(""))

    def _show_icon(self) -> None:
        self.button.setIcon(icon("copy"))


def _breakable(text: str) -> str:
    """Long paths and commands may break after a slash or a comma, so that they never widen the drawer."""
    return "".join(letter + "\u200b" if letter in "/\\,_-=." else letter for letter in text)


def _more_html(hint: Hint) -> str:
    def escaped(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    causes = "".join(f"<li>{escaped(cause)}</li>" for cause in hint.causes)
    links = "".join(
        f'<li><a href="{escaped(url)}">{escaped(urlsplit(url).netloc or url)}</a></li>' for url in hint.sources
    )
    return f"<ul style='margin-left:-24px'>{causes}{links}</ul>"
