"""Deleted runs can be brought back for a while."""

from __future__ import annotations

from pathlib import Path

from studio.core.project import Project
from studio.runs.catalogue import list_runs
from studio.runs.folder import create_run
from studio.runs.trash import KEPT_DAYS, empty_old, move_to_trash, restore, trashed_runs

DAY_SECONDS = 86400


def run_in(root: Path) -> Path:
    return create_run(Project("flowers"), root, when=1_796_000_000.0)


def test_that_a_deleted_run_is_out_of_the_list_and_comes_back_as_it_was(tmp_path: Path) -> None:
    run = run_in(tmp_path)
    content = (run / "project.json").read_bytes()
    trashed = move_to_trash(run)
    assert list_runs(tmp_path) == []
    assert restore(trashed) == run
    assert [summary.path for summary in list_runs(tmp_path)] == [str(run)]
    assert (run / "project.json").read_bytes() == content


def test_that_a_restored_run_never_replaces_another_one_of_its_name(tmp_path: Path) -> None:
    trashed = move_to_trash(run_in(tmp_path))
    newer = run_in(tmp_path)
    assert newer.name == trashed.name
    restored = restore(trashed)
    assert restored != newer
    assert newer.is_dir() and restored.is_dir()


def test_that_two_deleted_runs_of_one_name_are_both_kept_newest_first(tmp_path: Path) -> None:
    move_to_trash(run_in(tmp_path), when=1000.0)
    move_to_trash(run_in(tmp_path), when=2000.5)
    assert [trashed.when for trashed in trashed_runs(tmp_path)] == [2000.5, 1000.0]


def test_that_only_what_is_old_enough_and_of_the_trash_is_deleted_for_good(tmp_path: Path) -> None:
    now = 100 * DAY_SECONDS
    old = move_to_trash(run_in(tmp_path), when=now - (KEPT_DAYS + 1) * DAY_SECONDS)
    young = move_to_trash(run_in(tmp_path), when=now - (KEPT_DAYS - 1) * DAY_SECONDS)
    stranger = tmp_path / ".trash" / "notes"
    stranger.mkdir()
    kept = run_in(tmp_path)
    assert empty_old(tmp_path, now) == 1
    assert not old.folder.exists()
    assert young.folder.is_dir() and stranger.is_dir() and kept.is_dir()


def test_that_a_folder_without_a_trash_has_nothing_in_it(tmp_path: Path) -> None:
    assert trashed_runs(tmp_path / "nowhere") == []
    assert empty_old(tmp_path / "nowhere") == 0
