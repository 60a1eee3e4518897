"""The sample project's pictures, unpacked into the user's data folder."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from studio.core.files import resources_folder, sync_folder

# What its project and its runs are called, in the window and in the terminal.
SAMPLE_NAME = "digits"
_FOLDER = "sample_digits"
_TRY_THESE = "try_these"
_LICENCE = "LICENCE.txt"
_PREFIX = "images/"


def unpack_sample(destination: Path) -> Path:
    """The folder of class folders (2,000 digits, 28 x 28), unpacked below `destination` where it is not there yet.

    Twenty pictures to try a trained network on come to `destination/try_these`, the licence to
    `destination/LICENCE.txt`. A copy that lost pictures is made whole again.

    Raises:
        OSError: the destination cannot be written to; names it.
    """
    archive = resources_folder() / "sample" / f"{_FOLDER}.zip"
    with zipfile.ZipFile(archive) as packed:
        names = [name for name in packed.namelist() if not name.endswith("/")]
        classes = {name: name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)}
        tries = {name: Path(name).name for name in names if name.startswith(f"{_TRY_THESE}/")}
        destination.mkdir(parents=True, exist_ok=True)
        _unpack(packed, classes, destination / _FOLDER)
        _unpack(packed, tries, destination / _TRY_THESE)
        (destination / _LICENCE).write_bytes(packed.read(_LICENCE))
    return destination / _FOLDER


def _unpack(packed: zipfile.ZipFile, members: dict[str, str], folder: Path) -> None:
    """Unpack beside `folder` and rename, so that a half-unpacked folder never carries its name."""
    sizes = {name: packed.getinfo(name).file_size for name in members}
    if all(_has(folder / inner, sizes[name]) for name, inner in members.items()):
        return
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, inner in members.items():
            target = fresh / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(packed.read(name))
        fresh.chmod(0o755)
        _take_place(fresh, folder, members)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    sync_folder(folder.parent)


def _take_place(fresh: Path, folder: Path, members: dict[str, str]) -> None:
    try:
        os.rename(fresh, folder)  # noqa: PTH104  # keeps `fresh` a path that the caller may clean up
    except OSError:
        # The folder is there already, incomplete or being unpacked by another window: add what it lacks.
        for inner in members.values():
            target = folder / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(fresh / inner, target)  # noqa: PTH105


def _has(path: Path, size_bytes: int) -> bool:
    try:
        return path.stat().st_size == size_bytes
    except OSError:
        return False
