"""The Results page: runs listed and compared, their scores, deleting with a way back, and classifying pictures."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import psutil
import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from studio.core.events import Ended, EpochEnded, Metrics
from studio.core.project import Data, Project, load_project
from studio.core.text import set_language
from studio.runs.folder import create_run, project_file
from studio.view.results.confusion import cell_colours, contrast
from studio.view.theme import theme
from studio.view.workspace import PageStatus, Workspace
from tests.view.fakes import FakeLauncher, say, started
from tests.view.made_runs import add_run
from tests.view.results_page import MakePage, click, column, results_pages, settle

pytestmark = pytest.mark.qt


@pytest.fixture
def make_page(qtbot: QtBot, workspace: Workspace) -> MakePage:
    return results_pages(qtbot, workspace)


# The list of runs


def test_that_without_runs_the_page_says_where_to_begin(
    qtbot: QtBot, workspace: Workspace, make_page: MakePage
) -> None:
    page = make_page()
    assert page.status() is PageStatus.NOTHING
    with qtbot.waitSignal(workspace.navigator.wanted) as asked:
        click(qtbot, page, "results.to_train")
    assert asked.args == ["train", ""]


def test_that_runs_are_listed_newest_first_and_the_newest_is_chosen(make_page: MakePage, workspace: Workspace) -> None:
    add_run(workspace.folders.runs, 0, accuracies=(0.6, 0.75))
    newest = add_run(workspace.folders.runs, 5, outcome="failed", accuracies=())
    page = make_page()
    assert column(page, "accuracy") == ["–", "75.0%"]
    assert column(page, "outcome") == ["failed", "finished"]
    assert column(page, "epochs") == ["0 / 2", "2"]
    assert [run.path for run in page.table.chosen_runs()] == [str(newest)]
    assert page.status() is PageStatus.READY


def test_that_the_open_project_s_newest_run_is_chosen_first(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    mine = add_run(workspace.folders.runs, 0, name="mine", folder="/pictures/mine")
    other = add_run(workspace.folders.runs, 1, name="other", folder="/pictures/other")
    page = make_page()
    assert [run.path for run in page.table.chosen_runs()] == [str(other)]
    workspace.document.open(Project("mine", Data("/pictures/mine")))
    settle(qtbot, page)
    assert [run.path for run in page.table.chosen_runs()] == [str(mine)]
    assert "mine" in page.classifier.model_text.text()
    qtbot.waitUntil(lambda: not workspace.pictures.is_busy)


def test_that_a_first_run_that_goes_on_is_no_reason_to_warn(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    page = make_page()
    workspace.training.start(Project("pets"), "process")
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 1)
    assert page.status() is PageStatus.BUSY
    handle = launchers["process"].handles[0]
    handle.say(started(), Ended(time.time(), "stopped"))
    handle.end()
    with qtbot.waitSignal(page.status_changed):
        workspace.training.poll()
    settle(qtbot, page)
    assert page.status() is PageStatus.WARNING


def test_that_a_run_which_ends_appears_by_itself_and_is_chosen(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    old = add_run(workspace.folders.runs, 0)
    page = make_page()
    page.hide()
    workspace.training.start(load_project(project_file(old)), "process")
    handle = launchers["process"].handles[0]
    handle.say(started(), Ended(time.time(), "finished", "", 0.5, 1.0))
    handle.end()
    workspace.training.poll()
    page.show()
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 2)
    settle(qtbot, page)
    assert [run.path for run in page.table.chosen_runs()] == [str(workspace.training.run_folder)]


def test_that_a_run_in_progress_grows_in_the_table_and_in_the_curves(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    page = make_page()
    workspace.training.start(Project("live"), "process")
    handle = launchers["process"].handles[0]
    now = time.time()
    handle.say(started(time=now, process_started=psutil.Process().create_time()))
    handle.say(EpochEnded(now + 1, 1, 10, Metrics(0.5, 0.6, 80), Metrics(0.6, 0.55, 20), 1.0))
    workspace.training.poll()
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 1 and column(page, "epochs") == ["1 / 2"])
    assert column(page, "outcome") == ["running"]
    assert page.detail.curves.accuracy is not None
    assert "55%" in page.detail.curves.accuracy.latest_text()
    assert not page.detail.open_button.isEnabled()
    handle.end()
    workspace.training.poll()
    settle(qtbot, page)


# One run in detail


def test_that_the_matrix_says_what_each_class_was_taken_for(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs)
    page = make_page()
    model = page.detail.confusion_model
    qtbot.waitUntil(lambda: model.rowCount() == 2)
    assert [[model.index(r, c).data() for c in range(2)] for r in range(2)] == [["8", "2"], ["1", "9"]]
    said = model.index(0, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said == "“cat” was taken for “dog” 2 times out of 10 (20.0%)"
    assert "“cat” for “dog” (2 times)" in page.detail.mix_up_text.text()
    scores = page.detail.scores.model()
    assert [scores.index(0, c).data() for c in range(5)] == ["cat", "10", "88.9%", "80.0%", "84.2%"]


def test_that_the_arrow_keys_go_through_a_matrix_of_many_classes(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    classes = tuple(f"species number {n:03}" for n in range(242))
    confusion = tuple(tuple(5 if r == c else 0 for c in range(242)) for r in range(242))
    add_run(workspace.folders.runs, classes=classes, confusion=confusion)
    page = make_page()
    qtbot.waitUntil(lambda: page.detail.confusion_model.rowCount() == 242)
    page.detail.tabs.setCurrentIndex(1)
    table = page.detail.confusion
    table.setCurrentIndex(page.detail.confusion_model.index(240, 240))
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(table, key)
    assert (table.currentIndex().row(), table.currentIndex().column()) == (241, 241)
    assert table.visualRect(table.currentIndex()).intersects(table.viewport().rect())
    assert page.detail.mix_up_text.text() == "Every validation picture was recognised."


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_that_numbers_in_the_matrix_can_be_read_on_every_shade(mode: Any, qapp: object) -> None:
    theme().mode = mode
    try:
        shades = [cell_colours(n / 20, is_right=right) for n in range(21) for right in (True, False)]
        assert min(contrast(ground, ink) for ground, ink in shades) >= 4.5
    finally:
        theme().mode = "light"


def test_that_a_run_that_was_never_evaluated_says_so_in_place(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs, outcome="stopped")
    page = make_page()
    qtbot.waitUntil(lambda: "before its classes were measured" in page.detail._matrix_missing.text())
    assert page.detail._matrix_stack.currentIndex() == 1
    assert page.detail.confusion_model.rowCount() == 0


def test_that_the_curves_of_the_chosen_runs_lie_over_one_another(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    first = add_run(workspace.folders.runs, 0, accuracies=(0.4, 0.6, 0.7))
    second = add_run(workspace.folders.runs, 1, accuracies=(0.5,))
    page = make_page()
    page.table.choose([str(first), str(second)])
    settle(qtbot, page)
    plot = page.detail.curves.accuracy
    assert plot is not None and len(plot.curves) == 2
    assert plot.latest_text().count("%") == 2
    assert "70%" in plot.latest_text() and "50%" in plot.latest_text()
    page.table.choose([str(first)])
    settle(qtbot, page)
    assert page.detail.curves.accuracy is not None
    assert [curve.label for curve in page.detail.curves.accuracy.curves] == ["Training", "Validation"]


# What can be done with a run


def test_that_its_settings_can_be_used_and_taken_back(qtbot: QtBot, make_page: MakePage, workspace: Workspace) -> None:
    run = add_run(workspace.folders.runs, learning_rate=0.02, epochs=7)
    page = make_page()
    before = workspace.document.project
    click(qtbot, page, "results.use")
    project = workspace.document.project
    assert project.recipe == load_project(project_file(run)).recipe
    assert project.network.blocks and project.data == before.data
    click(qtbot, page, "results.notice.button")
    assert workspace.document.project == before


def test_that_undo_in_the_notice_never_takes_back_a_later_edit(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs, learning_rate=0.02)
    page = make_page()
    click(qtbot, page, "results.use")
    workspace.document.edit("Rename", lambda project: replace(project, name="later"))
    click(qtbot, page, "results.notice.button")
    assert workspace.document.project.name == "later"


def test_that_a_run_opens_on_the_train_page(qtbot: QtBot, make_page: MakePage, workspace: Workspace) -> None:
    run = add_run(workspace.folders.runs)
    page = make_page()
    with qtbot.waitSignal(workspace.navigator.wanted) as asked:
        click(qtbot, page, "results.open")
    assert asked.args == ["train", ""]
    assert workspace.training.run_folder == run
    assert workspace.training.state.started is not None


def test_that_a_stopped_run_is_resumed_with_its_own_project(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace, launchers: dict[str, FakeLauncher]
) -> None:
    run = add_run(workspace.folders.runs, outcome="stopped", learning_rate=0.02)
    page = make_page()
    click(qtbot, page, "results.resume")
    handle = launchers["process"].handles[0]
    assert (handle.run_folder, handle.resume) == (run, True)
    assert workspace.training.project == load_project(project_file(run))
    handle.end()
    workspace.training.poll()
    settle(qtbot, page)


def test_that_a_deleted_run_comes_back_with_undo(qtbot: QtBot, make_page: MakePage, workspace: Workspace) -> None:
    kept, gone = add_run(workspace.folders.runs, 0), add_run(workspace.folders.runs, 1)
    page = make_page()
    click(qtbot, page, "results.delete")
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 1)
    settle(qtbot, page)
    assert not gone.exists() and kept.exists()
    click(qtbot, page, "results.notice.button")
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 2)
    settle(qtbot, page)
    assert gone.exists()
    assert [run.path for run in page.table.chosen_runs()] == [str(gone)]


def test_that_the_delete_key_deletes_the_chosen_runs(qtbot: QtBot, make_page: MakePage, workspace: Workspace) -> None:
    runs = [add_run(workspace.folders.runs, number) for number in range(3)]
    page = make_page()
    page.table.choose([str(runs[0]), str(runs[1])])
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 1)
    settle(qtbot, page)
    assert [run.exists() for run in runs] == [False, False, True]
    assert "2 runs are in the trash" in page.notice.words.text()


def test_that_the_run_deleted_last_can_be_restored_from_the_menu(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs, 0)
    gone = add_run(workspace.folders.runs, 1)
    page = make_page()
    actions = {action.id: action for action in page.actions_of_page()}
    assert not actions["results.restore"].enabled()
    actions["results.delete"].run()
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 1)
    assert actions["results.restore"].enabled()
    actions["results.restore"].run()
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 2)
    settle(qtbot, page)
    assert gone.exists()


def test_that_a_run_that_cannot_be_moved_is_named_with_the_reason(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    run = add_run(workspace.folders.runs)
    (workspace.folders.runs / ".trash").write_text("in the way")
    page = make_page()
    click(qtbot, page, "results.delete")
    settle(qtbot, page)
    assert str(run) in page.notice.words.text() and run.exists()


def test_that_a_running_run_cannot_be_deleted(make_page: MakePage, workspace: Workspace, qtbot: QtBot) -> None:
    run = create_run(Project("live"), workspace.folders.runs)
    say(run, started(process_started=psutil.Process().create_time()))
    page = make_page()
    assert column(page, "outcome") == ["running"]
    assert not page.detail.delete_button.isEnabled()
    page.delete_chosen()
    settle(qtbot, page)
    assert run.exists()


def test_that_export_goes_to_the_export_page_with_the_run(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    run = add_run(workspace.folders.runs)
    page = make_page()
    with qtbot.waitSignal(workspace.navigator.wanted) as asked:
        click(qtbot, page, "results.export")
    assert asked.args == ["export", str(run)]


# Everyone


def test_that_every_control_has_a_name_and_every_button_a_sentence(make_page: MakePage, workspace: Workspace) -> None:
    add_run(workspace.folders.runs)
    page = make_page()
    buttons = page.findChildren(QPushButton) + page.findChildren(QToolButton)
    assert not [b.objectName() for b in buttons if not (b.text() or b.accessibleName())]
    assert not [b.text() for b in page.findChildren(QPushButton) if not b.toolTip()]
    for view in (page.table, page.detail.confusion, page.detail.scores, page.classifier.guesses):
        assert view.accessibleName() and view.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_that_the_page_is_built_in_chinese_too(make_page: MakePage, workspace: Workspace) -> None:
    add_run(workspace.folders.runs)
    set_language("zh_CN")
    page = make_page()
    assert column(page, "outcome") == ["已完成"]
    assert page.detail.open_button.text() == "在训练页面打开"


def test_that_a_long_list_is_read_again_without_losing_the_choice(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    runs = [add_run(workspace.folders.runs, number) for number in range(30)]
    page = make_page()
    page.table.choose([str(runs[3]), str(runs[7])])
    add_run(workspace.folders.runs, 40)
    page._list.reload()
    qtbot.waitUntil(lambda: page.run_model.rowCount() == 31)
    settle(qtbot, page)
    assert [run.path for run in page.table.chosen_runs()] == [str(runs[3]), str(runs[7])]
