"""Lets what a person has in hand go before training where processors are short."""

from __future__ import annotations

import sys
from contextlib import suppress

import psutil

# Of Unix's 0 (usual) to 19: a third of an ordinary program's share where both want the same processor, all of it
# where none does.
NICENESS = 5


def give_way() -> None:
    """Lower this process's priority one notch; where the system does not allow it, nothing changes."""
    with suppress(psutil.Error, OSError):
        process = psutil.Process()
        if sys.platform == "win32":
            process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        elif process.nice() < NICENESS:
            process.nice(NICENESS)
