"""What a scan makes of folders, tidy and odd."""

from __future__ import annotations

import json
import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from studio.core.problem import Severity
from studio.core.project import Data
from studio.dataset.index import Index
from studio.dataset.inspect import inspect
from studio.dataset.layout import describe
from studio.dataset.progress import Cancelled, Progress
from studio.dataset.report import data_report
from studio.dataset.scan import scan
from studio.dataset.split import split
from tests.dataset.making import classes, picture, script, shared_cases, tree_state

LAYOUTS = [
    "plain", "os_clutter", "hidden_dirs", "extra_top_folder", "two_level_classes", "flat_unlabelled", "presplit_tvt",
    "presplit_names", "class_only_in_val", "empty_class", "single_class", "rare_class", "upper_ext", "no_ext",
    "unicode_names", "natural_order", "file_links", "read_only", "csv_labels", "dup_across_splits", "mixed_modes",
    "corrupt_few", "exif_turned",
]  # fmt: skip


def counts(index: Index) -> dict[str, int]:
    return dict(zip(index.classes, index.counts(), strict=True))


def codes(index: Index) -> set[str]:
    return {problem.code for problem in index.problems}


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    made = script(shared_cases("layouts") / "make_layouts.py")
    out = tmp_path_factory.mktemp("layouts")
    argv = sys.argv
    sys.argv = ["make_layouts.py", str(out)]
    try:
        made.main()
    finally:
        sys.argv = argv
    return out, json.loads((out / "expected.json").read_text("utf-8"))


def test_that_every_shared_layout_is_known_by_name(layouts: tuple[Path, dict[str, Any]]) -> None:
    assert set(layouts[1]) == set(LAYOUTS)


@pytest.mark.parametrize("case", LAYOUTS)
def test_that_a_shared_layout_is_read_as_expected(
    case: str, layouts: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    out, expected = layouts[0], layouts[1][case]
    root = out / expected["root"]
    before = tree_state(root)
    inspection = inspect(scan(root), tmp_path)
    report = data_report(inspection, split(inspection, Data()))
    found = {finding["code"]: finding["severity"] for finding in report["findings"]}
    assert report["classes"] == expected["classes"]
    assert report["counts"] == expected["counts"]
    assert report["total"] == expected["total"]
    assert report["splits"] == expected.get("splits")
    assert set(expected["codes"]) <= set(found)
    assert {found[code] for code in set(found) - set(expected["codes"])} <= {"info"}
    if expected["kind"] == "ambiguous":
        assert report["readings"]
    if "size_after_orientation" in expected:
        assert set(zip(inspection.widths.tolist(), inspection.heights.tolist(), strict=True)) == {(96, 64)}
    json.dumps(report, ensure_ascii=False).encode()
    assert tree_state(root) == before


def test_that_class_folders_are_read_with_nothing_to_say(tmp_path: Path) -> None:
    index = scan(classes(tmp_path, {"dog": 2, "cat": 3}))
    assert counts(index) == {"cat": 3, "dog": 2}
    assert index.problems == ()
    assert index.usable
    assert not index.presplit
    assert [(p.path, p.label, p.split) for p in index.pictures][:1] == [("cat/0.png", 0, "")]
    assert index.pictures[0].size_bytes == (tmp_path / "cat/0.png").stat().st_size


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda root: root / "gone", "folder_missing"),
        (lambda root: picture(root / "a.png"), "not_a_folder"),
        (lambda root: root, "folder_empty"),
        (lambda root: (root / "a.txt").write_text("x") and root, "no_pictures"),
        (lambda root: (root / "a.zip").write_text("x") and root, "archive_found"),
        (lambda root: picture(root / "a.png").parent, "no_class_folders"),
        (lambda root: classes(root, {"cat": 2}), "single_class"),
        (lambda root: Path("nul\0byte"), "folder_missing"),
    ],
)
def test_that_an_unusable_folder_is_an_error_that_says_why(make: Any, code: str, tmp_path: Path) -> None:
    index = scan(make(tmp_path))
    errors = [problem for problem in index.problems if problem.severity is Severity.ERROR]
    assert not index.usable
    assert len(errors) == 1
    assert errors[0].code in (code, "chosen_folder_unreadable" if "\0" in str(index.root) else code)


def test_that_wrappings_are_passed_and_named(tmp_path: Path) -> None:
    classes(tmp_path / "flowers" / "flowers", {"rose": 1, "tulip": 1})
    index = scan(tmp_path)
    assert index.base == "flowers/flowers"
    assert index.classes == ("rose", "tulip")
    assert index.pictures[0].path == "flowers/flowers/rose/0.png"


def test_that_splits_are_splits_at_either_level(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    for name, count in (("Training", 3), ("valid", 2), ("TEST", 1)):
        classes(outer / name, {"cat": count, "dog": count})
        for animal in ("cat", "dog"):
            classes(inner / animal, {name: count})
    for root, reading in ((outer, "presplit"), (inner, "split-inside")):
        index = scan(root)
        assert index.reading.id == reading
        assert index.classes == ("cat", "dog")
        assert sorted({p.split for p in index.pictures}) == ["test", "train", "validation"]
        assert sum(p.split == "train" for p in index.pictures) == 6


def test_that_split_folders_without_classes_are_no_classes(tmp_path: Path) -> None:
    index = scan(classes(tmp_path, {"train": 2, "val": 2}))
    assert index.classes == ()
    assert "no_class_folders" in codes(index)


def test_that_a_named_split_with_its_own_wrapping_is_read(tmp_path: Path) -> None:
    for name in ("seg_train", "seg_test"):
        classes(tmp_path / name / name, {"sea": 2, "ice": 1})
    index = scan(tmp_path)
    assert index.reading.id == "presplit"
    assert counts(index) == {"ice": 2, "sea": 4}


def test_that_a_class_spelled_with_other_code_points_is_the_same_in_every_split(tmp_path: Path) -> None:
    classes(tmp_path / "train", {"caf\u00e9": 2, "tea": 2})
    classes(tmp_path / "val", {"cafe\u0301": 1, "tea": 1})
    assert sorted(scan(tmp_path).counts()) == [3, 3]


def test_that_two_levels_are_offered_and_the_choice_is_kept(tmp_path: Path) -> None:
    classes(tmp_path / "day", {"cat": 2, "dog": 1})
    classes(tmp_path / "night", {"cat": 1, "owl": 1})
    first = scan(tmp_path)
    assert [reading.id for reading in first.readings] == ["folders", "folders@2", "folders@2:path"]
    assert "ambiguous_depth" in codes(first)
    assert all(describe(reading) for reading in first.readings)
    assert counts(scan(tmp_path, reading="folders@2")) == {"cat": 3, "dog": 1, "owl": 1}
    assert counts(scan(tmp_path, reading="folders@2:path")) == {
        "day/cat": 2, "day/dog": 1, "night/cat": 1, "night/owl": 1,
    }  # fmt: skip


def test_that_a_reading_that_is_gone_is_said(tmp_path: Path) -> None:
    index = scan(classes(tmp_path, {"a": 1, "b": 1}), reading="presplit")
    assert index.reading.id == "folders"
    assert "reading_not_found" in codes(index)


def test_that_pictures_outside_the_classes_are_named(tmp_path: Path) -> None:
    picture(classes(tmp_path, {"a": 1, "b": 1}) / "stray.png")
    (loose,) = (problem for problem in scan(tmp_path).problems if problem.code == "loose_images")
    assert loose.files == ("stray.png",)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_that_links_to_folders_are_followed_once_and_never_round(tmp_path: Path) -> None:
    store = classes(tmp_path / "store", {"x": 3})
    root = classes(tmp_path / "set", {"cat": 2})
    (root / "dog").symlink_to(store / "x", target_is_directory=True)
    (root / "cat" / "up").symlink_to("..", target_is_directory=True)
    (root / "cat" / "self").symlink_to("self")
    index = scan(root)
    assert counts(index) == {"cat": 2, "dog": 3}
    assert "links_skipped" in codes(index)


@pytest.mark.skipif(os.name == "nt", reason="such names do not exist on Windows")
def test_that_a_name_that_is_no_text_is_usable_and_printable(tmp_path: Path) -> None:
    root = classes(tmp_path / "set", {"a": 1, "b": 1})
    try:
        (root / "b").rename(os.fsdecode(os.fsencode(root) + b"/b\xff"))
    except OSError:
        pytest.skip("this disk only holds names that are text")
    index = scan(root)
    assert index.classes == ("a", "b\\xff")
    assert index.path(1).is_file()
    report = data_report(inspect(index, tmp_path / "cache"))
    json.dumps(report, ensure_ascii=False).encode()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_that_a_pipe_is_listed_as_no_file(tmp_path: Path) -> None:
    os.mkfifo(classes(tmp_path, {"a": 1, "b": 1}) / "a" / "pipe.jpg")
    os.mkfifo(tmp_path / "a" / "pipe_without_suffix")
    index = scan(tmp_path)
    assert {p.path: p.size_bytes for p in index.pictures}["a/pipe.jpg"] == -1
    assert len(index.pictures) == 3


def test_that_a_scan_stops_when_asked(tmp_path: Path) -> None:
    for at in range(300):
        (tmp_path / f"{at}.png").touch()
    with pytest.raises(Cancelled):
        scan(tmp_path, cancelled=lambda: True)


def test_that_progress_is_told_at_a_bounded_rate(tmp_path: Path) -> None:
    for at in range(1000):
        (tmp_path / f"{at}.png").touch()
    told: list[Progress] = []
    scan(tmp_path, progress=told.append)
    assert told[0] == Progress("scan", 0, None)
    assert told[-1] == Progress("scan", 1000, 1000)
    assert len(told) <= 2 + 1000 // 256


def test_that_an_index_of_many_pictures_stays_small(tmp_path: Path) -> None:
    root = tmp_path / "many"
    for name in ("a", "b"):
        (root / name).mkdir(parents=True)
        for at in range(1500):
            (root / name / f"image_{at:07d}.png").touch()
    tracemalloc.start()
    index = scan(root)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(index.pictures) == 3_000
    assert peak_bytes / 3_000 < 400


def test_that_a_table_labels_a_flat_folder(tmp_path: Path) -> None:
    for at in range(6):
        picture(tmp_path / "pics" / f"img{at}.png", at)
    rows = [f"img{at},{'benign' if at % 2 else 'bad, very'!r},{'val' if at > 3 else 'train'}" for at in range(6)]
    text = "id,diagnosis,split\n" + "\n".join(rows).replace("'", '"').replace('"benign"', "benign")
    (tmp_path / "labels.csv").write_text(text + "\nlost,benign,train\n", "utf-8-sig")
    picture(tmp_path / "pics" / "unknown.png", 9)
    index = scan(tmp_path)
    assert index.reading.id == "csv:labels.csv"
    assert counts(index) == {"bad, very": 3, "benign": 3}
    assert [p.split for p in index.pictures] == ["train"] * 4 + ["validation"] * 2
    assert {"csv_labels", "csv_missing_files", "csv_unlabelled"} <= codes(index)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["cat;a/0.png", "dog;b/0.png", "dog;b/1.png"], {"cat": 1, "dog": 2}),
        (["file\tlabel", "a\\0.png\tcat", "b\\0.png\tdog"], {"cat": 1, "dog": 1}),
        (["image,MEL,NV", "a/0.png,1.0,0.0", "b/0.png,0.0,1.0", "b/1.png,0.0,1.0"], {"MEL": 1, "NV": 2}),
        (["file,width,label,note", "a/0.png,3,x,p", "b/0.png,5,y,q", "b/1.png,9,y,r"], {"x": 1, "y": 2}),
    ],
)
def test_that_tables_are_understood_in_many_forms(lines: list[str], expected: dict[str, int], tmp_path: Path) -> None:
    classes(tmp_path, {"a": 1, "b": 2})
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert counts(scan(tmp_path, reading="csv:t.csv")) == expected


@pytest.mark.parametrize("text", ["", "a,b", "a,b\n1,2\n", '"', "\0\0,\0\n,", "x,y\n" * 50])
def test_that_a_table_of_something_else_is_passed_over(text: str, tmp_path: Path) -> None:
    (classes(tmp_path, {"a": 1, "b": 2}) / "t.csv").write_text(text)
    assert [reading.id for reading in scan(tmp_path).readings] == ["folders"]
