"""The files of a model, from a folder or a zip file, read with limits and never unpacked."""

from __future__ import annotations

import contextlib
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from studio.core.text import tr

NETWORK = "network.json"
LARGEST_TEXT_BYTES = 16 * 1024**2
# Weights hardly compress; something that swells a hundredfold and is large was made to exhaust memory.
_SUSPICIOUS_RATIO = 100
_SUSPICIOUS_BYTES = 64 * 1024**2


class ModelUnreadable(Exception):
    """A model cannot be used; the message names the file and says what is wrong."""


class Members(Protocol):
    """The files of one model."""

    def has(self, member: str) -> bool: ...

    def read(self, member: str, largest_bytes: int) -> bytes:
        """The whole file. Raises `ModelUnreadable` where it is missing, unreadable or above the limit."""

    def name(self, member: str) -> str:
        """How error messages name it."""


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, member: str) -> bool:
        return (self._folder / member).is_file()

    def name(self, member: str) -> str:
        return str(self._folder / member)

    def read(self, member: str, largest_bytes: int) -> bytes:
        path = self._folder / member
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise ModelUnreadable(tr("{path} is not a file.", path=path))
            if status.st_size > largest_bytes:
                raise _too_large(self.name(member), status.st_size, largest_bytes)
            with path.open("rb") as file:
                return file.read(status.st_size)
        except FileNotFoundError:
            raise _missing(str(self._folder), member) from None
        except OSError as error:
            raise ModelUnreadable(_unreadable_text(path, error)) from None


class _Zip:
    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path, self._archive = path, archive
        self._infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        # Files of the zipped folder itself, or of its content: `model/labels.txt` or `labels.txt`; beside them a zip
        # may hold what the system that made it adds (`__MACOSX/model/._labels.txt`).
        folders = [name.removesuffix(NETWORK) for name in self._infos if f"/{name}".endswith(f"/{NETWORK}")]
        self._prefix = min(folders, key=lambda folder: folder.count("/"), default="")

    def has(self, member: str) -> bool:
        return self._prefix + member in self._infos

    def name(self, member: str) -> str:
        return tr("{member} in {path}", member=member, path=self._path)

    def read(self, member: str, largest_bytes: int) -> bytes:
        info = self._infos.get(self._prefix + member)
        if info is None:
            raise _missing(str(self._path), member)
        if info.file_size > largest_bytes:
            raise _too_large(self.name(member), info.file_size, largest_bytes)
        if info.file_size > _SUSPICIOUS_BYTES and info.file_size > _SUSPICIOUS_RATIO * max(info.compress_size, 1):
            raise ModelUnreadable(
                tr(
                    "{name} swells more than {n} times when unpacked, which no real model does.",
                    name=self.name(member),
                    n=_SUSPICIOUS_RATIO,
                )
            )
        try:
            with self._archive.open(info) as file:
                content = file.read(
                    min(info.file_size, largest_bytes) + 1
                )  # the size that an entry states need not be true
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            raise ModelUnreadable(
                tr("{name} cannot be unpacked: {reason}.", name=self.name(member), reason=error)
            ) from None
        if len(content) > min(info.file_size, largest_bytes):
            raise _too_large(self.name(member), len(content), largest_bytes)
        return content


def _missing(place: str, member: str) -> ModelUnreadable:
    return ModelUnreadable(
        tr(
            "{place} is not a model: it has no {member}. A model is the folder “model” of a finished run, or that "
            "folder zipped.",
            place=place,
            member=member,
        )
    )


def _unreadable_text(path: Path, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return tr("{path} cannot be read: {reason}.", path=path, reason=reason)


def _too_large(name: str, size: int, largest: int) -> ModelUnreadable:
    return ModelUnreadable(
        tr("{name} has {size:,} bytes; at most {largest:,} are expected.", name=name, size=size, largest=largest)
    )


@contextmanager
def open_members(path: Path) -> Iterator[Members]:
    """The model at `path`: its folder, a run folder that holds `model/`, or a zip file.

    Raises:
        ModelUnreadable: there is no such file, or it is something else.
    """
    if path.is_dir():
        inner = path / "model"
        yield _Folder(inner if inner.is_dir() and not (path / "labels.txt").exists() else path)
        return
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ModelUnreadable(tr("{path} is neither a folder nor a file.", path=path))
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise ModelUnreadable(tr("{path} does not exist.", path=path)) from None
    except (OSError, ValueError) as error:
        raise ModelUnreadable(_unreadable_text(path, error)) from None
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ModelUnreadable(
            tr(
                "{path} is not a model file: it is not a zip of a model folder ({reason}). Files of pickled objects "
                "(.pt, .pth) are not read, because loading them can run code.",
                path=path,
                reason=error,
            )
        ) from None
    with contextlib.closing(archive):
        yield _Zip(path, archive)
