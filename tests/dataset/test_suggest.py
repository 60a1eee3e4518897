"""A working size that suits the pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from studio.core.project import Preprocessing
from studio.dataset.inspect import inspect
from studio.dataset.scan import scan
from studio.dataset.suggest import suggest_preprocessing


def suggested(tmp_path: Path, sizes: list[tuple[int, int]], mode: str) -> Preprocessing:
    for label in ("a", "b"):
        (tmp_path / "set" / label).mkdir(parents=True)
    for number, size in enumerate(sizes):
        Image.new(mode, size, number).save(tmp_path / "set" / "ab"[number % 2] / f"{number}.png")
    found = inspect(scan(tmp_path / "set"), tmp_path / "cache")
    return suggest_preprocessing(found, Preprocessing())


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([(28, 28)] * 4, (28, 28)),
        ([(20, 32)] * 4, (20, 32)),
        ([(500, 375)] * 4, (96, 96)),
        ([(60, 70), (80, 64), (66, 90), (62, 62)], (64, 64)),
        ([(4, 9), (5, 7)], (16, 16)),
    ],
)
def test_that_the_size_follows_the_pictures(
    tmp_path: Path, sizes: list[tuple[int, int]], expected: tuple[int, int]
) -> None:
    preprocessing = suggested(tmp_path, sizes, "RGB")
    assert (preprocessing.width, preprocessing.height) == expected
    assert preprocessing.channels == "colour"


def test_that_grey_pictures_get_one_channel(tmp_path: Path) -> None:
    assert suggested(tmp_path, [(28, 28)] * 4, "L").channels == "grey"


def test_that_without_usable_pictures_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "set" / "a").mkdir(parents=True)
    found = inspect(scan(tmp_path / "set"), tmp_path / "cache")
    assert suggest_preprocessing(found, Preprocessing(height=33)) == Preprocessing(height=33)
