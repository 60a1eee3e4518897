"""One question with named answers, asked in a sheet of the window without stopping the event loop."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from studio.view.icons import program_icon

_SIGN_PX = 48


@dataclass(frozen=True, slots=True)
class Answer:
    """A button: `kind` places and colours it as the platform does; `run` is what it does."""

    id: str
    label: str
    kind: Literal["accept", "discard", "cancel"]
    run: Callable[[], None]


_ROLES = {
    "accept": QMessageBox.ButtonRole.AcceptRole,
    "discard": QMessageBox.ButtonRole.DestructiveRole,
    "cancel": QMessageBox.ButtonRole.RejectRole,
}


def ask(parent: QWidget, title: str, text: str, answers: Sequence[Answer]) -> QMessageBox:
    """Ask; the first answer is the default, the one of kind "cancel" is also what Escape means."""
    box = QMessageBox(parent)
    box.setObjectName("question")
    box.setIconPixmap(program_icon().pixmap(QSize(_SIGN_PX, _SIGN_PX)))
    box.setWindowTitle(title)
    box.setTextFormat(Qt.TextFormat.RichText)
    box.setText(f"<b>{html.escape(title)}</b>")
    box.setInformativeText(text)
    by_button: dict[QObject, Answer] = {}
    for answer in answers:
        button = box.addButton(answer.label, _ROLES[answer.kind])
        button.setObjectName(f"answer.{answer.id}")
        by_button[button] = answer
        if answer.kind == "cancel":
            box.setEscapeButton(button)
        if answer is answers[0]:
            button.setProperty("role", "primary")
            box.setDefaultButton(button)

    def on_finished() -> None:
        clicked = box.clickedButton()
        box.deleteLater()
        chosen = by_button.get(clicked) if clicked is not None else None
        fallback = next((answer for answer in answers if answer.kind == "cancel"), answers[-1])
        (chosen or fallback).run()

    box.finished.connect(on_finished)
    box.open()
    return box
