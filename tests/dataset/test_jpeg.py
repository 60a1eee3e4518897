"""The fast decoder gives Pillow's pixels, and leaves to Pillow what it cannot do or should not decide."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from studio.core.project import Preprocessing
from studio.dataset import jpeg
from studio.dataset.loading import Loaded, Refused, load, load_working
from tests.dataset.making import shared_cases

pytest.importorskip("simplejpeg")


def photo(width: int = 61, height: int = 43, mode: str = "RGB") -> Image.Image:
    rows, columns = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(3).integers(0, 60, (height, width))
    planes = [4 * columns % 200 + noise, 5 * rows % 190 + noise // 2, (rows + columns) * 2 % 240]
    return Image.fromarray(np.clip(np.stack(planes, 2), 0, 255).astype(np.uint8)).convert(mode)


def outcome(path: Path) -> Loaded | str:
    try:
        return load(path)
    except Refused as refused:
        return refused.problem.code


def both(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Loaded | str, Loaded | str]:
    """What becomes of a file with the fast decoder and without it."""
    fast = outcome(path)
    with monkeypatch.context() as patch:
        patch.setattr(jpeg, "decode_jpeg", None)
        return fast, outcome(path)


def assert_alike(fast: Loaded | str, slow: Loaded | str) -> None:
    if isinstance(fast, str) or isinstance(slow, str):
        assert fast == slow
        return
    assert (fast.mode, fast.format, fast.turned, fast.content_hash) == (
        slow.mode, slow.format, slow.turned, slow.content_hash
    )  # fmt: skip
    assert fast.rgb.shape == slow.rgb.shape and fast.rgb.flags.writeable and fast.rgb.dtype == np.uint8
    assert np.abs(fast.rgb.astype(int) - slow.rgb).max() <= 0.02 * 255


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_that_its_pixels_are_those_of_pillow(
    mode: str, progressive: bool, subsampling: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jpg"
    photo(mode=mode).save(path, quality=88, progressive=progressive, subsampling=subsampling)
    assert_alike(*both(path, monkeypatch))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_that_it_turns_pictures_as_pillow_does(
    orientation: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo().save(tmp_path / "a.jpg", exif=exif)
    fast, slow = both(tmp_path / "a.jpg", monkeypatch)
    assert_alike(fast, slow)
    assert isinstance(fast, Loaded) and fast.turned == (orientation != 1)


def test_that_it_is_asked_for_ordinary_jpegs_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    decode = jpeg.decode_jpeg
    assert decode is not None

    def counted(content: bytes, colourspace: str) -> NDArray[np.uint8]:
        asked.append(len(content))
        return decode(content, colourspace)

    monkeypatch.setattr(jpeg, "decode_jpeg", counted)
    for name, mode in (("a.jpg", "RGB"), ("b.jpg", "L"), ("c.jpg", "CMYK"), ("d.png", "RGB")):
        photo(mode=mode).save(tmp_path / name)
        load(tmp_path / name)
    assert asked == [(tmp_path / name).stat().st_size for name in ("a.jpg", "b.jpg")]


def test_that_damage_is_judged_by_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.BytesIO()
    photo().save(stream, "JPEG", quality=90)
    whole = stream.getvalue()
    rng = np.random.default_rng(5)
    path = tmp_path / "a.jpg"
    refused = 0
    for number in range(150):
        content = bytearray(whole)
        if number % 3 == 0:
            content = content[: rng.integers(20, len(content))]
        else:
            for at in rng.integers(2, len(content), 1 + number % 4):
                content[at] = rng.integers(256)
        path.write_bytes(content)
        fast, slow = both(path, monkeypatch)
        assert_alike(fast, slow)
        refused += isinstance(fast, str)
    assert 20 < refused < 150


def test_that_the_shared_odd_files_end_as_with_pillow_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [path for path in sorted(shared_cases("bad_images").rglob("*")) if path.is_file()]
    small = [path for path in paths if path.read_bytes()[:2] == b"\xff\xd8"]
    assert small
    for path in small:
        assert_alike(*both(path, monkeypatch))


def test_that_the_networks_input_is_within_a_fiftieth_of_pillows(tmp_path: Path) -> None:
    photo(500, 375).save(tmp_path / "a.jpg", quality=90)
    found = load_working(tmp_path / "a.jpg", Preprocessing(height=224, width=224, fit="stretch"))
    with Image.open(tmp_path / "a.jpg") as image:
        expected = np.asarray(image.resize((224, 224), Image.Resampling.BILINEAR)).transpose(2, 0, 1)
    assert np.abs(found / 255.0 - expected / 255.0).max() <= 0.02
