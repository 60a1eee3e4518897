"""The host process's memory counters: resident bytes, the C allocator's live and kept bytes, Python's blocks."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

import psutil

from studio.core.events import HostMemory


class _Mallinfo2(ctypes.Structure):
    """glibc's `struct mallinfo2` (malloc.h, since 2.33)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    )  # fmt: skip


@cache
def _mallinfo2() -> ctypes._NamedFuncPointer | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        function = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return None
    function.restype = _Mallinfo2
    return function


def native_bytes() -> tuple[int | None, int | None]:
    """Bytes that the C allocator has handed out, and bytes that it keeps free; None where it cannot tell."""
    function = _mallinfo2()
    if function is None:
        return None, None
    info = function()
    return info.uordblks + info.hblkhd, info.fordblks


def resident_bytes() -> int:
    """This process's resident memory."""
    if sys.platform.startswith("linux"):
        try:
            statm = os.open("/proc/self/statm", os.O_RDONLY)
            try:
                return int(os.pread(statm, 128, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
            finally:
                os.close(statm)
        except (OSError, IndexError, ValueError):
            pass
    return int(psutil.Process().memory_info().rss)


def sample_host() -> HostMemory:
    """All host counters at this moment."""
    live, kept = native_bytes()
    machine = psutil.virtual_memory()
    return HostMemory(
        resident_bytes=resident_bytes(),
        native_live_bytes=live,
        native_kept_bytes=kept,
        python_blocks=sys.getallocatedblocks(),
        available_bytes=int(machine.available),
        total_bytes=int(machine.total),
    )


class PeakResident:
    """The highest resident memory since it was made.

    Linux keeps the mark itself (VmHWM) and sets it back on request (proc(5), clear_refs 5), so that nothing between
    two samples is missed; elsewhere the largest sample counts.
    """

    def __init__(self) -> None:
        self._sampled = resident_bytes()
        self._is_marked = _reset_high_water_mark()

    def saw(self, resident: int) -> None:
        """A sample taken anyway."""
        self._sampled = max(self._sampled, resident)

    def bytes(self) -> int:
        mark = _high_water_mark() if self._is_marked else None
        return max(mark or 0, self._sampled, resident_bytes())


def _reset_high_water_mark() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _high_water_mark() -> int | None:
    try:
        status = Path("/proc/self/status").read_text("utf-8", "replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None
