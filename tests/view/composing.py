"""Hands for the tests of the Network page: what a person does with mouse and keyboard, and what is seen then."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.core.project import Data, Network, Preprocessing, Project
from studio.core.templates import templates
from studio.view.network.rows import Row
from studio.view.pages.network import NetworkPage
from studio.view.workspace import Workspace

KINDS = ["conv2d", "relu", "max_pool", "conv2d", "relu", "max_pool", "flatten", "linear", "relu", "dropout", "linear"]
CONTROL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


def digits(network: Network | None = None) -> Project:
    """Grey 28 x 28 pictures of ten digits, whose folder need not be there, and SimpleCNN."""
    data = Data(classes=tuple("0123456789"))
    return Project("digits", data, Preprocessing(28, 28, "grey"), network or templates()["simple_cnn"].network)


def shown(workspace: Workspace, qtbot: QtBot) -> NetworkPage:
    page = NetworkPage(workspace)
    qtbot.addWidget(page)
    page.resize(1250, 800)
    with qtbot.waitExposed(page):
        page.show()
    return page


def kinds(page: NetworkPage) -> list[str]:
    return [block.kind for block in page.workspace.document.project.network.blocks]


def ids(page: NetworkPage) -> list[str]:
    return [block.id for block in page.workspace.document.project.network.blocks]


def row(page: NetworkPage, name: str) -> Row:
    return next(row for row in page.list.rows.rows if row.id == name)


def click_row(page: NetworkPage, qtbot: QtBot, name: str, modifier: Qt.KeyboardModifier | None = None) -> None:
    place = page.list.rows.row_of(name)
    assert place is not None
    index = page.list.rows.index(place)
    page.list.scrollTo(index)
    spot = page.list.visualRect(index).topLeft() + QPoint(60, 14)
    plain = Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, modifier or plain, spot)


def key(page: NetworkPage, qtbot: QtBot, what: Qt.Key, modifier: Qt.KeyboardModifier | None = None) -> None:
    page.list.setFocus()
    qtbot.keyClick(page.list, what, modifier or Qt.KeyboardModifier.NoModifier)


def named(page: QWidget, name: str) -> QWidget:
    found = page.findChild(QWidget, name)
    assert found is not None, name
    return found


def press(page: QWidget, qtbot: QtBot, name: str) -> None:
    qtbot.mouseClick(named(page, name), Qt.MouseButton.LeftButton)


def drop(page: NetworkPage, data: QMimeData, spot: QPoint) -> None:
    button, modifier = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    page.list.dropEvent(QDropEvent(QPointF(spot), Qt.DropAction.CopyAction, data, button, modifier))
