"""Kinds of folders that people really have, each made of empty files: only names and places decide a layout."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from studio.dataset.index import Index
from studio.dataset.scan import scan

TWO = ("a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg")


def tree(root: Path, files: Sequence[str]) -> Path:
    """Empty files; a name that ends with `/` is a folder."""
    for name in files:
        path = root / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    return root


def under(*tops: str, files: Sequence[str] = ("cat/1.jpg", "dog/1.jpg")) -> list[str]:
    return [f"{top}/{file}" for top in tops for file in files]


def counts(index: Index) -> dict[str, int]:
    return dict(zip(index.classes, index.counts(), strict=True))


def splits(index: Index) -> dict[str, int]:
    found: dict[str, int] = {}
    for picture in index.pictures:
        found[picture.split] = found.get(picture.split, 0) + 1
    return found


def codes(index: Index) -> set[str]:
    return {problem.code for problem in index.problems}


@pytest.mark.parametrize(
    "folder",
    ["__MACOSX/a", "@eaDir", "a/@eaDir", "a/.thumbnails", ".Trash-1000/files", "lost+found", "#recycle", "$RECYCLE.BIN",
     "System Volume Information", "a/.ipynb_checkpoints", ".git/objects", "a/.deep/er/still", "@__thumb"],
)  # fmt: skip
def test_that_folders_of_programs_are_no_classes(folder: str, tmp_path: Path) -> None:
    index = scan(tree(tmp_path, [*TWO, f"{folder}/x.jpg"]))
    assert counts(index) == {"a": 2, "b": 2}
    assert codes(index) == {"ignored_hidden_dirs"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ehthumbs.db", "ignored_system_files"), ("Thumbs.db:encryptable", "ignored_system_files"),
        (".directory", "ignored_system_files"), (".nomedia", "ignored_system_files"),
        ("~$notes.docx", "ignored_system_files"), (".~lock.list.ods#", "ignored_system_files"),
        ("._1.jpg", "ignored_system_files"), ("AlbumArtSmall.jpg", "ignored_system_files"),
        ("Icon\r", "ignored_system_files"), ("3.jpg.part", "ignored_partial_files"),
        ("3.jpg.crdownload", "ignored_partial_files"), ("3.jpg~", "ignored_partial_files"),
    ],
)  # fmt: skip
def test_that_clutter_beside_pictures_is_passed_over_and_said(name: str, code: str, tmp_path: Path) -> None:
    if os.name == "nt" and set(name) & set(":\r"):
        pytest.skip("such names do not exist on Windows")
    index = scan(tree(tmp_path, [*TWO, f"a/{name}"]))
    assert counts(index) == {"a": 2, "b": 2}
    assert codes(index) == {code}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("around", [[], ["README.md", "one/LICENSE"], ["docs/"], ["__MACOSX/one/._a"], ["logo.png"]])
def test_that_wrapping_folders_are_looked_through(depth: int, around: list[str], tmp_path: Path) -> None:
    top = "/".join(("one", "two", "three")[:depth])
    index = scan(tree(tmp_path, [*under(top, files=TWO), *around]))
    assert counts(index) == {"a": 2, "b": 2}
    assert index.base == top
    assert "descended_single_folder" in codes(index)
    assert ("loose_images" in codes(index)) == ("logo.png" in around)


def test_that_masks_beside_pictures_are_no_class(tmp_path: Path) -> None:
    index = scan(tree(tmp_path, under("images", "masks")))
    assert counts(index) == {"cat": 1, "dog": 1}
    (loose,) = (problem for problem in index.problems if problem.code == "loose_images")
    assert loose.files == ("masks/cat/1.jpg", "masks/dog/1.jpg")


def test_that_nested_classes_of_unequal_depth_keep_every_picture(tmp_path: Path) -> None:
    index = scan(tree(tmp_path, ["a/1.jpg", "a/deep/er/2.jpg", "b/1.jpg", "c/x/1.jpg"]))
    assert counts(index) == {"a": 2, "b": 1, "c": 1}
    assert codes(index) == {"nested_images"}
    mostly_below = ["pet/cat/1.jpg", "pet/dog/big/1.jpg", "plant/rose/1.jpg", "plant/2.jpg"]
    index = scan(tree(tmp_path / "other", mostly_below))
    assert counts(index) == {"pet": 2, "plant": 2}
    assert {"nested_images", "ambiguous_depth"} <= codes(index)
    assert counts(scan(tmp_path / "other", reading="folders@2")) == {"cat": 1, "dog": 1, "plant": 1, "rose": 1}


SPLIT_NAMES = [
    ("train", "val", "test"), ("Training", "Validation", "Testing"), ("TRAIN", "DEV", "TEST"), ("tr", "va", "te"),
    ("trn", "valid", "tst"), ("train_images", "val_images", "test_images"),
    ("images-train", "images-val", "images-test"), ("traindata", "valdata", "testdata"),
    ("train_set", "dev_set", "test_set"), ("TrainImages", "ValImages", "TestImages"),
    ("1_train", "2_val", "3_test"), ("train2017", "val2017", "test2017"), ("train (1)", "val (1)", "test (1)"),
    ("训练", "验证", "测试"), ("训练集", "验证集", "测试集"), ("訓練", "検証", "テスト"), ("학습", "검증", "테스트"),
    ("Entrenamiento", "Validación", "Prueba"), ("Entraînement", "Validation", "Test"), ("обучение", "проверка", "тест"),
    ("flowers17_train", "flowers17_val", "flowers17_test"), ("train", "eval", "holdout"), ("xtrain", "xval", "xtest"),
    ("train-augmented", "val", "test"),
]  # fmt: skip


@pytest.mark.parametrize("names", SPLIT_NAMES, ids="+".join)
def test_that_splits_are_known_by_many_names_and_in_either_nesting(names: tuple[str, ...], tmp_path: Path) -> None:
    for root, files in (
        (tmp_path / "outer", under(*names)),
        (tmp_path / "wrapped", under(*(f"x/y/{name}" for name in names))),
        (tmp_path / "inner", [f"{animal}/{name}/1.jpg" for animal in ("cat", "dog") for name in names]),
    ):
        if root.name == "inner" and names[0] in ("tr", "flowers17_train", "train-augmented"):
            continue  # inside a class such names are too weak a sign
        index = scan(tree(root, files))
        assert counts(index) == {"cat": 3, "dog": 3}
        assert splits(index) == {"train": 2, "validation": 2, "test": 2}
        assert "presplit" in codes(index)


@pytest.mark.parametrize("names", [("train", "test"), ("train", "val"), ("train_1", "train_2", "test")])
def test_that_not_every_split_has_to_be_there(names: tuple[str, ...], tmp_path: Path) -> None:
    index = scan(tree(tmp_path, under(*names)))
    assert index.classes == ("cat", "dog")
    assert index.reading.id == "presplit"


@pytest.mark.parametrize("others", [[], ["val/"], ["val/cat/", "val/dog/"], ["unlabelled/1.jpg"]])
def test_that_training_alone_is_a_split(others: list[str], tmp_path: Path) -> None:
    index = scan(tree(tmp_path, [*under("train"), *others]))
    assert counts(index) == {"cat": 1, "dog": 1}
    assert splits(index) == {"train": 2}
    assert ("empty_split" in codes(index)) == any(name.endswith("/") for name in others)


def test_that_splits_without_training_are_an_error_with_a_way_out(tmp_path: Path) -> None:
    index = scan(tree(tmp_path, under("val", "test")))
    assert index.classes == ("cat", "dog")
    assert not index.usable and "no_training_split" in codes(index)
    assert scan(tmp_path, reading="folders@2").usable


@pytest.mark.parametrize(
    "files",
    [["train/1.jpg", "plane/1.jpg", "car/1.jpg"], ["steam_train/1.jpg", "plane/1.jpg"], ["te/1.jpg", "ta/1.jpg"]],
)
def test_that_classes_named_like_splits_stay_classes(files: list[str], tmp_path: Path) -> None:
    index = scan(tree(tmp_path, files))
    assert index.reading.id == "folders"
    assert len(index.classes) == len(files)


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("val/owl/1.jpg", {"class_missing_in_train"}),
        ("test/owl/1.jpg", {"class_missing_in_train", "class_missing_in_validation"}),
        ("train/owl/1.jpg", {"class_missing_in_validation"}),
        ("train/owl/", {"empty_class"}),
        ("val/owl/", {"empty_class"}),
    ],
)
def test_that_a_class_that_a_split_lacks_is_named(extra: str, expected: set[str], tmp_path: Path) -> None:
    index = scan(tree(tmp_path, [*under("train", "val", "test"), extra]))
    assert codes(index) - {"presplit"} == expected
    assert {problem.place for problem in index.problems if problem.code in expected} == {"owl"}


def test_that_a_class_spelled_otherwise_in_another_split_is_one_class(tmp_path: Path) -> None:
    index = scan(tree(tmp_path, ["train/Cat/1.jpg", "train/dog/1.jpg", "val/cat/1.jpg", "val/dog/1.jpg"]))
    assert counts(index) == {"Cat": 2, "dog": 2}
    assert codes(index) == {"presplit"}


def test_that_several_empty_classes_are_each_named(tmp_path: Path) -> None:
    index = scan(tree(tmp_path, [*TWO, "c/", "d/", "e/.DS_Store", "f/readme.txt", "g/h/"]))
    assert counts(index) == {"a": 2, "b": 2}
    assert [p.place for p in index.problems if p.code == "empty_class"] == ["c", "d", "e", "f", "g"]


@pytest.mark.parametrize(
    "expected",
    [
        ["img1", "img2", "img10"], ["001", "01", "1", "2"], ["-2", "-1", "0", "5", "10"], ["v1.2", "v1.9", "v1.10"],
        ["1st", "2nd", "10th"], ["a", "B", "C"], ["０", "１", "２", "10"], ["I", "II", "V"], ["x" * 200, "y" * 200],
        ["100%", "a&b", "a,b", "it's", "{x}"],
    ],
    ids=lambda names: names[0][:8],
)  # fmt: skip
def test_that_classes_come_in_the_order_people_expect(expected: list[str], tmp_path: Path) -> None:
    assert list(scan(tree(tmp_path, [f"{name}/1.jpg" for name in expected])).classes) == expected


@pytest.mark.skipif(os.name != "posix", reason="such twins do not exist on Windows")
@pytest.mark.parametrize("names", [("Cat", "cat"), ("cat", "cat "), ("cat", "cat.")])
def test_that_classes_with_nearly_the_same_name_stay_apart_and_are_named(
    names: tuple[str, str], tmp_path: Path
) -> None:
    index = scan(tree(tmp_path, [f"{name}/1.jpg" for name in (*names, "dog")]))
    if len(index.classes) < 3:
        pytest.skip("this disk does not tell such names apart")
    assert codes(index) == {"similar_classes"}


def test_that_classes_of_punctuation_are_not_called_alike(tmp_path: Path) -> None:
    assert "similar_classes" not in codes(scan(tree(tmp_path, ["-/1.jpg", "_/1.jpg", "+/1.jpg"])))


@pytest.mark.parametrize(
    "name", ["1.JPG", "2.Jpeg", "3.JPE", "4.tif", "5.TIFF", "6.jfif", "7.jpg ", "n" * 251 + ".jpg"]
)
def test_that_every_usual_ending_counts(name: str, tmp_path: Path) -> None:
    assert counts(scan(tree(tmp_path, [*TWO, f"a/{name}"]))) == {"a": 3, "b": 2}


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_that_linked_folders_count_once(tmp_path: Path) -> None:
    root = tree(tmp_path / "set", TWO)
    tree(tmp_path / "store", ["x/1.jpg", "x/2.jpg"])
    (root / "c").symlink_to(tmp_path / "store" / "x")
    (root / "again").symlink_to(tmp_path / "store" / "x")
    (root / "latest").symlink_to("a")
    (root / "a" / "round").symlink_to("../..")
    (root / "gone").symlink_to("nowhere")
    index = scan(root)
    assert counts(index) == {"a": 2, "again": 2, "b": 2}
    (skipped,) = (problem for problem in index.problems if problem.code == "links_skipped")
    assert set(skipped.files) == {"c", "latest", "a/round"}
