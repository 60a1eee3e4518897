"""Names of classes and files: the order people expect, and a form that can be shown whatever the disk holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

_DIGITS = re.compile(r"([0-9]+)")
_NEGATIVE = re.compile(r"-[0-9]{1,30}(\.[0-9]{1,30})?")


def natural_key(name: str) -> tuple[object, ...]:
    """A sort key by which "2" comes before "10", "-2" before "-1", and capitals, full-width digits and the way an
    accent is stored do not matter; a total order over all strings.
    """
    plain = unicodedata.normalize("NFKC", shown(name)).casefold()
    if _NEGATIVE.fullmatch(plain):
        return (0, Decimal(plain), name)
    parts: list[object] = []
    for place, part in enumerate(_DIGITS.split(plain)):
        if place % 2:
            digits = part.lstrip("0")
            # Compared by length first, digits order like the number they stand for, however long they are.
            parts.append((len(digits), digits))
        else:
            parts.append(part)
    return (1, tuple(parts), name)


def natural_order(names: Iterable[str]) -> tuple[str, ...]:
    """`names` without repetition in natural order.

    >>> natural_order(["10", "2", "1"])
    ('1', '2', '10')
    """
    return tuple(sorted(set(names), key=natural_key))


def shown(name: str) -> str:
    """`name` with bytes that are no text written as `\\xff`, so that it can be printed, stored and put on a screen."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return name


def same_name_key(name: str) -> str:
    """Equal for names that look the same: composed and decomposed accents are one class, not two."""
    return unicodedata.normalize("NFC", shown(name))
