"""Deleted runs, kept for a while beside the others so that a person can have them back."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

TRASH = ".trash"
KEPT_DAYS = 30


@dataclass(frozen=True, slots=True)
class TrashedRun:
    """A run in the trash: where it lies, what its folder was called, and when it was deleted (seconds since the
    epoch)."""

    folder: Path
    name: str
    when: float


def move_to_trash(run_folder: Path, when: float | None = None) -> TrashedRun:
    """Take the run out of the list of runs. Nothing in it is changed.

    Raises:
        OSError: it cannot be moved; it is where it was.
    """
    moment = time.time() if when is None else when
    trash = run_folder.parent / TRASH
    trash.mkdir(exist_ok=True)
    # The moment is in the name: a folder keeps no record of its own renaming.
    target = trash / f"{int(moment * 1000)}~{run_folder.name}"
    run_folder.rename(target)
    return TrashedRun(target, run_folder.name, moment)


def restore(trashed: TrashedRun) -> Path:
    """Put the run back, under its old name where that is free; where it is now.

    Raises:
        OSError: it cannot be moved; it stays in the trash.
    """
    runs_root = trashed.folder.parent.parent
    number, target = 1, runs_root / trashed.name
    while target.exists():
        number += 1
        target = runs_root / f"{trashed.name}-{number}"
    return trashed.folder.rename(target)


def trashed_runs(runs_root: Path) -> list[TrashedRun]:
    """The runs in the trash, newest deletion first."""
    try:
        entries = list((runs_root / TRASH).iterdir())
    except OSError:
        return []
    found = []
    for entry in entries:
        moment, mark, name = entry.name.partition("~")
        if mark and name and moment.isdecimal():
            found.append(TrashedRun(entry, name, int(moment) / 1000))
    return sorted(found, key=lambda trashed: trashed.when, reverse=True)


def empty_old(runs_root: Path, now: float | None = None) -> int:
    """Delete for good what has been in the trash for `KEPT_DAYS`; how many runs that were."""
    limit = (time.time() if now is None else now) - KEPT_DAYS * 86400
    old = [trashed for trashed in trashed_runs(runs_root) if trashed.when < limit]
    for trashed in old:
        shutil.rmtree(trashed.folder, ignore_errors=True)
    return len(old)
