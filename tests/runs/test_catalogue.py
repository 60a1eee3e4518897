from __future__ import annotations

import os
from pathlib import Path

from studio.core.events import Beat, Event, Failed, ModelSaved, Paused, Resumed
from studio.core.problem import Problem
from studio.core.project import Project, Recipe
from studio.runs import catalogue
from studio.runs.catalogue import differing_settings, list_runs, resume_project, settings_of, summarise
from studio.runs.folder import create_run, events_file, model_folder, project_file
from studio.runs.follow import replay
from tests.runs.records import alive, ended, epoch_ended, make_run, started, stepped, story, written


def test_that_a_finished_run_is_summed_up(tmp_path: Path) -> None:
    folder = make_run(tmp_path, story())
    summary = summarise(folder)
    assert summary.outcome == "finished"
    assert summary.name == "flowers"
    assert summary.best_validation_accuracy == 0.9
    assert (summary.epochs_done, summary.epochs, summary.step) == (3, 3, 12)
    assert summary.seconds == 20.0
    assert (summary.peak_bytes, summary.forecast_bytes) == (2000, 1000)
    assert summary.folder == folder
    assert summary.model is None


def test_that_an_ended_run_is_read_only_once(tmp_path: Path) -> None:
    folder = make_run(tmp_path, story())
    first = summarise(folder)
    calls: list[Path] = []
    original = catalogue._skim
    catalogue._skim = lambda path: (calls.append(path), original(path))[1]  # type: ignore[func-returns-value]
    try:
        assert summarise(folder) == first
        assert calls == []
        with events_file(folder).open("ab") as file:
            file.write(written([alive(), stepped(1)]))
        assert summarise(folder).outcome == "running"
        assert calls == [events_file(folder)]
    finally:
        catalogue._skim = original


def test_that_a_damaged_summary_is_made_again(tmp_path: Path) -> None:
    folder = make_run(tmp_path, story())
    first = summarise(folder)
    for content in (b"", b"nonsense", b"[]", b'{"version": 1}', b"\xff"):
        (folder / "summary.json").write_bytes(content)
        assert summarise(folder) == first


def test_that_a_moved_run_names_its_new_place(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", story())
    summarise(folder)
    moved = folder.rename(tmp_path / "moved")
    assert summarise(moved).folder == moved


def test_that_a_deleted_model_is_no_longer_offered(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [*story()[:-1], ModelSaved(119.0, "model", 0.9), ended()])
    model_folder(folder).mkdir()
    weights = model_folder(folder) / "weights.safetensors"
    weights.touch()
    assert summarise(folder).model == model_folder(folder)
    weights.unlink()
    assert summarise(folder).model is None


def test_that_a_run_whose_host_lives_is_running_and_one_whose_host_is_gone_died(tmp_path: Path) -> None:
    assert summarise(make_run(tmp_path, [alive(), stepped(1)])).outcome == "running"
    dead = summarise(
        make_run(tmp_path, [started(), *(stepped(n) for n in range(1, 5)), epoch_ended(1, 0.6), stepped(5)])
    )
    assert dead.outcome == "died"
    assert dead.best_validation_accuracy == 0.6
    assert (dead.step, dead.epochs_done) == (5, 1)


def test_that_a_run_that_never_began_is_new(tmp_path: Path) -> None:
    summary = summarise(make_run(tmp_path, []))
    assert summary.outcome == "new"


def test_that_a_failed_run_says_why_in_one_line(tmp_path: Path) -> None:
    events: list[Event] = [started(), Failed(101.0, "ValueError", "bad picture", "trace"), ended("failed")]
    assert summarise(make_run(tmp_path, events)).failure == "ValueError: bad picture"


def test_that_a_resumption_cuts_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    events: list[Event] = [
        *story()[:-1],
        started(time=300.0, resumed_step=4),
        *(stepped(n) for n in (5, 6)),
        ended("stopped"),
    ]
    summary = summarise(make_run(tmp_path, events))
    assert (summary.step, summary.epochs_done) == (6, 1)


def test_that_runs_are_listed_newest_first_and_other_folders_passed_over(tmp_path: Path) -> None:
    old = make_run(tmp_path, [started(time=50.0)])
    new = make_run(tmp_path, [started(time=60.0)])
    (tmp_path / "notes").mkdir()
    (tmp_path / "file").touch()
    assert [summary.folder for summary in list_runs(tmp_path)] == [new, old]
    assert list_runs(tmp_path / "absent") == []


def test_that_only_settings_that_differ_are_named(tmp_path: Path) -> None:
    one = make_run(tmp_path, [], Project("a", recipe=Recipe(epochs=3)))
    make_run(tmp_path, [], Project("a", recipe=Recipe(epochs=4, optimiser="sgd")))
    assert differing_settings(list_runs(tmp_path)) == ("recipe.optimiser", "recipe.epochs")
    assert differing_settings([summarise(one), summarise(one)]) == ()
    assert settings_of(Project())["recipe.epochs"] == Recipe().epochs


def test_that_a_run_can_be_resumed_only_where_there_is_something_to_go_on_from(tmp_path: Path) -> None:
    def code_of(folder: Path) -> str:
        found = resume_project(folder)
        return found.code if isinstance(found, Problem) else "project"

    died = make_run(tmp_path, [started(), stepped(1)])
    assert code_of(died) == "nothing_to_resume"
    (died / "checkpoints" / "last").mkdir()
    assert code_of(died) == "project"
    assert summarise(died).is_resumable
    assert code_of(make_run(tmp_path, [alive(), stepped(1)])) == "still_running"
    finished = make_run(tmp_path, story())
    (finished / "checkpoints" / "last").mkdir()
    assert code_of(finished) == "already_finished"


def test_that_an_unreadable_project_still_gives_a_summary(tmp_path: Path) -> None:
    folder = make_run(tmp_path, story())
    (folder / "project.json").write_text("not json")
    summary = summarise(folder)
    assert summary.outcome == "finished"
    assert len(summary.settings) == 0


def test_that_the_time_of_a_resumed_run_is_that_of_all_its_sessions(tmp_path: Path) -> None:
    first: list[Event] = [started(time=100.0), Paused(105.0, 1), Resumed(110.0, 1), stepped(2), Beat(112.0)]
    events = [*first, alive(5000.0), stepped(3), ended(time=5003.0)]
    folder = make_run(tmp_path, events)
    summary = summarise(folder)
    assert summary.seconds == replay(folder).active_seconds == 10.0


def test_that_a_run_that_said_nothing_is_dated_by_its_folder(tmp_path: Path) -> None:
    folder = create_run(Project("pets"), tmp_path, 1_796_000_000.0)
    assert summarise(folder).started == 1_796_000_000.0
    renamed = folder.rename(tmp_path / "kept")
    os.utime(project_file(renamed), (1_700_000_000.0, 1_700_000_000.0))
    assert summarise(renamed).started == 1_700_000_000.0
