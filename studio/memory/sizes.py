"""Bytes as people read them."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def bytes_text(count: float) -> str:
    """Three digits and a binary unit: `1.43 GiB`, `512 MiB`, `87 B`.

    >>> bytes_text(1536 * 1024)
    '1.50 MiB'
    """
    size = abs(float(count))
    unit = 0
    while size >= 999.5 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    digits = 0 if unit == 0 or size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{'-' if count < 0 else ''}{size:.{digits}f} {_UNITS[unit]}"
