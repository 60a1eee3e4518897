"""Small folders of real picture files, made for a test."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from studio.core.frozen import FrozenMap
from studio.dataset.index import Index, Pictures, Reading
from studio.dataset.inspection import Inspection


def picture(path: Path, seed: int = 0, size: tuple[int, int] = (12, 10), mode: str = "RGB") -> Path:
    """A picture of noise, another one for every seed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    image = Image.fromarray(noise)
    kind = {"": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF"}.get(
        path.suffix.strip().lower(), path.suffix[1:].strip().upper()
    )
    image.convert(mode).save(path, kind)
    return path


def classes(root: Path, counts: dict[str, int], start: int = 0) -> Path:
    """`root/name/0.png` ... for each class, all different."""
    for number, (name, count) in enumerate(counts.items()):
        for at in range(count):
            picture(root / name / f"{at}.png", start + 1000 * number + at)
    return root


def inspection_of(
    hashes: Sequence[bytes], labels: Sequence[int], splits: Sequence[int] | None = None, refused: Sequence[int] = ()
) -> Inspection:
    """An inspection made of nothing but contents and labels."""
    names = tuple(f"c{at}" for at in range(max(labels, default=-1) + 1))
    count = len(labels)
    paths = tuple(f"{labels[at]}/{at}.png" for at in range(count))
    numbers = np.arange(count, dtype=np.int64)
    given = np.array(splits if splits is not None else [0] * count, np.int8)
    pictures = Pictures(paths, np.array(labels, np.int32), given, numbers, numbers)
    reading = Reading("folders", names, (), "folders")
    index = Index(Path("somewhere"), "", reading, (reading,), names, pictures, ())
    sides = np.full(count, 10, np.int32)
    sides[list(refused)] = 0
    return Inspection(
        index,
        np.frombuffer(b"".join(hashes), np.uint8).reshape(-1, 16),
        sides,
        sides,
        ("RGB",) * count,
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        FrozenMap(),
    )


def shared_cases(name: str) -> Path:
    """A folder of the shared cases; the test is skipped where they are not there."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "cases"
    folder = Path(os.environ.get("LANTERN_CASES") or beside) / name
    if not folder.is_dir():
        pytest.skip(f"the shared cases are not here: {folder}")
    return folder


def script(path: Path) -> ModuleType:
    """A script of the shared cases as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tree_state(root: Path) -> dict[str, tuple[int, int, bytes]]:
    """Size, time and bytes of every file, to show that nothing was changed."""
    return {
        str(path.relative_to(root)): (path.stat().st_size, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
