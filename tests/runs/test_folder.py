from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.project import Network, Project, load_project
from studio.runs.folder import (
    RunsUnwritable,
    commands_file,
    create_run,
    find_run,
    has_checkpoint,
    has_model,
    is_run,
    model_folder,
    project_file,
)


def test_that_a_run_folder_is_named_by_time_project_and_template(tmp_path: Path) -> None:
    project = Project("Wild Flowers", network=Network(template="simple_cnn"))
    name = create_run(project, tmp_path, when=0.0).name
    assert name.endswith("_wild-flowers_simple_cnn")
    assert len(name.split("_")[0]) == len("1970-01-01T00-00-00")


def test_that_runs_of_the_same_second_get_different_folders(tmp_path: Path) -> None:
    folders = {create_run(Project("a"), tmp_path, when=5.0) for _ in range(4)}
    assert len(folders) == 4
    assert all(is_run(folder) for folder in folders)


def test_that_a_new_run_holds_the_project_and_an_empty_command_file(tmp_path: Path) -> None:
    folder = create_run(Project("a"), tmp_path)
    assert load_project(project_file(folder)) == Project("a")
    assert commands_file(folder).read_bytes() == b""
    assert not has_checkpoint(folder)
    assert not has_model(folder)


def test_that_a_place_that_is_no_folder_is_a_problem_that_names_it(tmp_path: Path) -> None:
    occupied = tmp_path / "runs"
    occupied.write_text("a file")
    with pytest.raises(RunsUnwritable) as caught:
        create_run(Project(), occupied)
    assert caught.value.problem.code == "runs_folder_unwritable"
    assert caught.value.problem.facts["folder"] == str(occupied)


def test_that_a_run_is_found_by_path_by_part_and_by_name(tmp_path: Path) -> None:
    folder = create_run(Project("a"), tmp_path)
    model_folder(folder).mkdir()
    for text in (str(folder), str(folder / "model"), str(folder / "project.json"), folder.name):
        assert find_run(text, tmp_path) == folder
    assert find_run("no such run", tmp_path) is None


def test_that_a_name_too_long_for_any_disk_is_no_run(tmp_path: Path) -> None:
    assert find_run("r" * 5000, tmp_path) is None


def test_that_an_ordinary_folder_is_no_run(tmp_path: Path) -> None:
    assert not is_run(tmp_path)
    assert not is_run(tmp_path / "absent")
