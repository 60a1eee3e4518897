"""Numbers as people read them: sizes, durations, counts and shares, each with its unit."""

from __future__ import annotations

import math

_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size_text(size_bytes: float) -> str:
    """Bytes in the largest unit that keeps the number at 1 or more: `512 MiB`, `1.4 GiB`."""
    sign, value = ("-" if size_bytes < 0 else ""), abs(size_bytes)
    unit = 0
    while value >= 1023.5 and unit < len(_SIZE_UNITS) - 1:
        value /= 1024
        unit += 1
    digits = 0 if unit == 0 or value >= 99.5 else 1
    return f"{sign}{value:.{digits}f} {_SIZE_UNITS[unit]}"


def duration_text(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`."""
    if not math.isfinite(seconds):
        return "-"
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def count_text(count: float) -> str:
    """Counts in short: `950`, `12.4 K`, `1.2 M`, `3.1 G`."""
    value = float(count)
    for unit in ("", "K", "M", "G"):
        if abs(value) < 999.5:
            return f"{value:.0f}" if not unit else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} T"


def share_text(share: float) -> str:
    """A share from 0 to 1 in per cent, with one decimal: `97.3%`. It says 100% only for all."""
    if not math.isfinite(share):
        return "-"
    shown = min(share * 100, 99.9) if share < 1 else share * 100
    return f"{shown:.1f}%" if shown < 99.95 or share < 1 else f"{shown:.0f}%"
