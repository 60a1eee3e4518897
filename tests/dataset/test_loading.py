"""The loading policy, clause by clause, on generated files and on the shared odd ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image

from studio.core.project import Preprocessing
from studio.core.text import problem_message
from studio.dataset import loading
from studio.dataset.loading import Refused, load, load_rgb, load_working, thumbnail, to_working_size
from tests.dataset.making import picture, shared_cases


def refusal_of(path: Path) -> str:
    with pytest.raises(Refused) as caught:
        load_rgb(path)
    assert path.name.encode("utf-8", "backslashreplace").decode() in problem_message(caught.value.problem)
    return caught.value.problem.code


def test_that_a_plain_picture_loads_as_it_is(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png")
    rgb = load_rgb(path)
    assert rgb.dtype == np.uint8 and rgb.shape == (10, 12, 3)
    with Image.open(path) as image:
        assert np.array_equal(rgb, np.asarray(image))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_that_every_orientation_comes_upright(orientation: int, tmp_path: Path) -> None:
    upright = np.zeros((8, 16, 3), np.uint8)
    upright[:4, :8] = 255
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }  # fmt: skip
    image = Image.fromarray(upright)
    stored = image.transpose(undo[orientation]) if orientation in undo else image
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / "a.png", exif=exif)
    loaded = load(tmp_path / "a.png")
    assert np.array_equal(loaded.rgb, upright)
    assert loaded.turned == (orientation != 1)
    assert np.array_equal(thumbnail(tmp_path / "a.png", 64), upright)


@pytest.mark.parametrize(("background", "shade"), [("white", 255), ("black", 0), ("grey", 128)])
@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_that_transparency_shows_the_background(mode: str, background: str, shade: int, tmp_path: Path) -> None:
    image = Image.new("RGBA", (4, 4), (10, 10, 10, 0)).convert(mode)
    if mode == "P":
        image.info["transparency"] = image.getpixel((0, 0))
    image.save(tmp_path / "a.png")
    assert (load_rgb(tmp_path / "a.png", background) == shade).all()


def test_that_sixteen_bits_are_scaled_and_not_clipped(tmp_path: Path) -> None:
    values = np.linspace(0, 65535, 256).astype(np.uint16).reshape(16, 16)
    Image.fromarray(values).save(tmp_path / "a.png")
    assert np.abs(load_rgb(tmp_path / "a.png")[..., 0].astype(int) - np.rint(values / 257)).max() == 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([[0, 0.5], [1, 0.25]], np.float32), [[0, 128], [255, 64]]),
        (np.array([[0, 128], [255, 64]], np.float32), [[0, 128], [255, 64]]),
        (np.array([[-1, 0], [1, -1]], np.float32), [[0, 128], [255, 0]]),
        (np.array([[5000, 5000], [5000, 5000]], np.float32), [[128, 128], [128, 128]]),
        (np.array([[0, 128], [255, 64]], np.int32), [[0, 128], [255, 64]]),
        (np.array([[0, 25700], [65535, 257]], np.int32), [[0, 100], [255, 1]]),
        (np.array([[0, 1_000_000], [500_000, 0]], np.int32), [[0, 255], [128, 0]]),
    ],
)
def test_that_numbers_become_greys_by_the_stated_rule(values: Any, expected: list[list[int]], tmp_path: Path) -> None:
    Image.fromarray(values).save(tmp_path / "a.tif")
    assert load_rgb(tmp_path / "a.tif")[..., 0].tolist() == expected


def test_that_cmyk_is_converted(tmp_path: Path) -> None:
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "a.jpg", quality=100)
    red, green, blue = load_rgb(tmp_path / "a.jpg").reshape(-1, 3).mean(0)
    assert red > 230 and green < 40 and blue < 40


def test_that_an_animation_gives_its_first_frame(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (6, 6), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert load_rgb(tmp_path / "a.gif")[0, 0].tolist() == [255, 0, 0]


def test_that_content_decides_and_not_the_name(tmp_path: Path) -> None:
    Image.new("RGB", (4, 4), "red").save(tmp_path / "a.jpg", "PNG")
    assert load(tmp_path / "a.jpg").format == "PNG"
    (tmp_path / "b.png").write_bytes(b"%PDF-1.7 and so on")
    assert refusal_of(tmp_path / "b.png") == "picture_unsupported"


def test_that_each_kind_of_trouble_has_its_reason(tmp_path: Path) -> None:
    whole = picture(tmp_path / "whole.jpg", size=(64, 64)).read_bytes()
    (tmp_path / "half.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.jpg").write_bytes(b"")
    (tmp_path / "text.jpg").write_text("not an image")
    (tmp_path / "folder.jpg").mkdir()
    assert refusal_of(tmp_path / "half.jpg") == "picture_truncated"
    assert refusal_of(tmp_path / "empty.jpg") == "picture_empty"
    assert refusal_of(tmp_path / "text.jpg") == "picture_not_a_picture"
    assert refusal_of(tmp_path / "folder.jpg") == "picture_not_a_file"
    assert refusal_of(tmp_path / "gone.jpg") == "picture_missing"


def test_that_too_many_pixels_are_refused_before_they_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "LARGEST_PICTURE_PX", 99)
    assert refusal_of(picture(tmp_path / "a.png", size=(10, 10))) == "picture_bomb"
    monkeypatch.setattr(loading, "LARGEST_FILE_BYTES", 50)
    assert refusal_of(tmp_path / "a.png") == "picture_file_too_large"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_that_pipes_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "endless.jpg").symlink_to("/dev/zero")
    (tmp_path / "loop.jpg").symlink_to("loop.jpg")
    assert refusal_of(tmp_path / "pipe.jpg") == "picture_not_a_file"
    assert refusal_of(tmp_path / "endless.jpg") == "picture_not_a_file"
    assert refusal_of(tmp_path / "loop.jpg") == "picture_unreadable"


def _quadrants(rgb: loading.Pixels) -> list[list[float]]:
    height, width = rgb.shape[0] // 2, rgb.shape[1] // 2
    parts = (rgb[:height, :width], rgb[:height, width:], rgb[height:, :width], rgb[height:, width:])
    return [part.reshape(-1, 3).mean(0).tolist() for part in parts]


def test_that_every_shared_odd_file_is_loaded_or_refused_as_expected() -> None:
    folder = shared_cases("bad_images")
    wrong: list[str] = []
    for case in json.loads((folder / "index.json").read_text("utf-8")):
        path = folder / Path(case["file"]).name
        try:
            rgb = load_rgb(path)
        except Refused as refused:
            named = path.name in problem_message(refused.problem)
            if "refuse" not in case["expect"] or not named:
                wrong.append(f"{path.name}: {refused.problem.code}")
            continue
        wrong.extend(f"{path.name}: {what}" for what in _deviations(rgb, case))
    assert wrong == []


def _deviations(rgb: loading.Pixels, case: dict[str, Any]) -> list[str]:
    reference, mean = case.get("reference") or {}, rgb.reshape(-1, 3).mean(0)
    found = ["should be refused"] if case["expect"] == "refuse" else []
    if list(rgb.shape[1::-1]) != reference.get("rgb_size", list(rgb.shape[1::-1])):
        found.append(f"size {rgb.shape}")
    accepted = case.get("accept_means") or [mean]
    if not any(np.abs(mean - np.array(good)).max() <= case["tolerance"] for good in accepted):
        found.append(f"mean {mean}")
    if any(np.abs(mean - np.array(bad)).max() <= 1 for bad in case.get("reject_means", [])):
        found.append(f"the known wrong mean {mean}")
    if (
        case["expect"] == "load_oriented"
        and np.abs(np.subtract(_quadrants(rgb), reference["quadrant_means"])).max() > 4
    ):
        found.append(f"quadrants {_quadrants(rgb)}")
    return found


def test_that_damaged_files_end_in_a_refusal_and_nothing_else(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    for suffix in ("png", "jpg", "gif", "bmp", "tif", "webp"):
        content = picture(tmp_path / f"whole.{suffix}", size=(24, 24)).read_bytes()
        path = tmp_path / f"mutated.{suffix}"
        for _ in range(60):
            mutated = bytearray(content)
            for place in draw.integers(0, len(mutated), int(draw.integers(1, 8))):
                mutated[place] = int(draw.integers(256))
            path.write_bytes(mutated[: int(draw.integers(1, len(mutated) + 1))])
            try:
                assert load_rgb(path).shape[2] == 3
            except Refused as refused:
                assert refused.problem.place.endswith(path.name)


@pytest.mark.parametrize("fit", ["stretch", "crop", "pad"])
@pytest.mark.parametrize(("channels", "count"), [("grey", 1), ("colour", 3)])
@pytest.mark.parametrize("size", [(1, 1), (3000, 2), (2, 3000), (31, 17), (7, 5)])
def test_that_every_picture_comes_to_the_working_size(
    fit: Literal["stretch", "crop", "pad"],
    channels: Literal["grey", "colour"],
    count: int,
    size: tuple[int, int],
) -> None:
    rgb = np.full((size[1], size[0], 3), 77, np.uint8)
    pixels = to_working_size(rgb, Preprocessing(height=5, width=7, channels=channels, fit=fit, background="grey"))
    assert pixels.shape == (count, 5, 7) and pixels.dtype == np.uint8
    assert set(np.unique(pixels)) <= ({77, 128} if fit == "pad" else {77})


def test_that_a_picture_of_the_working_size_is_not_touched(tmp_path: Path) -> None:
    path = picture(tmp_path / "a.png", size=(9, 6))
    for fit in ("stretch", "crop", "pad"):
        pixels = load_working(path, Preprocessing(height=6, width=9, fit=fit))
        assert np.array_equal(pixels.transpose(1, 2, 0), load_rgb(path))


def test_that_crop_keeps_the_middle_and_pad_keeps_everything() -> None:
    rgb = np.zeros((10, 30, 3), np.uint8)
    rgb[:, 10:20] = 200
    crop = to_working_size(rgb, Preprocessing(height=10, width=10, fit="crop"))
    pad = to_working_size(rgb, Preprocessing(height=30, width=30, fit="pad", background="white"))
    assert (crop == 200).all()
    assert (pad[:, 10:20] == rgb.transpose(2, 0, 1)).all()
    assert (pad[:, :10] == 255).all() and (pad[:, 20:] == 255).all()


def test_that_shrinking_averages_instead_of_picking() -> None:
    rgb = np.zeros((64, 64, 3), np.uint8)
    rgb[::2] = 255
    assert np.abs(to_working_size(rgb, Preprocessing(height=8, width=8)).astype(int) - 127).max() <= 6


def test_that_a_thumbnail_keeps_proportions_within_its_bound(tmp_path: Path) -> None:
    small = thumbnail(picture(tmp_path / "a.jpg", size=(400, 200)), 64)
    assert small.shape == (32, 64, 3)
    (tmp_path / "b.jpg").write_bytes(b"")
    with pytest.raises(Refused):
        thumbnail(tmp_path / "b.jpg", 64)
