"""Hints: gathered from project, pictures and run, shown as cards whose buttons act."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from studio.advice.hint import CommandRemedy, EditRemedy, Hint, StepRemedy
from studio.core.edits import RemoveBlock, SetPart
from studio.core.events import Ended, Failed
from studio.core.problem import Severity
from studio.core.project import Data, Project
from studio.core.templates import default_network
from studio.view.hintcard import HintCard
from studio.view.shell import Shell
from tests.view.fakes import FakeLauncher, started

pytestmark = pytest.mark.qt

PROJECT = Project("digits", Data(classes=("0", "1")), network=default_network())
OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 7.79 GiB of which "


def open_project(shell: Shell) -> None:
    shell.workspace.document.open(PROJECT)


def cards(shell: Shell) -> list[HintCard]:
    return [card for card in shell.drawer.findChildren(HintCard) if not card.isHidden()]


def break_network(shell: Shell) -> None:
    flatten = next(block.id for block in PROJECT.network.blocks if block.kind == "flatten")
    shell.workspace.document.apply(RemoveBlock(flatten), "Remove Flatten")


def test_that_a_welcome_has_no_hints(shell: Shell) -> None:
    shell.hints.refresh()
    assert shell.hints.hints == () and shell.strip.hints.text() == "No hints"


def test_that_a_broken_network_is_hinted_at_soon_after_the_edit(qtbot: QtBot, shell: Shell) -> None:
    open_project(shell)
    shell.hints.refresh()
    before = len(shell.hints.hints)
    break_network(shell)
    qtbot.waitUntil(lambda: len(shell.hints.hints) == before + 1)
    assert shell.hints.has_error
    assert shell.strip.hints.text() == f"{before + 1} hint" + ("s" if before else "")


def test_that_a_fix_in_a_hint_is_an_undoable_edit(qtbot: QtBot, shell: Shell) -> None:
    open_project(shell)
    break_network(shell)
    broken = shell.workspace.document.project
    qtbot.mouseClick(shell.strip.hints, Qt.MouseButton.LeftButton)
    assert shell.drawer.isVisible()
    qtbot.waitUntil(lambda: any(card.hint.severity is Severity.ERROR for card in cards(shell)))
    buttons = (card.findChild(QPushButton, "hint.apply") for card in cards(shell))
    button = next(button for button in buttons if button is not None and "Flatten" in button.text())
    label = button.text()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    document = shell.workspace.document
    assert document.undo_label == label
    assert [block.kind for block in document.project.network.blocks].count("flatten") == 1
    assert label in shell.notices.words.text()
    document.undo()
    assert document.project == broken


def test_that_a_failed_run_is_hinted_at_with_its_evidence(
    qtbot: QtBot, shell: Shell, launchers: dict[str, FakeLauncher]
) -> None:
    open_project(shell)
    shell.workspace.training.start(PROJECT, "process")
    handle = launchers["process"].handles[0]
    failure = Failed(time.time(), "OutOfMemoryError", OUT_OF_MEMORY + "120.00 MiB is free.", "Traceback ...")
    handle.say(started(batch_size=256), failure, Ended(time.time(), "failed"))
    handle.end()
    qtbot.waitUntil(lambda: not shell.workspace.training.is_active)
    qtbot.waitUntil(lambda: any(hint.matched_line for hint in shell.hints.hints), timeout=10_000)
    hint = next(hint for hint in shell.hints.hints if hint.matched_line)
    assert "512" in " ".join(hint.evidence)
    assert shell.hints.hints[0] == hint


def test_that_hints_go_when_their_cause_is_gone(qtbot: QtBot, shell: Shell) -> None:
    open_project(shell)
    shell.hints.refresh()
    before = shell.hints.hints
    break_network(shell)
    shell.hints.refresh()
    assert shell.hints.hints != before
    shell.workspace.document.undo()
    shell.hints.refresh()
    assert shell.hints.hints == before


def test_that_a_pasted_error_is_explained(qtbot: QtBot, shell: Shell) -> None:
    open_project(shell)
    shell.show_drawer(True)
    drawer = shell.drawer
    assert not drawer.explain_button.isEnabled()
    drawer.ask.setPlainText("Traceback:\n  x\ntorch.OutOfMemoryError: " + OUT_OF_MEMORY + "120.00 MiB is free.")
    qtbot.mouseClick(drawer.explain_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(card.hint.matched_line for card in cards(shell)))


def test_that_an_unknown_error_is_admitted(qtbot: QtBot, shell: Shell) -> None:
    shell.show_drawer(True)
    shell.drawer.ask.setPlainText("qwxyz")
    shell.drawer.explain()
    qtbot.waitUntil(
        lambda: any("No line in it is known" in label for label in _texts(shell.drawer._answers.parentWidget()))
    )


def _texts(widget: object) -> list[str]:
    from PySide6.QtWidgets import QLabel, QWidget

    assert isinstance(widget, QWidget)
    return [label.text() for label in widget.findChildren(QLabel) if not label.isHidden()]


def test_that_a_card_shows_each_kind_of_remedy(qtbot: QtBot) -> None:
    applied: list[EditRemedy] = []
    edit = EditRemedy("Use 16", SetPart("recipe", "batch_size", 16))
    second = EditRemedy("Use 8", SetPart("recipe", "batch_size", 8))
    hint = Hint(
        "x", Severity.WARNING, "Too <b>big</b>", "Because.", ("batch 32",), causes=("a", "b<c"),
        remedies=(edit, second, CommandRemedy("See", "nvidia-smi"), StepRemedy("Restart.")),
        sources=("https://example.org/a",),
    )  # fmt: skip
    card = HintCard(hint, applied.append)
    qtbot.addWidget(card)
    card.show()
    first, other = card.findChildren(QPushButton, "hint.apply")
    assert (first.property("role"), other.property("role")) == ("primary", None)
    qtbot.mouseClick(other, Qt.MouseButton.LeftButton)
    assert applied == [second]
    qtbot.mouseClick(card.findChild(QToolButton, "hint.copy"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "nvidia-smi"
    assert card.accessibleName() == "Too <b>big</b>" and "batch 32" in card.accessibleDescription()


def test_that_a_fix_that_no_longer_fits_is_a_sentence(shell: Shell) -> None:
    open_project(shell)
    shell.drawer._apply(EditRemedy("Much", SetPart("recipe", "batch_size", 10**9)))
    assert "batch_size" in shell.notices.words.text()
    assert shell.workspace.document.project.recipe == replace(PROJECT.recipe)
