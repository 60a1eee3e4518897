"""Numbers read from error texts: byte counts, CUDA versions, shapes; and the same numbers as words."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping

from studio.advice.hint import Facts
from studio.core.fields import Value
from studio.core.frozen import FrozenMap

_SIZE = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgtp]?i?b|bytes?)?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_LONGEST_TEXT = 200


def parse_bytes(text: str) -> int | None:
    """The number of bytes that "170.00 MiB", "2 GB" or "4096" stands for; None for anything else."""
    found = _SIZE.match(text)
    if found is None:
        return None
    unit = (found["unit"] or "b").lower()
    if unit.startswith("byte"):
        unit = "b"
    base = 1024 if "i" in unit else 1000
    return round(float(found["number"]) * float(base) ** _POWERS[unit.rstrip("b").rstrip("i")])


def bytes_in_words(count: float) -> str:
    """A byte count with a binary unit: 512 MiB, 1.5 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(count) < 1024 or unit == "TiB":
            break
        count /= 1024
    digits = 0 if unit == "B" or abs(count) >= 100 else 1
    return f"{count:.{digits}f}".removesuffix(".0") + f" {unit}"


def cuda_in_words(number: int) -> str:
    """The CUDA version in the driver's numbering: 11040 is 11.4."""
    return f"{number // 1000}.{number % 1000 // 10}"


def read_groups(found: re.Match[str]) -> Facts:
    """The named groups of a match as typed facts, by the ending of their names.

    `_bytes` is a size, `_cuda` a version in the driver's numbering, everything else a whole number, a number or text.
    """
    values: dict[str, Value] = {}
    for name, text in found.groupdict().items():
        if text is not None and (value := _read(name, text.strip())) is not None:
            values[name] = value
    return FrozenMap(values)


def _read(name: str, text: str) -> Value:
    if name.endswith("_bytes"):
        return parse_bytes(text)
    if name.endswith("_cuda") and text.isascii() and text.isdigit():
        return cuda_in_words(int(text))
    if re.fullmatch(r"-?\d{1,18}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"-?\d{1,18}\.\d+", text, re.ASCII):
        return float(text)
    return text[:_LONGEST_TEXT]


def placeholders(template: str) -> frozenset[str]:
    """The names in braces."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


def fill(template: str, facts: Mapping[str, Value]) -> str | None:
    """`template` with its numbers; None where one is not known, since a sentence with a hole helps nobody.

    `{asked}` shows the fact `asked_bytes` with a unit.
    """
    shown: dict[str, str] = {}
    for name in placeholders(template):
        size, value = facts.get(f"{name}_bytes"), facts.get(name)
        if value is not None:
            shown[name] = f"{value:g}" if isinstance(value, float) else str(value)
        elif isinstance(size, (int, float)):
            shown[name] = bytes_in_words(size)
        else:
            return None
    return template.format_map(shown)


def number(facts: Mapping[str, Value], name: str) -> float | None:
    """The fact `name` where it is a number."""
    value = facts.get(name)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def text(facts: Mapping[str, Value], name: str) -> str:
    """The fact `name` where it is text, else ""."""
    value = facts.get(name)
    return value if isinstance(value, str) else ""
