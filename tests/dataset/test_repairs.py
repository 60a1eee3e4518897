"""Repairs change what the project uses and never a file."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from studio.core.edits import LeaveOut, Relabel, SetPart
from studio.core.frozen import FrozenMap
from studio.core.problem import Fix
from studio.core.project import Data, Project, Recipe, project_from_json, project_to_json
from studio.core.text import fix_label
from studio.dataset.inspect import inspect
from studio.dataset.inspection import Inspection
from studio.dataset.repairs import repaired
from studio.dataset.scan import scan
from studio.dataset.split import split
from tests.dataset.making import classes, picture, tree_state


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = classes(tmp_path / "set", {"cat": 6, "dog": 5, "owl": 2})
    shutil.copyfile(made / "cat" / "0.png", made / "cat" / "copy.png")
    for name in ("x", "y"):
        shutil.copyfile(made / "dog" / "0.png", made / "dog" / f"{name}.png")
    shutil.copyfile(made / "dog" / "0.png", made / "owl" / "dog.png")
    (made / "owl" / "torn.png").write_bytes(b"")
    picture(made / "cat" / "tiny.png", 99, (4, 30))
    picture(made / "cat" / "long.png", 98, (300, 20))
    return made


@pytest.fixture
def inspection(root: Path, tmp_path: Path) -> Inspection:
    return inspect(scan(root), tmp_path / "cache")


def codes(inspection: Inspection) -> set[str]:
    return {problem.code for problem in inspection.problems}


def fixes(inspection: Inspection) -> dict[str, tuple[Fix, ...]]:
    return {problem.code: problem.fixes for problem in inspection.problems}


def test_that_pictures_left_out_are_in_no_split_and_no_count(inspection: Inspection) -> None:
    data = Data(left_out=("cat/1.png", "owl/0.png"))
    changed = repaired(inspection, data)
    assert changed.counts() == tuple(np.subtract(inspection.counts(), [1, 0, 1]))
    paths = changed.index.pictures.paths
    found = split(inspection, data)
    used = {paths[place] for side in (found.train, found.validation) for place in side.tolist()}
    assert not used & set(data.left_out)
    assert len(used) == sum(changed.counts())
    assert "pictures_kept_out" in codes(changed)


def test_that_a_relabelled_picture_counts_for_its_new_class(inspection: Inspection) -> None:
    changed = repaired(inspection, Data(relabelled=FrozenMap({"owl/dog.png": "dog"})))
    assert changed.counts() == tuple(np.add(inspection.counts(), [0, 1, -1]))
    assert "conflicting_labels" in codes(inspection)
    assert "conflicting_labels" not in codes(changed)
    assert "pictures_relabelled" in codes(changed)


def test_that_undoing_is_looking_again(inspection: Inspection) -> None:
    once = repaired(inspection, Data(left_out=("cat/1.png",)))
    assert repaired(once, Data(left_out=("cat/2.png",))).counts() == once.counts()
    assert repaired(once, Data()) is inspection


def test_that_each_fix_ends_its_finding(inspection: Inspection) -> None:
    offered = fixes(inspection)
    for code in ("duplicates", "conflicting_labels", "tiny_images"):
        for fix in offered[code]:
            project = fix.edit.apply(Project())
            assert code not in codes(repaired(inspection, project.data)), fix
            assert "{" not in fix_label(fix) and fix_label(fix) != fix.code
    labels = [fix.edit for fix in offered["conflicting_labels"] if isinstance(fix.edit, Relabel)]
    assert labels == [Relabel(FrozenMap({"owl/dog.png": "dog"}))]
    assert offered["long_images"][0].edit == SetPart("preprocessing", "fit", "pad")


def test_that_imbalance_offers_weights_and_a_limit(tmp_path: Path) -> None:
    made = inspect(scan(classes(tmp_path / "set", {"many": 20, "few": 3})), tmp_path / "cache")
    weigh, limit = fixes(made)["imbalanced"]
    assert weigh.edit.apply(Project()).recipe == Recipe(class_weights="balanced")
    found = split(made, limit.edit.apply(Project()).data)
    assert len(found.train) + len(found.validation) == 6


def test_that_keeping_one_copy_leaves_every_class_and_split_its_own(tmp_path: Path) -> None:
    root = tmp_path / "set"
    for name in ("train/a/1", "train/a/2", "val/a/1", "train/b/1"):
        picture(root / f"{name}.png", 7)
    picture(root / "val" / "b" / "1.png", 8)
    for at in range(2):
        picture(root / "train" / "a" / f"twin{at}.png", 9)
    made = inspect(scan(root), tmp_path / "cache")
    assert [fix.edit for fix in fixes(made)["duplicates_across_splits"]] == [LeaveOut(("val/a/1.png",))]
    (fix,) = fixes(made)["duplicates"]
    assert isinstance(fix.edit, LeaveOut)
    assert set(fix.edit.files) == {"train/a/2.png", "train/a/twin1.png"}


def test_that_two_readings_are_one_click_apart(tmp_path: Path) -> None:
    root = tmp_path / "set"
    classes(root / "day", {"cat": 2, "dog": 1})
    classes(root / "night", {"cat": 1, "owl": 1})
    made = scan(root)
    (found,) = (problem for problem in made.problems if problem.code == "ambiguous_depth")
    chosen = [fix.edit.apply(Project()).data.reading for fix in found.fixes]
    assert chosen == [reading.id for reading in made.readings[1:]]


def test_that_repairs_of_things_that_are_gone_are_told(inspection: Inspection) -> None:
    data = Data(left_out=("gone.png",), relabelled=FrozenMap({"cat/1.png": "fox", "cat/2.png": "dog"}))
    changed = repaired(inspection, data)
    (found,) = (problem for problem in changed.problems if problem.code == "repairs_lost")
    assert set(found.files) == {"gone.png", "cat/1.png"}
    assert changed.counts()[1] == inspection.counts()[1] + 1


def test_that_a_class_that_was_emptied_is_named(inspection: Inspection) -> None:
    gone = tuple(path for path in inspection.index.pictures.paths if path.startswith("owl/"))
    changed = repaired(inspection, Data(left_out=gone))
    assert {p.place for p in changed.problems if p.code == "class_kept_out"} == {"owl"}
    assert not {"class_unreadable", "unreadable_images"} & codes(changed)


def test_that_no_file_changes_and_repairs_travel_with_the_project(
    root: Path, inspection: Inspection, tmp_path: Path
) -> None:
    before = tree_state(root)
    project = Project()
    for found in inspection.problems:
        for fix in found.fixes:
            project = fix.edit.apply(project)
    assert project.data.left_out and project.data.relabelled
    kept = project_from_json(project_to_json(project))
    assert kept == project
    changed = repaired(inspect(scan(root), tmp_path / "cache"), kept.data)
    split(changed, kept.data)
    assert tree_state(root) == before
    assert {path.name for path in tmp_path.iterdir()} == {"set", "cache"}


def test_that_a_name_that_is_no_text_can_be_left_out(tmp_path: Path) -> None:
    root = classes(tmp_path / "set", {"a": 2, "b": 2})
    try:
        (root / "a" / "0.png").rename(root / "a" / "bad\udcff.png")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this disk only holds names that are text")
    made = inspect(scan(root), tmp_path / "cache")
    project = LeaveOut(("a/bad\\xff.png",)).apply(Project())
    kept = project_from_json(project_to_json(project).encode().decode())
    assert repaired(made, kept.data).counts() == (1, 2)
