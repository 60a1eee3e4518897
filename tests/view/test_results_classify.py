"""Classifying pictures on the Results page: dropped, chosen or tried, with a slow engine and a broken one."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.runs.answers import Guess, Prediction
from studio.view.workspace import Workspace
from tests.view.fakes import FakeEngine
from tests.view.made_runs import add_run
from tests.view.results_page import MakePage, click, picture, results_pages, settle

pytestmark = pytest.mark.qt


@pytest.fixture
def make_page(qtbot: QtBot, workspace: Workspace) -> MakePage:
    return results_pages(qtbot, workspace)


class SlowEngine(FakeEngine):
    """Answers when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Future[Any]] = []

    def _answer(self, question: str, *arguments: Any) -> Future[Any]:
        self.questions.append((question, *arguments))
        self.waiting.append(Future())
        return self.waiting[-1]


def test_that_a_dropped_picture_is_classified_by_the_chosen_model(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace, engine: FakeEngine, tmp_path: Path
) -> None:
    run = add_run(workspace.folders.runs)
    file = picture(tmp_path / "mine")
    page = make_page()
    zone = page.classifier.zone
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])
    copy, left, plain = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    zone.dropEvent(QDropEvent(QPointF(5, 5), copy, mime, left, plain))
    qtbot.waitUntil(lambda: bool(page.classifier.model.rows and page.classifier.model.rows[0].guesses))
    assert engine.questions == [("predict", run / "model", (file,), 5)]
    said = page.classifier.model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == page.classifier.guesses.accessibleDescription() == "a.png: dog 90.0%, cat 10.0%"
    assert not page.grab().isNull()


def test_that_a_picture_dropped_on_the_window_is_classified(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace, engine: FakeEngine, tmp_path: Path
) -> None:
    add_run(workspace.folders.runs)
    file = picture(tmp_path / "with:colon")
    page = make_page()
    page.show_target(f"classify:{file}")
    qtbot.waitUntil(lambda: bool(page.classifier.model.rows and page.classifier.model.rows[0].guesses))
    assert engine.questions[0][2] == (file,)


def test_that_a_picture_dropped_before_any_model_is_answered_with_the_way_to_one(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace, tmp_path: Path
) -> None:
    page = make_page()
    page.show_target(f"classify:{picture(tmp_path)}")
    settle(qtbot, page)
    qtbot.waitUntil(page.classifier.isVisible)
    assert page.classifier.train_button.isVisible()
    assert "No run has left a model yet" in page.classifier.model_text.text()
    with qtbot.waitSignal(workspace.navigator.wanted) as asked:
        click(qtbot, page, "classify.train")
    assert asked.args[0] == "train"


def test_that_the_window_says_that_the_engine_starts_and_stays_usable(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path, make_page: MakePage
) -> None:
    add_run(workspace.folders.runs)
    slow = SlowEngine()
    slow.state = "starting"
    page = make_page()
    page.classifier._engine = slow  # type: ignore[assignment]  # the fake has the same methods
    page.classifier.classify([picture(tmp_path)])
    assert page.classifier.state_text.text() == "The engine is starting…"
    slow.state = "ready"
    qtbot.waitUntil(lambda: page.classifier.state_text.text() == "Looking at the pictures…")
    slow.waiting[0].set_result((Prediction(str(tmp_path / "a.png"), (Guess("cat", 1.0),)),))
    qtbot.waitUntil(lambda: page.classifier.state_text.text() == "1 picture")


def test_that_an_answer_to_an_older_question_is_not_shown(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path, make_page: MakePage
) -> None:
    add_run(workspace.folders.runs)
    slow = SlowEngine()
    page = make_page()
    page.classifier._engine = slow  # type: ignore[assignment]
    one, two = picture(tmp_path, "one.png"), picture(tmp_path, "two.png")
    page.classifier.classify([one])
    page.classifier.classify([two])
    assert set(slow.questions[1][2]) == {one, two}
    old = (Prediction(str(one), (Guess("old", 1.0),)),)
    new = tuple(Prediction(str(path), (Guess("new", 1.0),)) for path in (one, two))
    slow.waiting[1].set_result(new)
    slow.waiting[0].set_result(old)
    qtbot.waitUntil(lambda: all(row.guesses for row in page.classifier.model.rows))
    assert {row.guesses[0].label for row in page.classifier.model.rows} == {"new"}


def test_that_a_refused_picture_says_why_beside_the_others(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine, tmp_path: Path, make_page: MakePage
) -> None:
    add_run(workspace.folders.runs)
    good, bad = picture(tmp_path, "good.png"), tmp_path / "bad.png"
    bad.write_bytes(b"no picture")
    engine.answers["predict"] = (
        Prediction(str(good), (Guess("cat", 0.7), Guess("dog", 0.3))),
        Prediction(str(bad), (), "bad.png is damaged."),
    )
    page = make_page()
    page.classifier.classify([good, bad])
    qtbot.waitUntil(lambda: page.classifier.state_text.text() == "1 picture was refused.")
    said = page.classifier.model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "bad.png cannot be classified: bad.png is damaged."
    assert not page.grab().isNull()


def test_that_a_broken_engine_is_a_sentence_and_can_be_asked_again(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine, tmp_path: Path, make_page: MakePage
) -> None:
    add_run(workspace.folders.runs)
    engine.answers["predict"] = Problem("engine_broken", facts=FrozenMap(detail="no libgomp", exit=""))
    page = make_page()
    page.classifier.classify([picture(tmp_path)])
    qtbot.waitUntil(lambda: "no libgomp" in page.classifier.state_text.text())
    engine.answers["predict"] = None
    click(qtbot, page, "classify.again")
    qtbot.waitUntil(lambda: bool(page.classifier.model.rows[0].guesses))


def test_that_another_chosen_run_classifies_the_same_pictures_again(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine, tmp_path: Path, make_page: MakePage
) -> None:
    older, newer = add_run(workspace.folders.runs, 0), add_run(workspace.folders.runs, 1)
    page = make_page()
    page.classifier.classify([picture(tmp_path)])
    qtbot.waitUntil(lambda: len(engine.questions) == 1)
    page.table.choose([str(older)])
    qtbot.waitUntil(lambda: len(engine.questions) == 2)
    assert [question[1] for question in engine.questions] == [newer / "model", older / "model"]


def test_that_pictures_laid_beside_the_data_for_trying_are_one_click_away(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine, tmp_path: Path, make_page: MakePage
) -> None:
    (tmp_path / "sample" / "digits").mkdir(parents=True)
    tries = [picture(tmp_path / "sample" / "try_these", f"{n}.png") for n in range(20)]
    add_run(workspace.folders.runs, folder=str(tmp_path / "sample" / "digits"))
    page = make_page()
    offered = [button.objectName() for button in page.classifier.findChildren(QToolButton)]
    shown = [number for number in range(20) if f"classify.try.{number}.png" in offered]
    assert shown == [0, 3, 5, 7, 9, 11, 13, 15, 17, 19]
    click(qtbot, page, "classify.try.0.png")
    qtbot.waitUntil(lambda: bool(engine.questions))
    assert engine.questions[0][2] == (tries[0],)


def test_that_a_folder_gives_its_pictures_and_nothing_else(
    qtbot: QtBot, workspace: Workspace, engine: FakeEngine, tmp_path: Path, make_page: MakePage
) -> None:
    add_run(workspace.folders.runs)
    kept = [picture(tmp_path / "f", name) for name in ("b2.png", "b10.png")]
    (tmp_path / "f" / "notes.txt").write_text("no picture")
    page = make_page()
    page.classifier.classify([tmp_path / "f"])
    qtbot.waitUntil(lambda: bool(engine.questions))
    assert engine.questions[0][2] == tuple(kept)


def test_that_a_long_reason_has_the_width_of_the_panel(qtbot: QtBot, workspace: Workspace, make_page: MakePage) -> None:
    add_run(workspace.folders.runs, 0)
    panel = make_page().classifier
    panel._say("The training engine ended unexpectedly. " * 4, "error")
    panel.again_button.show()
    qtbot.waitUntil(lambda: panel.state_text.width() >= 0.8 * panel.width())


def test_that_nothing_moves_when_the_first_picture_is_classified(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage, engine: FakeEngine, tmp_path: Path
) -> None:
    data = tmp_path / "mine" / "data"
    picture(tmp_path / "mine" / "try_these")
    add_run(workspace.folders.runs, folder=str(data))
    page = make_page()
    panel = page.classifier
    parts = (panel.zone, panel.choose_button, *panel._tries.values())
    assert len(parts) == 3
    before = [part.mapTo(panel, part.rect().topLeft()) for part in parts]
    click(qtbot, page, "classify.try.a.png")
    qtbot.waitUntil(lambda: bool(panel.model.rows and panel.model.rows[0].guesses))
    qtbot.waitUntil(panel.guesses.isVisible)
    qtbot.wait(20)
    assert [part.mapTo(panel, part.rect().topLeft()) for part in parts] == before
