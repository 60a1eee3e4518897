"""Inspection: every picture once, remembered, and refreshed when a file changes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studio.dataset import inspect as inspecting
from studio.dataset.index import Index
from studio.dataset.inspect import inspect
from studio.dataset.inspectionstore import Finding, Store
from studio.dataset.progress import Cancelled, IsCancelled
from studio.dataset.scan import scan
from tests.dataset.making import classes, picture, script, shared_cases, tree_state


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = classes(tmp_path / "set", {"cat": 3, "dog": 2})
    (made / "cat" / "torn.png").write_bytes((made / "cat" / "0.png").read_bytes()[:60])
    return made


def forget_how_to_look(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Counts the files that are really opened."""
    looked: list[Path] = []
    real = inspecting.look

    def look(path: Path, cancelled: IsCancelled) -> Finding:
        looked.append(path)
        return real(path, cancelled)

    monkeypatch.setattr(inspecting, "look", look)
    return looked


def test_that_broken_pictures_are_named_and_left_out(root: Path, tmp_path: Path) -> None:
    before = tree_state(root)
    inspection = inspect(scan(root), tmp_path / "cache")
    assert inspection.counts() == (3, 2)
    assert list(inspection.refused) == ["cat/torn.png"]
    (found,) = (problem for problem in inspection.problems if problem.code == "unreadable_images")
    assert found.files == ("cat/torn.png",) and found.facts["count"] == 1
    assert tree_state(root) == before


def test_that_sizes_modes_and_contents_are_recorded(tmp_path: Path) -> None:
    picture(tmp_path / "set" / "a" / "0.png", 1, (5, 7), "L")
    shutil.copyfile(tmp_path / "set" / "a" / "0.png", picture(tmp_path / "set" / "b" / "copy.png"))
    inspection = inspect(scan(tmp_path / "set"), tmp_path / "cache")
    assert inspection.widths.tolist() == [5, 5] and inspection.heights.tolist() == [7, 7]
    assert inspection.modes == ("L", "L")
    assert np.array_equal(inspection.hashes[0], inspection.hashes[1]) and inspection.hashes[0].any()
    assert "conflicting_labels" in {problem.code for problem in inspection.problems}


def test_that_a_second_look_opens_nothing(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = inspect(scan(root), tmp_path / "cache")
    looked = forget_how_to_look(monkeypatch)
    second = inspect(scan(root), tmp_path / "cache")
    assert looked == []
    assert np.array_equal(first.hashes, second.hashes)
    assert (first.modes, first.refused, first.problems) == (second.modes, second.refused, second.problems)


def test_that_only_a_changed_file_is_looked_at_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inspect(scan(root), tmp_path / "cache")
    looked = forget_how_to_look(monkeypatch)
    picture(root / "dog" / "1.png", 99, (20, 20))
    assert inspect(scan(root), tmp_path / "cache").widths.max() == 20
    assert looked == [root / "dog" / "1.png"]


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nonsense", b"\0" * 5000])
def test_that_a_damaged_store_is_made_anew(root: Path, tmp_path: Path, damage: bytes) -> None:
    first = inspect(scan(root), tmp_path / "cache")
    (stored,) = (tmp_path / "cache").rglob("*.npz")
    whole = stored.read_bytes()
    for content in (damage, whole[: len(whole) // 2], whole[:300] + b"\xff" * 40 + whole[340:]):
        stored.write_bytes(content)
        assert np.array_equal(inspect(scan(root), tmp_path / "cache").hashes, first.hashes)


def test_that_what_was_found_before_cancelling_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = classes(tmp_path / "set", {"cat": 30, "dog": 3})  # more than all threads together have in hand
    monkeypatch.setattr(inspecting, "_CHUNK", 1)
    kept: list[int] = []
    keep = inspecting._keep

    def noted(store: Store, index: Index, place: int, finding: Finding) -> None:
        keep(store, index, place, finding)
        kept.append(place)

    monkeypatch.setattr(inspecting, "_keep", noted)
    with pytest.raises(Cancelled):
        inspect(scan(root), tmp_path / "cache", cancelled=lambda: bool(kept))
    looked = forget_how_to_look(monkeypatch)
    inspect(scan(root), tmp_path / "cache")
    assert 0 < len(looked) < 33


def test_that_a_read_only_cache_only_costs_time(root: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert inspect(scan(root), tmp_path / "cache").counts() == (3, 2)


def test_that_a_refusal_that_may_pass_is_not_remembered(root: Path, tmp_path: Path) -> None:
    index = scan(root)
    kept = (root / "dog" / "1.png").rename(tmp_path / "kept.png")
    assert "dog/1.png" in inspect(index, tmp_path / "cache").refused
    kept.rename(root / "dog" / "1.png")
    assert "dog/1.png" not in inspect(index, tmp_path / "cache").refused


def test_that_pictures_turned_by_metadata_count_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / "set" / "a").mkdir(parents=True)
    Image.new("RGB", (30, 20)).save(tmp_path / "set" / "a" / "0.jpg", exif=exif)
    inspection = inspect(scan(tmp_path / "set"), tmp_path / "cache")
    assert (inspection.widths[0], inspection.heights[0]) == (20, 30)
    assert "turned_by_metadata" in {problem.code for problem in inspection.problems}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes and links")
def test_that_every_oddity_of_a_disk_is_survived(tmp_path: Path) -> None:
    shared = shared_cases("bad_images")
    here = tmp_path / "script"
    (here / "public").mkdir(parents=True)
    shutil.copyfile(shared / "make_special.py", here / "make_special.py")
    shutil.copyfile(shared / "hopper_gray.jpg", here / "public" / "hopper_gray.jpg")
    made = script(here / "make_special.py")
    made.main(str(tmp_path / "odd"))
    inspection = inspect(scan(tmp_path / "odd"), tmp_path / "cache")
    usable = inspection.usable()
    status = {path: bool(usable[at]) for at, path in enumerate(inspection.index.pictures.paths)}
    assert sum(status[path] for path in status if "plain_" in path) == 8
    for name in ("dangling", "loop", "endless", "pipe", "sparse_5GiB"):
        assert status[f"class_a/{name}.jpg"] is False
    assert status["class_a/link.jpg"] and status["class_a/-rf.jpg"] and status["class_a/new\nline.jpg"]
    assert not any(path.startswith("class_a/up") for path in status)
