"""Finds known errors in a text of any length: which entry, in which line, with which numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from studio.advice.hint import Facts
from studio.advice.knowledge import Knowledge, Pattern
from studio.advice.readings import read_groups

# Before the literal: a long line's beginning; after it: the rest of its line and two more, as messages are wrapped.
_BACK, _AHEAD, _LINES = 2_000, 2_000, 3
# A text this short may be typed off a screen or wrapped by a terminal, and is worth a second, more lenient reading.
_SHORT_CHARACTERS = 50_000
_SHOWN_CHARACTERS = 300
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TYPED = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "×": "x"})


@dataclass(frozen=True, slots=True)
class Hit:
    """One recognised error. `share` is how far down the text its line is, 0 to 1."""

    pattern: Pattern
    line: str
    line_number: int
    start: int
    share: float
    values: Facts

    @property
    def entry_id(self) -> str:
        return self.pattern.entry.id


def best_hits(text: str, base: Knowledge) -> tuple[Hit, ...]:
    """For every entry that the text matches, its most telling hit: most numbers, then the latest.

    A short text in which nothing is found is read again with its line breaks, quotes and dashes evened out.
    """
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    hits = _search(text, base)
    if not hits and len(text) <= _SHORT_CHARACTERS:
        hits = _search(_evened(text), base)
    return hits


def _evened(text: str) -> str:
    """One line, with the characters that keyboards, terminals and screenshots change put back."""
    plain = unicodedata.normalize("NFKC", text).translate(_TYPED)
    return " ".join(plain.split())


def _search(text: str, base: Knowledge) -> tuple[Hit, ...]:
    # This one letter gets longer in lower case, which would shift every place after it.
    text = text.replace("\u0130", "I")
    lower = text.lower()
    best: dict[str, Hit] = {}
    for pattern in base.patterns:
        if not all(needle in lower for needle in pattern.needles):
            continue
        for found in _matches(pattern, text, lower):
            hit = _hit(pattern, found[0], found[1], text)
            known = best.get(hit.entry_id)
            if known is None or (len(hit.values), hit.start) >= (len(known.values), known.start):
                best[hit.entry_id] = hit
    return tuple(best.values())


def _matches(pattern: Pattern, text: str, lower: str) -> Iterator[tuple[re.Match[str], int]]:
    """The first and the last match with what the matched window starts at; the middle of a flood says nothing new."""
    forward = next(_forward(pattern, text, lower), None)
    if forward is None:
        return
    yield forward
    backward = next(_backward(pattern, text, lower), None)
    if backward is not None and backward[1] + backward[0].start() > forward[1] + forward[0].start():
        yield backward


def _forward(pattern: Pattern, text: str, lower: str) -> Iterator[tuple[re.Match[str], int]]:
    needle, place = pattern.needles[0], 0
    while (place := lower.find(needle, place)) >= 0:
        yield from _in_window(pattern, text, lower, place)
        place += len(needle)


def _backward(pattern: Pattern, text: str, lower: str) -> Iterator[tuple[re.Match[str], int]]:
    needle, end = pattern.needles[0], len(lower)
    while (place := lower.rfind(needle, 0, end)) >= 0:
        yield from _in_window(pattern, text, lower, place)
        end = place + len(needle) - 1


def _in_window(pattern: Pattern, text: str, lower: str, place: int) -> Iterator[tuple[re.Match[str], int]]:
    start = max(lower.rfind("\n", 0, place) + 1, place - _BACK)
    end = place + len(pattern.needles[0])
    farthest = end + _AHEAD
    for _ in range(_LINES):
        end = lower.find("\n", end + 1, farthest)
        if end < 0:
            end = farthest
            break
    if len(pattern.needles) > 1 and not all(lower.find(needle, start, end) >= 0 for needle in pattern.needles[1:]):
        return
    for found in pattern.regex.finditer(text[start:end]):
        if found.start() <= place - start < found.end():
            yield found, start
            return


def _hit(pattern: Pattern, found: re.Match[str], offset: int, text: str) -> Hit:
    start = offset + found.start()
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    if len(line) > _SHOWN_CHARACTERS:
        from_start = max(0, min(start - line_start - 40, len(line) - _SHOWN_CHARACTERS))
        line = line[from_start : from_start + _SHOWN_CHARACTERS]
    return Hit(
        pattern,
        line.strip(),
        text.count("\n", 0, start) + 1,
        start,
        start / max(1, len(text)),
        read_groups(found),
    )
