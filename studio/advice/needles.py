"""Literal texts that a pattern cannot match without, so that a long log is searched at the speed of `str.find`."""

from __future__ import annotations

SHORTEST = 3
_CLASSES = frozenset("dDsSwWbBAZntr")


class NotSearchable(ValueError):
    """A pattern has no literal part that is long enough, or alternatives outside a group."""


def needles_of(pattern: str) -> tuple[str, ...]:
    """The literal runs of `pattern` outside groups and classes, in lower case, longest first.

    >>> needles_of(r"mat1 and mat2 shapes cannot be multiplied \\((?P<a>\\d+)x")[0]
    'mat1 and mat2 shapes cannot be multiplied ('

    Raises:
        NotSearchable: see the class.
    """
    runs: list[str] = [""]
    place = 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "|":
            raise NotSearchable(f"write alternatives as patterns of their own: {pattern}")
        if sign in "([":
            place = _after_group(pattern, place) if sign == "(" else _after_class(pattern, place)
            runs.append("")
        elif sign == "\\":
            escaped = pattern[place + 1]
            runs = [*runs, ""] if escaped in _CLASSES else [*runs[:-1], runs[-1] + escaped]
            place += 2
        elif sign in "?*{":
            # The character before is optional (or counted), so it belongs to no run.
            runs = [*runs[:-1], runs[-1][:-1], ""]
            place = pattern.index("}", place) + 1 if sign == "{" else place + 1
        elif sign in "+.^$":
            runs.append("")
            place += 1
        else:
            runs[-1] += sign
            place += 1
    found = sorted({run.lower() for run in runs if len(run.strip()) >= SHORTEST}, key=lambda run: (-len(run), run))
    if not found:
        raise NotSearchable(f"no literal part of {SHORTEST} characters: {pattern}")
    return tuple(found)


def _after_group(pattern: str, place: int) -> int:
    depth = 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "\\":
            place += 2
            continue
        if sign == "[":
            place = _after_class(pattern, place)
            continue
        depth += (sign == "(") - (sign == ")")
        place += 1
        if depth == 0:
            return place
    raise NotSearchable(f"a group is not closed: {pattern}")


def _after_class(pattern: str, place: int) -> int:
    place += 1
    if pattern[place] == "^":
        place += 1
    first = place
    while pattern[place] != "]" or place == first:
        place += 2 if pattern[place] == "\\" else 1
    return place + 1
