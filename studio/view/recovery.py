"""Copies of unsaved projects, so that a crash costs at most half a minute of work; one file per running window."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from studio.core.files import read_text, write_atomically
from studio.core.project import Project, ProjectUnreadable, project_from_json, project_to_json
from studio.runs.host import process_is_alive

_FORMAT = "lantern-studio-recovery"


@dataclass(frozen=True, slots=True)
class RecoveryCopy:
    """A project that a window left behind: `saved_at` in seconds since the epoch, `path` where it was opened from."""

    file: Path
    project: Project
    path: Path | None
    saved_at: float


class RecoveryFile:
    """This window's copy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = psutil.Process().create_time()
        self.file = folder / f"{os.getpid()}-{int(self._started)}.json"

    def write(self, project: Project, path: Path | None) -> None:
        """Keep a copy; a crash in between leaves the copy before it.

        Raises:
            OSError: it cannot be written.
        """
        plain = {
            "format": _FORMAT,
            "pid": os.getpid(),
            "process_started": self._started,
            "saved_at": time.time(),
            "path": str(path) if path is not None else None,
            "project": json.loads(project_to_json(project)),
        }
        write_atomically(self.file, json.dumps(plain, ensure_ascii=False, indent=1).encode())

    def remove(self) -> None:
        """The work is saved, or was given up knowingly."""
        with suppress(OSError):
            self.file.unlink()


def left_behind(folder: Path) -> tuple[RecoveryCopy, ...]:
    """The copies of windows that are gone, newest first; one that cannot be read is passed over and stays."""
    try:
        files = sorted(folder.glob("*.json"))
    except OSError:
        return ()
    copies = [copy for file in files if (copy := _read(file)) is not None]
    return tuple(sorted(copies, key=lambda copy: -copy.saved_at))


def _read(file: Path) -> RecoveryCopy | None:
    try:
        plain = json.loads(read_text(file))
        if plain["format"] != _FORMAT or process_is_alive(int(plain["pid"]), float(plain["process_started"])):
            return None
        project = project_from_json(json.dumps(plain["project"]), str(file))
        path = Path(plain["path"]) if plain["path"] else None
        return RecoveryCopy(file, project, path, float(plain["saved_at"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError, ProjectUnreadable):
        return None
