"""The main job with the real application and a real engine: open, train, stop, classify, close."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6")
pytest.importorskip("torch")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QSpinBox

from studio.core.settings import Settings
from studio.core.text import set_language
from studio.runs.folder import has_model
from studio.runs.follow import replay
from tests.e2e.driver import Driver, application, open_window

pytestmark = [pytest.mark.e2e, pytest.mark.qt, pytest.mark.torch, pytest.mark.timeout(600)]

# The promise of the Stop button, on any machine: the grace of 2 s and what ends the process after it.
STOP_SECONDS = 3.0


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    application()
    with open_window(tmp_path / "home", Settings(language="en", theme="light")) as opened:
        yield opened
    set_language("en")


def set_epochs(driver: Driver, epochs: int) -> None:
    """Type the number of epochs into its field on the Train page, as a person does."""
    driver.go("train")
    field = driver.find(QSpinBox, "field.epochs")
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, str(epochs))
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert driver.workspace.document.project.recipe.epochs == epochs


def open_sample(driver: Driver) -> None:
    driver.click("welcome.sample")
    pictures = driver.workspace.pictures
    driver.wait(lambda: pictures.split is not None, "the sample to be looked at", 120)
    assert pictures.inspection is not None and len(pictures.inspection.refused) == 0


def train(driver: Driver) -> None:
    training = driver.workspace.training
    driver.go("train")
    driver.click("run.start")
    driver.wait(lambda: training.is_active, "the run to begin", 10)


def test_that_the_main_job_is_done_by_clicks(driver: Driver) -> None:
    training = driver.workspace.training
    open_sample(driver)
    set_epochs(driver, 2)
    train(driver)
    driver.wait(lambda: not training.is_active, "two epochs", 400)
    first = training.run_folder
    assert first is not None
    ended = training.state.ended
    assert ended is not None and ended.outcome == "finished"
    assert len(training.state.epochs) == 2
    # Guessing would be right for one in ten.
    assert ended.best_validation_accuracy is not None and ended.best_validation_accuracy > 0.5
    driver.wait(lambda: "of the validation pictures right" in driver.shell.strip.sentence.text(), "the result", 5)
    assert has_model(first) and replay(first) == training.state

    stop_a_second_run(driver, first)
    classify(driver)


def stop_a_second_run(driver: Driver, first: Path) -> None:
    training = driver.workspace.training
    set_epochs(driver, 50)
    train(driver)
    driver.wait(lambda: training.state.step > 3, "a few steps", 120)
    second = training.run_folder
    assert second is not None and second != first
    driver.click("run.stop")
    asked = time.time()
    driver.wait(lambda: not training.is_active, "the run to stop", 60)
    ended = training.state.ended
    assert ended is not None and ended.outcome == "stopped"
    # By the record's own clock, so that a busy machine does not count the window's waiting.
    assert ended.time - asked < STOP_SECONDS
    assert replay(first).ended is not None


def classify(driver: Driver) -> None:
    picture = driver.workspace.folders.data / "sample" / "try_these" / "unknown_00.png"
    assert picture.is_file()
    driver.shell.openings.open_path(picture)
    assert driver.shell.place == "results"
    driver.wait(lambda: any("unknown_00.png" in text for text in shown_texts(driver)), "the picture's name", 60)
    driver.wait(lambda: any(text.endswith("%") for text in shown_texts(driver)), "a prediction", 60)


def shown_texts(driver: Driver) -> list[str]:
    """What can be read on the Results page about the picture: texts, and accessible texts of what is painted."""
    page = driver.shell.pages["results"]
    from PySide6.QtWidgets import QLabel, QWidget

    labels = [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
    painted = [
        text
        for widget in page.findChildren(QWidget)
        if widget.isVisible()
        for text in (widget.accessibleName(), widget.accessibleDescription())
        if text
    ]
    return labels + painted


def test_that_closing_during_a_run_asks_stops_and_leaves_nothing(driver: Driver) -> None:
    training = driver.workspace.training
    open_sample(driver)
    train(driver)
    driver.wait(lambda: training.state.step > 3, "a few steps", 120)
    run = training.run_folder
    assert run is not None
    driver.studio.window.close()
    driver.answer("cancel")
    driver.settle()
    assert training.is_active
    driver.studio.window.close()
    driver.answer("stop")
    driver.wait(lambda: not driver.studio.window.isVisible(), "the window to be gone", 60)
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
    assert driver.workspace.engine.pid is None
    state = replay(run)
    assert state.ended is not None and state.ended.outcome == "stopped"
