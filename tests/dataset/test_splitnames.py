"""Folder names that mean splits, and those that do not."""

from __future__ import annotations

import pytest

from studio.dataset.splitnames import role, roles


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train", "train"),
        ("Training", "train"),
        ("TRAIN_SET", "train"),
        ("trainingImages", "train"),
        ("training set", "train"),
        ("训练集", "train"),
        ("val", "validation"),
        ("Validation", "validation"),
        ("valid", "validation"),
        ("dev", "validation"),
        ("test-images", "test"),
        ("Testing", "test"),
        ("cat", ""),
        ("trainer", ""),
        ("steam train", ""),
        ("", ""),
    ],
)
def test_that_a_name_means_a_split(name: str, expected: str) -> None:
    assert role(name) == expected


def test_that_names_that_differ_only_in_the_split_count() -> None:
    assert roles(["seg_train", "seg_test"]) == ("train", "test")
    assert roles(["flowers-train", "flowers-val", "notes"]) == ("train", "validation", "")


def test_that_one_such_name_alone_is_a_class() -> None:
    assert roles(["steam_train", "plane", "car"]) == ("", "", "")
    assert roles(["steam_train", "crash_test"]) == ("", "")
