"""Near copies: found when saved anew or scaled, not claimed for pictures that only look alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from studio.core.problem import Problem
from studio.core.project import Data
from studio.dataset import inspect as inspecting
from studio.dataset.inspect import inspect
from studio.dataset.inspection import Inspection
from studio.dataset.near import Pairs, clean_score, groups_of, near_pairs
from studio.dataset.prints import NO_PRINT, PRINT_BYTES, fingerprint
from studio.dataset.progress import Pace
from studio.dataset.report import data_report
from studio.dataset.scan import scan
from studio.dataset.split import split


def scene(seed: int, size: tuple[int, int] = (96, 80)) -> Image.Image:
    """A smooth picture with a few shapes, another one for every seed."""
    draw = np.random.default_rng(seed)
    image = Image.fromarray(draw.integers(0, 256, (4, 5, 3), np.uint8)).resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    for _ in range(5):
        x, y = int(draw.integers(0, size[0])), int(draw.integers(0, size[1]))
        pen.ellipse((x, y, x + 20, y + 14), fill=tuple(draw.integers(0, 256, 3).tolist()))
    return image


def saved(image: Image.Image, path: Path, **how: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, **how)
    return path


def looked_at(root: Path) -> Inspection:
    return inspect(scan(root), root.parent / "cache")


def finding(inspection: Inspection, code: str) -> Problem | None:
    return next((problem for problem in inspection.problems if problem.code == code), None)


def many(root: Path, count: int = 12) -> Path:
    for at in range(count):
        saved(scene(at), root / "ab"[at % 2] / f"{at}.png")
    return root


def test_that_copies_saved_anew_and_scaled_are_found(tmp_path: Path) -> None:
    root = many(tmp_path / "set")
    saved(scene(0), root / "a" / "again.jpg", quality=60)
    saved(scene(0).resize((192, 160), Image.Resampling.LANCZOS), root / "a" / "large.png")
    saved(scene(1), root / "b" / "again.jpg", quality=40)
    inspection = looked_at(root)
    found = finding(inspection, "near_duplicates")
    assert found is not None
    assert set(found.files) == {"a/0.png", "a/again.jpg", "a/large.png", "b/1.png", "b/again.jpg"}
    assert found.facts["groups"] == 2
    paths = inspection.index.pictures.paths
    assert all(paths[one] < paths[other] for one, other in inspection.near.tolist())


def test_that_different_pictures_and_exact_copies_are_no_near_copies(tmp_path: Path) -> None:
    root = many(tmp_path / "set", 60)
    (root / "a" / "same.png").write_bytes((root / "a" / "0.png").read_bytes())
    assert not len(looked_at(root).near)


def test_that_drawings_that_differ_in_one_place_are_not_the_same(tmp_path: Path) -> None:
    for hour, end in enumerate([(32, 8), (52, 20), (52, 44), (32, 56), (12, 44), (12, 20)]):
        image = Image.new("L", (64, 64), 40)
        pen = ImageDraw.Draw(image)
        pen.ellipse((2, 2, 62, 62), fill=220)
        pen.line((32, 32, *end), fill=60, width=5)
        saved(image, tmp_path / "set" / "ab"[hour % 2] / f"{hour}.png")
    assert not len(looked_at(tmp_path / "set").near)


def test_that_colour_tells_pictures_apart(tmp_path: Path) -> None:
    for name, colour in (("red", (200, 60, 60)), ("blue", (70, 85, 230))):
        image = Image.new("RGB", (64, 64), "white")
        ImageDraw.Draw(image).ellipse((8, 8, 56, 56), fill=colour)
        saved(image, tmp_path / "set" / name / "1.png")
    assert not len(looked_at(tmp_path / "set").near)


def test_that_pictures_without_contrast_are_never_compared(tmp_path: Path) -> None:
    for at in range(6):
        saved(Image.new("RGB", (64, 64), (100 + at, 100, 100)), tmp_path / "set" / "ab"[at % 2] / f"{at}.png")
    assert not len(looked_at(tmp_path / "set").near)


def test_that_near_copies_across_the_folders_own_splits_are_a_warning_with_an_estimate(tmp_path: Path) -> None:
    root = tmp_path / "set"
    for at in range(20):
        saved(scene(at), root / ("val" if at >= 15 else "train") / "ab"[at % 2] / f"{at}.png")
    saved(scene(0), root / "val" / "a" / "again.jpg", quality=60)
    inspection = looked_at(root)
    found = finding(inspection, "near_duplicates_across_splits")
    assert found is not None and found.severity == "warning"
    assert found.files == ("val/a/again.jpg",)
    assert found.facts["share"] == f"{100 / 6:.1f}"
    assert found.facts["clean"] == f"{100 * (0.9 - 1 / 6) / (5 / 6):.1f}"


def test_that_the_split_that_is_used_is_looked_at_too(tmp_path: Path) -> None:
    root = many(tmp_path / "set", 40)
    for at in range(40):
        saved(scene(at), root / "ab"[at % 2] / f"again{at}.jpg", quality=70)
    inspection = looked_at(root)
    assert finding(inspection, "near_duplicates_across_splits") is None
    report = data_report(inspection, split(inspection, Data()))
    (found,) = (f for f in report["findings"] if f["code"] == "near_duplicates_across_splits")
    assert found["severity"] == "warning" and "%" in found["message"] and len(found["files"]) > 5


@pytest.mark.parametrize(("score", "share", "clean"), [(0.9, 0.0, 0.9), (0.9, 0.5, 0.8), (0.3, 0.5, 0.0), (1, 1, 0)])
def test_that_the_estimate_assumes_that_known_pictures_are_answered_right(
    score: float, share: float, clean: float
) -> None:
    assert clean_score(score, share) == pytest.approx(clean)


def test_that_pairs_join_into_groups() -> None:
    assert groups_of(np.array([[1, 4], [2, 3], [4, 9], [3, 2]])) == [[1, 4, 9], [2, 3]]
    assert groups_of(np.zeros((0, 2), np.int64)) == []


def test_that_pairs_are_kept_and_searched_again_only_for_other_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = many(tmp_path / "set")
    saved(scene(0), root / "a" / "again.jpg", quality=60)
    first = looked_at(root)
    searched: list[int] = []

    def search(inspection: Inspection, prints: NDArray[np.uint8], pace: Pace) -> Pairs:
        searched.append(len(prints))
        return near_pairs(inspection, prints, pace)

    monkeypatch.setattr(inspecting, "near_pairs", search)
    assert np.array_equal(looked_at(root).near, first.near) and not searched
    (root / "a" / "again.jpg").unlink()
    assert not len(looked_at(root).near) and searched


def test_that_a_fingerprint_is_small_and_absent_for_tiny_pictures() -> None:
    assert len(fingerprint(np.asarray(scene(1)))) == PRINT_BYTES == len(NO_PRINT)
    assert fingerprint(np.zeros((8, 200, 3), np.uint8)) == NO_PRINT
