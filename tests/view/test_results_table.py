"""The table of runs on the Results page: its columns, their order, and what is marked in it."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6")

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from studio.core.events import Ended
from studio.core.project import Project
from studio.runs.folder import create_run
from studio.view.results.wording import date_text
from studio.view.theme import theme
from studio.view.workspace import Workspace
from tests.view.fakes import say, started
from tests.view.made_runs import BEGAN, add_run
from tests.view.results_page import MakePage, column, results_pages

pytestmark = pytest.mark.qt


@pytest.fixture
def make_page(qtbot: QtBot, workspace: Workspace) -> MakePage:
    return results_pages(qtbot, workspace)


# The list of runs


def test_that_an_outcome_has_room_as_soon_as_it_is_known(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    run = create_run(Project("pets"), workspace.folders.runs, BEGAN)
    page = make_page()
    assert column(page, "started") == [date_text(BEGAN)]
    assert column(page, "seconds") == ["–"]
    say(run, started(time=BEGAN), Ended(BEGAN + 3700, "stopped"))
    page.show_target(str(run))
    qtbot.waitUntil(lambda: column(page, "seconds") == ["1 h 01 min"])
    place = [column.name for column in page.run_model.columns].index("seconds")
    assert page.table.columnWidth(place) >= page.table.sizeHintForColumn(place)
    page.table.setColumnWidth(0, 60)
    page.table.show_runs(page._list.runs, everything=False)
    assert page.table.columnWidth(0) == 60


def test_that_epochs_done_and_epochs_planned_are_told_apart(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs, 0, epochs=2)
    add_run(workspace.folders.runs, 1, epochs=9)
    titles = [column.title for column in make_page().run_model.columns]
    assert len(set(titles)) == len(titles)
    assert {"Epochs", "Epochs planned"} <= set(titles)


def test_that_only_settings_that_differ_get_a_column_until_all_are_asked_for(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs, 0, learning_rate=0.001)
    add_run(workspace.folders.runs, 1, learning_rate=0.01)
    page = make_page()
    assert column(page, "recipe.learning_rate") == ["0.01", "0.001"]
    assert "recipe.batch_size" not in [c.name for c in page.run_model.columns]
    qtbot.mouseClick(page.everything, Qt.MouseButton.LeftButton, pos=QPoint(8, page.everything.height() // 2))
    assert column(page, "recipe.batch_size") == ["32 pictures", "32 pictures"]
    assert column(page, "preprocessing.fit") == ["Crop the middle", "Crop the middle"]


def test_that_two_networks_without_a_common_block_differ_in_one_column(
    make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs, 0, template="simple_cnn")
    add_run(workspace.folders.runs, 1, template="mlp")
    page = make_page()
    names = [c.name for c in page.run_model.columns if c.is_setting and c.name.startswith("network.b")]
    assert len(set(column(page, "network.template"))) == 2
    kinds = [{run.settings.get(name.rpartition(".")[0]) for run in page._list.runs} for name in names]
    assert all(len(kind) == 1 and None not in kind for kind in kinds)


def test_that_sorting_by_a_click_puts_runs_without_a_value_last_both_ways(
    qtbot: QtBot, make_page: MakePage, workspace: Workspace
) -> None:
    add_run(workspace.folders.runs, 0, accuracies=(0.9,))
    add_run(workspace.folders.runs, 1, outcome="failed", accuracies=())
    add_run(workspace.folders.runs, 2, accuracies=(0.7,))
    page = make_page()
    header = page.table.horizontalHeader()
    place = [c.name for c in page.run_model.columns].index("accuracy")
    where = QPoint(header.sectionViewportPosition(place) + 10, header.height() // 2)
    chosen = page.table.chosen_runs()
    seen = []
    for _ in range(2):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
        seen.append(column(page, "accuracy"))
    assert sorted(seen) == [["70.0%", "90.0%", "–"], ["90.0%", "70.0%", "–"]]
    assert page.table.chosen_runs() == chosen


def test_that_choosing_two_runs_marks_and_lists_where_they_differ(make_page: MakePage, workspace: Workspace) -> None:
    runs = [add_run(workspace.folders.runs, n, learning_rate=rate) for n, rate in enumerate((0.1, 0.01, 0.01))]
    page = make_page()
    page.table.choose([str(runs[0]), str(runs[1])])
    place = [c.name for c in page.run_model.columns].index("recipe.learning_rate")
    marked = page.run_model.index(0, place).data(Qt.ItemDataRole.BackgroundRole)
    assert marked == theme().colour("accent_soft")
    settings = page.detail.settings_model
    assert [settings.index(0, c).data() for c in range(3)] == ["Learning rate", "0.1", "0.01"]
    assert "differs" in settings.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    page.table.choose([str(runs[1]), str(runs[2])])
    assert page.run_model.index(0, place).data(Qt.ItemDataRole.BackgroundRole) is None
