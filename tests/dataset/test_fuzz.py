"""Mutated real files end in pixels or in a refusal: no crash, no hang, no runaway memory.

A small seeded round belongs to every test run; `LANTERN_FUZZ=5000` makes a long one (about 100 files a second).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studio.core.text import problem_message
from studio.dataset.loading import Refused, load, thumbnail
from tests.dataset.making import picture, shared_cases

ROUNDS = int(os.environ.get("LANTERN_FUZZ", "150"))
# Above what reading the largest of the files below needs, with room for what the rest of the test run left behind.
MOST_GROWTH_BYTES = 1 << 30
_LARGEST_SOURCE_BYTES = 300_000


def generated(folder: Path) -> list[Path]:
    """One file of each format that is written easily, some progressive, interlaced, paletted or animated."""
    made = [
        picture(folder / f"a.{suffix}", 1, (40, 30))
        for suffix in ["png", "jpg", "gif", "bmp", "tif", "webp", "tga", "pcx", "sgi", "ico"]
    ]
    noise = Image.open(made[0]).convert("RGB")
    noise.save(folder / "progressive.jpg", progressive=True)
    noise.quantize(16).save(folder / "palette.png")
    noise.convert("LA").save(folder / "alpha.png")
    noise.convert("CMYK").save(folder / "cmyk.jpg")
    noise.save(folder / "lzw.tif", compression="tiff_lzw")
    noise.convert("1").save(folder / "group4.tif", compression="group4")
    noise.save(folder / "deflate.tif", compression="tiff_adobe_deflate")
    noise.save(folder / "animated.webp", save_all=True, append_images=[noise.rotate(90), noise.rotate(180)])
    noise.save(folder / "plain.ppm")
    return sorted(folder.iterdir())


def mutated(content: bytes, other: bytes, draw: np.random.Generator) -> bytes:
    """`content` damaged in one of the ways in which files are damaged."""
    changed = bytearray(content)

    def place() -> int:
        # Half of the damage goes to the beginning, where sizes and offsets are.
        return int(draw.integers(min(len(changed), 128) if draw.random() < 0.5 else len(changed)))

    match int(draw.integers(6)):
        case 0:
            for _ in range(int(draw.integers(1, 20))):
                changed[place()] = int(draw.integers(256))
        case 1:
            at = place()
            changed[at : at + 4] = draw.choice([b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x01"])
        case 2:
            del changed[place() :]
        case 3:
            at = place()
            del changed[at : at + int(draw.integers(1, 64))]
        case 4:
            at = place()
            changed[at:at] = changed[at : at + int(draw.integers(1, 2000))] * int(draw.integers(1, 4))
        case _:
            at = place()
            changed[at:] = other[at:]
    return bytes(changed)


def sources(folder: Path) -> list[bytes]:
    found = [path.read_bytes() for path in generated(folder)]
    try:
        shared = shared_cases("bad_images")
    except pytest.skip.Exception:
        return found
    files = [path for path in sorted(shared.iterdir()) if path.suffix not in (".json", ".md", ".py")]
    return found + [path.read_bytes() for path in files if 0 < path.stat().st_size <= _LARGEST_SOURCE_BYTES]


def peak_bytes() -> int:
    """The most memory that this process ever held."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@pytest.mark.timeout(3600)
def test_that_mutated_files_end_in_pixels_or_in_a_named_refusal(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = sources(tmp_path / "whole")
    draw = np.random.default_rng(20)
    before = peak_bytes()
    path = tmp_path / "mutated"
    for round_number in range(ROUNDS):
        one, other = (whole[int(draw.integers(len(whole)))] for _ in range(2))
        path.write_bytes(mutated(one, other, draw))
        try:
            loaded = load(path)
            assert loaded.rgb.dtype == np.uint8 and loaded.rgb.shape[2] == 3 and loaded.rgb.size
        except Refused as refused:
            assert path.name in problem_message(refused.problem)
        if round_number % 4 == 0:
            try:
                assert max(thumbnail(path, 16).shape[:2]) <= 16
            except Refused as refused:
                assert path.name in problem_message(refused.problem)
    assert peak_bytes() - before < MOST_GROWTH_BYTES
