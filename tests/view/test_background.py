"""Work off the window's thread: every end is told, and a failure that nobody awaits is not lost."""

from __future__ import annotations

import sys

import pytest
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from studio.dataset.progress import Cancelled, IsCancelled, ReportProgress
from studio.view.background import BackgroundTask

pytestmark = pytest.mark.qt


def fail(report: ReportProgress, is_cancelled: IsCancelled) -> None:
    raise ValueError("a wheel came off")


def test_that_a_failure_goes_to_whoever_listens(qtbot: QtBot) -> None:
    task = BackgroundTask("test", fail)
    with qtbot.waitSignal(task.failed) as failed:
        task.start()
    assert str(failed.args[0]) == "a wheel came off"


def test_that_a_failure_without_a_listener_is_reported_as_a_bug(qtbot: QtBot) -> None:
    hook = sys.excepthook
    with capture_exceptions() as caught:
        task = BackgroundTask("test", fail).start()
        task.join()
        qtbot.waitUntil(lambda: bool(caught))
    assert sys.excepthook is hook
    assert [str(error) for _, error, _ in caught] == ["a wheel came off"]


def test_that_a_task_that_was_stopped_is_cancelled_whatever_it_did(qtbot: QtBot) -> None:
    def wait(report: ReportProgress, is_cancelled: IsCancelled) -> None:
        while not is_cancelled():
            pass
        raise Cancelled

    task = BackgroundTask("test", wait)
    with qtbot.waitSignal(task.cancelled):
        task.start()
        task.cancel()
    assert task.is_stopped
