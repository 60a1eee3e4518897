"""The strip says what runs in words and shapes; the palette does anything by a few letters."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.events import Ended, Paused, Progressed, Resumed, Stepped
from studio.core.project import Project
from studio.core.runstate import RunState
from studio.view.machine import MachineWatch, Usage
from studio.view.runwords import run_sentence, run_share, run_status
from studio.view.shell import Shell
from studio.view.sparkline import Sparkline
from studio.view.workspace import PageStatus
from tests.view.fakes import FakeLauncher, started

pytestmark = pytest.mark.qt


def after(*events: object) -> RunState:
    state = RunState()
    for event in events:
        state = state.after(event)  # type: ignore[arg-type]  # events of the run
    return state


STEP = Stepped(110.0, 10, 1, (0.5,) * 10, (0.9,) * 10, 1e-3, 480.0)


@pytest.mark.parametrize(
    ("state", "words", "status"),
    [
        (after(Progressed(1.0, "scan", 1200)), "Found 1,200 pictures", PageStatus.BUSY),
        (after(Progressed(1.0, "inspect", 500, 2000)), "Looking at the pictures, 500 of 2,000", PageStatus.BUSY),
        (after(started(time=1.0), STEP), "Training, epoch 1 of 2, step 10 of 20", PageStatus.BUSY),
        (after(started(time=1.0), STEP, Paused(120.0, 10)), "Paused after step 10", PageStatus.BUSY),
        (after(started(time=1.0), Ended(9.0, "stopped")), "Stopped after step 0", PageStatus.NOTHING),
        (after(started(time=1.0), Ended(9.0, "failed")), "The run failed; the hints say why", PageStatus.ERROR),
        (after(started(time=1.0), Ended(9.0, "died")), "The run ended unexpectedly", PageStatus.ERROR),
        (
            after(started(time=1.0), Ended(42.0, "finished", best_validation_accuracy=0.973, seconds=39)),
            "Finished in 41 s: 97.3% of the validation pictures right",
            PageStatus.READY,
        ),
    ],
)
def test_that_a_run_is_told_in_one_sentence(state: RunState, words: str, status: PageStatus) -> None:
    assert run_sentence(state) == words
    assert run_status(state) is status


def test_that_the_time_left_is_told_once_it_is_known() -> None:
    later = Stepped(120.0, 15, 2, (0.4,) * 5, (0.9,) * 5, 1e-3, 480.0)
    state = after(started(time=1.0), STEP, later)
    assert run_sentence(state).endswith(" left")
    assert run_share(state) == 0.75


def test_that_silence_and_stopping_come_before_the_phase() -> None:
    state = after(started(time=1.0), STEP)
    assert run_sentence(state, quiet_seconds=12.0) == "Nothing heard of the run for 12 s"
    assert run_sentence(state, is_stopping=True, quiet_seconds=12.0) == "Stopping…"


def test_that_the_strip_follows_a_run(qtbot: QtBot, shell: Shell, launchers: dict[str, FakeLauncher]) -> None:
    strip = shell.strip
    assert (strip.sentence.text(), strip.badge.status) == ("Nothing runs", PageStatus.NOTHING)
    shell.workspace.training.start(Project("digits"), "process")
    handle = launchers["process"].handles[0]
    strip.refresh()
    assert (strip.sentence.text(), strip.badge.status) == ("Starting the run…", PageStatus.BUSY)
    now = time.time()
    handle.say(started(time=now), Stepped(now, 5, 1, (0.25,) * 5, (0.9,) * 5, 1e-3, 481.4))
    qtbot.waitUntil(lambda: "step 5 of 20" in strip.sentence.text())
    assert (strip.loss.text(), strip.speed.text()) == ("Loss 0.25", "481 images/s")
    assert strip.bar.isVisible() and strip.bar.value() == 250
    handle.say(Paused(now, 5))
    qtbot.waitUntil(lambda: strip.sentence.text() == "Paused after step 5")
    handle.say(Resumed(now, 5), Ended(now, "stopped"))
    handle.end()
    qtbot.waitUntil(lambda: strip.sentence.text() == "Stopped after step 5")
    assert not strip.bar.isVisible() and not strip.speed.isVisible()


def test_that_memory_is_shown_with_units_and_a_curve(shell: Shell) -> None:
    gib = 1024**3
    for used in (1, 2, 3):
        shell.strip.show_machine(Usage(used * gib, 16 * gib), None)
    assert shell.strip.host.words.text() == "Memory 3.0 GiB / 16.0 GiB"
    assert list(shell.strip.host.curve.values) == [gib, 2 * gib, 3 * gib]
    assert shell.strip.card.words.text() == "No GPU" and not shell.strip.card.curve.isVisible()
    shell.strip.show_machine(Usage(gib, 16 * gib), Usage(gib, 8 * gib))
    assert shell.strip.card.words.text() == "GPU 1.0 GiB / 8.0 GiB" and shell.strip.card.curve.isVisible()


def test_that_a_sparkline_forgets_what_is_old(qtbot: QtBot) -> None:
    line = Sparkline(0)
    qtbot.addWidget(line)
    for value in range(500):
        line.add(value, 500)
    assert len(line.values) == 120 and line.values[-1] == 499
    assert not line.grab().isNull()


def test_that_this_machine_s_memory_is_measured(qtbot: QtBot) -> None:
    watch = MachineWatch()
    seen: list[Usage] = []
    watch.measured.connect(lambda host, card: seen.append(host))
    watch.measure()
    assert 0 < seen[0].used_bytes < seen[0].total_bytes


def test_that_ctrl_k_finds_and_does_a_command(qtbot: QtBot, shell: Shell) -> None:
    shell.menus.rebuild()
    qtbot.keyClick(shell.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = shell.palette
    assert palette.isVisible()
    qtbot.keyClicks(palette.input, "darkc")
    assert palette.list.currentItem().text() == "Dark colours"
    qtbot.keyClick(palette.input, Qt.Key.Key_Return)
    assert not palette.isVisible()
    assert shell.workspace.settings.value.theme == "dark"


def test_that_the_palette_shows_only_what_can_be_done(qtbot: QtBot, shell: Shell) -> None:
    shell.palette.pop_up()
    qtbot.keyClicks(shell.palette.input, "undo")
    assert shell.palette.list.item(0).text().startswith("No command fits")
    qtbot.keyClick(shell.palette.input, Qt.Key.Key_Return)
    assert shell.palette.isVisible()
    qtbot.keyClick(shell.palette.input, Qt.Key.Key_Escape)
    assert not shell.palette.isVisible()


def test_that_the_arrows_walk_the_palette_from_end_to_end(qtbot: QtBot, shell: Shell) -> None:
    palette = shell.palette
    palette.pop_up()
    qtbot.keyClick(palette.input, Qt.Key.Key_Up)
    assert palette.list.currentRow() == 0
    for _ in range(palette.list.count() + 2):
        qtbot.keyClick(palette.input, Qt.Key.Key_Down)
    assert palette.list.currentRow() == palette.list.count() - 1


def test_that_the_sentence_comes_before_what_else_the_strip_shows(
    qtbot: QtBot, shell: Shell, launchers: dict[str, FakeLauncher]
) -> None:
    strip = shell.strip
    shell.workspace.training.start(Project("digits"), "process")
    now = time.time()
    launchers["process"].handles[0].say(started(time=now), Stepped(now, 5, 1, (0.25,) * 5, (0.9,) * 5, 1e-3, 481.4))
    qtbot.waitUntil(lambda: "step 5 of 20" in strip.sentence.text())
    strip.show_machine(Usage(1024**3, 16 * 1024**3), None)
    strip.resize(1400, 48)
    assert strip.bar.isVisible() and strip.host.words.isVisible() and strip.loss.isVisible()
    strip.resize(640, 48)
    assert not strip.bar.isVisible() and not strip.host.words.isVisible() and strip.host.curve.isVisible()
