"""The augmentation card: each value is an undoable edit, and the engine shows what becomes of the chosen picture."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox
from pytestqt.qtbot import QtBot

from studio.core.augmentation import Augmentation
from studio.core.edits import SetPart
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.text import set_language
from studio.view.data.side import SettingsColumn
from studio.view.data.variations import Variations
from studio.view.pages.data import DataPage
from studio.view.workspace import Workspace
from tests.view.fakes import FakeEngine

pytestmark = pytest.mark.qt

PICTURE = Path("/pictures/apple/p0.png")


@pytest.fixture
def card(qtbot: QtBot, workspace: Workspace) -> Variations:
    made = Variations(workspace)
    workspace.document.changed.connect(lambda: made.refresh(PICTURE))
    qtbot.addWidget(made)
    made.refresh(PICTURE)
    made.show()
    return made


def turn(workspace: Workspace, degrees: float) -> None:
    workspace.document.edit("turn", SetPart("augmentation", "rotation", degrees).apply)


def asked(engine: FakeEngine) -> list[tuple[Any, ...]]:
    return [question[1:] for question in engine.questions if question[0] == "augment_preview"]


def has_pictures(card: Variations) -> bool:
    return all(not cell.pixmap().isNull() for cell in card.cells)


def test_that_nothing_is_asked_while_nothing_is_varied(qtbot: QtBot, card: Variations, engine: FakeEngine) -> None:
    qtbot.wait(250)
    assert not asked(engine)
    assert not card.strip.isVisible() and not card.again.isVisible()
    assert "as they are" in card.caption.text()


def test_that_a_value_is_an_edit_that_is_shown_and_undone(
    qtbot: QtBot, card: Variations, workspace: Workspace, engine: FakeEngine
) -> None:
    spin = card.findChild(QDoubleSpinBox, "field.rotation")
    assert isinstance(spin, QDoubleSpinBox)
    spin.setFocus()
    for _ in range(3):
        qtbot.keyClick(spin, Qt.Key.Key_Up)
    assert workspace.document.project.augmentation == Augmentation(rotation=3)
    qtbot.waitUntil(lambda: has_pictures(card))
    (project, path, count, _turn) = asked(engine)[-1]
    assert (project.augmentation.rotation, path, count) == (3, PICTURE, 7)
    assert card.strip.isVisible() and "never" in card.caption.text()
    workspace.document.undo()
    assert not workspace.document.project.augmentation.is_on
    assert spin.value() == 0 and not card.strip.isVisible()


def test_that_again_draws_other_changes(
    qtbot: QtBot, card: Variations, workspace: Workspace, engine: FakeEngine
) -> None:
    turn(workspace, 10)
    qtbot.waitUntil(lambda: has_pictures(card))
    before = len(asked(engine))
    qtbot.mouseClick(card.again, Qt.MouseButton.LeftButton)
    assert len(asked(engine)) == before + 1
    assert asked(engine)[-1][3] == asked(engine)[-2][3] + 1


def test_that_an_edit_of_the_network_asks_nothing(
    qtbot: QtBot, card: Variations, workspace: Workspace, engine: FakeEngine
) -> None:
    turn(workspace, 10)
    qtbot.waitUntil(lambda: has_pictures(card))
    before = len(asked(engine))
    workspace.document.edit("name", lambda project: type(project)(**{**_parts(project), "name": "other"}))
    qtbot.wait(250)
    assert len(asked(engine)) == before


def _parts(project: Any) -> dict[str, Any]:
    return {name: getattr(project, name) for name in project.__slots__}


def test_that_the_newest_wish_is_shown_and_a_late_answer_is_not(
    qtbot: QtBot, card: Variations, workspace: Workspace, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[tuple[float, Future[Any]]] = []

    def slow(project: Any, path: Path, count: int, turn: int) -> Future[Any]:
        waiting.append((project.augmentation.rotation, Future()))
        return waiting[-1][1]

    monkeypatch.setattr(engine, "augment_preview", slow)
    turn(workspace, 10)
    qtbot.waitUntil(lambda: len(waiting) == 1)
    turn(workspace, 20)
    qtbot.waitUntil(lambda: "drawing" in card.caption.text())
    assert len(waiting) == 1  # one question at a time
    waiting[0][1].set_result(engine.answers["augment_preview"])
    assert [degrees for degrees, _ in waiting] == [10, 20]
    turn(workspace, 0)
    waiting[1][1].set_result(Problem("request_refused", facts=FrozenMap(detail="too late")))
    assert "too late" not in card.caption.text()


def test_that_trouble_is_a_sentence(qtbot: QtBot, card: Variations, workspace: Workspace, engine: FakeEngine) -> None:
    engine.answers["augment_preview"] = Problem("request_refused", facts=FrozenMap(detail="p0.png is damaged."))
    turn(workspace, 10)
    qtbot.waitUntil(lambda: "p0.png is damaged." in card.caption.text())
    assert card.caption.property("role") == "error"


def test_that_the_page_shows_the_chosen_picture_varied(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine, tmp_path: Path
) -> None:
    for label in ("apple", "pear"):
        (tmp_path / "fruit" / label).mkdir(parents=True)
        for number in range(3):
            colour = (80 * number, 20, 90 * (label == "pear"))
            Image.new("RGB", (20, 20), colour).save(tmp_path / "fruit" / label / f"{number}.png")
    page = DataPage(workspace)
    qtbot.addWidget(page)
    page.show()
    workspace.pictures.choose(tmp_path / "fruit")
    qtbot.waitUntil(lambda: not workspace.pictures.is_busy, timeout=10_000)
    spin = page.findChild(QDoubleSpinBox, "field.rotation")
    assert isinstance(spin, QDoubleSpinBox)
    spin.setValue(15)
    assert workspace.document.project.augmentation.rotation == 15
    (card,) = page.findChildren(Variations)
    qtbot.waitUntil(lambda: has_pictures(card))
    assert asked(engine)[-1][1].parent.parent == tmp_path / "fruit"


def test_that_the_column_has_the_card_in_chinese_too(qtbot: QtBot, workspace: Workspace) -> None:
    set_language("zh_CN")
    column = SettingsColumn(workspace)
    qtbot.addWidget(column)
    column.refresh()
    (card,) = column.findChildren(Variations)
    assert "图片按原样使用" in card.caption.text()
