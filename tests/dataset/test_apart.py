"""Decoding apart: the same pixels, and an end to decoders that hang, crash or fill the memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studio.core.text import problem_message
from studio.dataset import apart, loading
from studio.dataset.apart import Decoders
from studio.dataset.loading import Refused, load, load_here, thumbnail
from studio.dataset.progress import Cancelled
from tests.dataset.making import picture


@pytest.fixture
def decoders() -> Iterator[Decoders]:
    made = Decoders(2)
    yield made
    made.close()


def told(decoders: Decoders, path: Path) -> str:
    with pytest.raises(Refused) as caught:
        decoders.load(path, "white")
    assert path.name in problem_message(caught.value.problem)
    return caught.value.problem.code


def run_instead(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(apart, "_COMMAND", (sys.executable, "-c", program))


@pytest.mark.parametrize("suffix", ["tif", "tga", "pcx", "ico", "sgi", "png"])
def test_that_the_pixels_are_the_same(suffix: str, decoders: Decoders, tmp_path: Path) -> None:
    path = picture(tmp_path / f"a.{suffix}", 3, (20, 16))
    far, near = decoders.load(path, "black"), load_here(path, "black")
    assert np.array_equal(far.rgb, near.rgb)
    assert (far.mode, far.format, far.turned, far.content_hash) == (
        near.mode, near.format, near.turned, near.content_hash,
    )  # fmt: skip


def test_that_refusals_come_back_with_their_reason(decoders: Decoders, tmp_path: Path) -> None:
    whole = picture(tmp_path / "a.tif", 3, (60, 60)).read_bytes()
    (tmp_path / "half.tif").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.tif").write_text("not a picture")
    (tmp_path / "empty.tif").write_bytes(b"")
    assert told(decoders, tmp_path / "half.tif") in {"picture_truncated", "picture_damaged"}
    assert told(decoders, tmp_path / "text.tif") == "picture_not_a_picture"
    assert told(decoders, tmp_path / "empty.tif") == "picture_empty"
    assert told(decoders, tmp_path / "gone.tif") == "picture_missing"


@pytest.mark.skipif(os.name == "nt", reason="such names do not exist on Windows")
def test_that_names_that_are_no_text_arrive(decoders: Decoders, tmp_path: Path) -> None:
    path = picture(tmp_path / "a.tif")
    try:
        odd = path.rename(tmp_path / "bad\udcff\n.tif")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this disk only holds names that are text")
    assert decoders.load(odd, "white").rgb.shape == (10, 12, 3)


def test_that_a_decoder_that_hangs_is_ended(
    decoders: Decoders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(apart, "SECONDS", 0.2)
    monkeypatch.setattr(apart, "SECONDS_PER_MEGAPIXEL", 0.0)
    assert told(decoders, picture(tmp_path / "a.tif")) == "picture_too_slow"


def test_that_waiting_for_a_decoder_can_be_cancelled(
    decoders: Decoders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, "import time; time.sleep(600)")
    with pytest.raises(Cancelled):
        decoders.load(picture(tmp_path / "a.tif"), "white", lambda: True)


@pytest.mark.parametrize("end", ["os._exit(3)", "os.abort()", "print('nonsense', flush=True)"])
def test_that_a_decoder_that_crashes_is_no_crash_here(
    end: str, decoders: Decoders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, f"import os, sys; sys.stdin.readline(); {end}")
    assert told(decoders, picture(tmp_path / "a.tif")) == "picture_crashes"


def test_that_the_next_picture_gets_a_fresh_decoder(decoders: Decoders, tmp_path: Path) -> None:
    path = picture(tmp_path / "a.tif")
    decoders.load(path, "white")
    (idle,) = decoders._idle
    idle.process.kill()
    assert decoders.load(path, "white").rgb.shape == (10, 12, 3)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps the limit")
def test_that_a_decoder_that_needs_too_much_memory_is_stopped(
    decoders: Decoders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import studio.dataset.decoder as d; d.MEMORY_BYTES, d.MEMORY_BYTES_PER_PIXEL = 2 << 20, 0; d.main()"
    run_instead(monkeypatch, program)
    Image.new("L", (4000, 4000), 7).save(tmp_path / "a.tif", compression="packbits")
    assert told(decoders, tmp_path / "a.tif") == "picture_too_hungry"


def test_that_large_pictures_are_asked_for_one_at_a_time(
    decoders: Decoders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "LARGE_PICTURE_PX", 100)
    path = picture(tmp_path / "a.tif", 1, (20, 20))
    assert decoders._one_large_picture.acquire(blocking=False)
    with pytest.raises(Cancelled):
        decoders.load(path, "white", lambda: True)
    decoders._one_large_picture.release()
    assert np.array_equal(decoders.load(path, "white").rgb, load_here(path).rgb)


def test_that_only_costly_pictures_go_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far: list[str] = []

    class Noted(Decoders):
        def load(self, path: Path, background: str, cancelled: object = None) -> loading.Loaded:
            far.append(path.name)
            return load_here(path, background)

    monkeypatch.setattr(loading, "_decoders", Noted)
    for name in ("a.jpg", "a.png", "a.gif", "a.bmp", "a.webp"):
        load(picture(tmp_path / name))
    assert far == []
    load(picture(tmp_path / "a.tif"))
    scans = picture(tmp_path / "scans.jpg").read_bytes() + b"\xff\xda" * 101
    (tmp_path / "scans.jpg").write_bytes(scans)
    load(tmp_path / "scans.jpg")
    thumbnail(tmp_path / "scans.jpg", 8)
    monkeypatch.setattr(loading, "LARGE_PICTURE_PX", 100)
    load(tmp_path / "a.png")
    assert far == ["a.tif", "scans.jpg", "scans.jpg", "a.png"]
