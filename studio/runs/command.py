"""Tell a run what to do, whoever hosts it: one more line in its `commands.jsonl`."""

from __future__ import annotations

import os
from pathlib import Path

from studio.core.commands import Command, command_to_line
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.runs.folder import commands_file


def send(run_folder: Path, command: Command) -> Problem | None:
    """Append `command` so that the run sees it whole or not at all; a Problem where it cannot be written.

    One write in append mode: lines of several writers never mix.
    """
    path = commands_file(run_folder)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        try:
            line = command_to_line(command).encode() + b"\n"
            os.write(descriptor, (b"" if _ends_whole(descriptor) else b"\n") + line)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        facts = FrozenMap({"file": str(path), "reason": error.strerror or str(error)})
        return Problem("command_not_sent", place=str(path), facts=facts)
    return None


def _ends_whole(descriptor: int) -> bool:
    """Whether the file is empty or ends with a line break; a line torn by a crash must not swallow the next one."""
    size = os.fstat(descriptor).st_size
    if size == 0:
        return True
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"
