"""Laws for every control of the window: a name that a screen reader says, a tooltip that teaches, colours by role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenuBar,
    QPlainTextEdit,
    QScrollBar,
    QSlider,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

import studio.view
from studio.core.fields import Field
from studio.core.project import Project
from studio.core.templates import default_network
from studio.view.form import FieldEditor
from studio.view.places import PLACES
from studio.view.settings_dialog import SettingsDialog
from studio.view.shell import Shell
from studio.view.window import MainWindow
from studio.view.windowstate import WindowState
from studio.view.workspace import Workspace

pytestmark = pytest.mark.qt

KINDS = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox, QAbstractItemView, QSlider, QPlainTextEdit)
# Qt's own parts of a control: the field in a spin box, a combo box's list, a table's corner, what clears a line.
INNER = (QAbstractSpinBox, QComboBox, QLineEdit, QHeaderView, QTabBar, QMenuBar)


@pytest.fixture
def window(qtbot: QtBot, workspace: Workspace) -> Iterator[MainWindow]:
    """The whole window with all of its real pages, over a project with a network."""
    made = MainWindow(WindowState())
    qtbot.addWidget(made)
    shell = Shell(made, workspace, WindowState())
    for place in PLACES:
        shell.page(place.id)
    workspace.document.open(Project("pets", network=default_network()))
    yield made
    shell.end()
    made.is_furnished = False


def controls(root: QWidget) -> Iterator[QWidget]:
    for widget in root.findChildren(QWidget):
        if not isinstance(widget, KINDS) or isinstance(widget, (QHeaderView, QScrollBar)):
            continue
        above, is_inner = widget.parentWidget(), widget.metaObject().className() == "QTableCornerButton"
        while above is not None and not is_inner:
            is_inner, above = isinstance(above, INNER), above.parentWidget()
        if not is_inner:
            yield widget


def called(widget: QWidget) -> str:
    parents, above = [widget.objectName() or type(widget).__name__], widget.parentWidget()
    while above is not None and len(parents) < 6:
        parents.append(above.objectName() or type(above).__name__)
        above = above.parentWidget()
    return " < ".join(parents)


def nameless(root: QWidget) -> list[str]:
    return [
        called(widget)
        for widget in controls(root)
        if not widget.accessibleName() and not (isinstance(widget, QAbstractButton) and widget.text())
    ]


def silent(root: QWidget) -> list[str]:
    """Lists and tables teach by their items."""
    return [
        called(widget)
        for widget in controls(root)
        if not widget.toolTip() and not isinstance(widget, QAbstractItemView)
    ]


def test_that_every_control_of_the_window_has_a_name_and_teaches(window: MainWindow) -> None:
    assert len(list(controls(window))) > 50
    assert not nameless(window)
    assert not silent(window)


def test_that_every_setting_has_a_name_and_teaches(qtbot: QtBot, workspace: Workspace) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    dialog = SettingsDialog(workspace.settings, holder)
    assert list(controls(dialog)) and not nameless(dialog) and not silent(dialog)


def test_that_colours_come_from_the_tokens_alone() -> None:
    folder = Path(studio.view.__path__[0])
    written = re.compile(r"#[0-9a-fA-F]{6}\b|QColor\(\s*\d|GlobalColor\.(?!transparent)")
    found = [
        f"{path.relative_to(folder)}:{number}: {line.strip()}"
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if written.search(line)
    ]
    assert not found


@pytest.mark.parametrize(("value", "text"), [(0.2, "0.2"), (0.25, "0.25"), (1.0, "1"), (0.0, "0")])
def test_that_numbers_are_shown_without_idle_zeros(qtbot: QtBot, value: float, text: str) -> None:
    editor = FieldEditor(Field("share", "Share", "How much.", "float", 0.2, minimum=0.0, maximum=1.0))
    qtbot.addWidget(editor)
    editor.show_value(value)
    assert isinstance(editor.input, QAbstractSpinBox) and editor.input.text() == text
    assert editor.input.locale() == QLocale.c()
