"""Where things are on disk, and writes that a crash cannot tear."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Folders:
    """The user's folders. Made once at the edge (`studio.folders`) and handed down; tests hand down temporary ones."""

    config: Path
    data: Path
    cache: Path
    runs: Path

    @classmethod
    def under(cls, home: Path) -> Folders:
        """All folders below one; for tests, portable installs and `LANTERN_HOME`."""
        return cls(home / "config", home / "data", home / "cache", home / "runs")


@cache
def resources_folder() -> Path:
    """Icons, texts, hints, templates and the sample: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "resources"
    return inside if inside.is_dir() else package.parent / "resources"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place, synced to disk, when the block ends well.

    A crash or an exception leaves the old file as it was; on an exception the temporary file is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        yield temporary
        sync_file(temporary)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path`: temporary file, fsync, rename."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make a rename in `path` last through a power cut; systems that cannot sync a folder skip it."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_text(path: Path) -> str:
    """UTF-8 text, with or without a byte order mark."""
    return path.read_bytes().decode("utf-8-sig")


def safe_name(name: str, longest: int = 40) -> str:
    """`name` as a part of a file name on every system: letters and digits of any script, `-` and `_`."""
    kept = re.sub(r"[^\w\-]+", "-", name, flags=re.UNICODE).strip("-_.")
    return kept[:longest] or "unnamed"
