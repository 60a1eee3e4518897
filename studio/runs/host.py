"""Whether the process that hosts a run still lives."""

from __future__ import annotations

import psutil

# psutil derives the creation time from the boot time, which a clock that is being set moves by up to a second or two.
_TOLERANCE_SECONDS = 3.0


def process_is_alive(pid: int, process_started: float) -> bool:
    """Whether the process `pid` created at `process_started` (seconds since the epoch) runs; zombies are dead.

    A later process with the same number is told apart by its creation time. `process_started` 0 means unknown.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process_started <= 0 or abs(process.create_time() - process_started) <= _TOLERANCE_SECONDS
    except psutil.AccessDenied:
        return True
    except (psutil.Error, ValueError, OverflowError):
        return False
