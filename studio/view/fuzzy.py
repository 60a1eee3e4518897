"""How well a few typed letters fit a title: the beginnings of its words, in order, or any part of it in a row."""

from __future__ import annotations

from functools import cache

_PIECE = 1.0
_LENGTH = 0.01
_INSIDE = -3.0
_FIRST_IDEOGRAPH = "\u2e80"


def fit(query: str, title: str) -> float | None:
    """Higher is better, fewer pieces are better; None where it does not fit. Case and spaces do not matter.

    >>> fit("opsa", "Open the sample") is not None, fit("opsa", "Stop a pass") is not None
    (True, False)
    """
    letters = "".join(query.casefold().split())
    text = title.casefold()
    if not letters:
        return 0.0
    starts = frozenset(place for place in range(len(text)) if _starts_word(text, place))
    pieces = _fewest_pieces(letters, text, starts)
    if pieces is not None:
        bonus = 0.5 if text.startswith(letters[0]) else 0.0
        return bonus - _PIECE * pieces - _LENGTH * len(text)
    if letters in text.replace(" ", ""):
        return _INSIDE - _LENGTH * len(text)
    return None


def _starts_word(text: str, place: int) -> bool:
    """Every ideograph is a word of its own."""
    return text[place].isalnum() and (place == 0 or not text[place - 1].isalnum() or text[place] >= _FIRST_IDEOGRAPH)


def _fewest_pieces(letters: str, text: str, starts: frozenset[int]) -> int | None:
    """In how few beginnings of words the letters are found one after the other; None where they are not."""

    @cache
    def rest(done: int, place: int) -> int | None:
        if done == len(letters):
            return 0
        options = []
        for start in (start for start in starts if start >= place):
            length = 0
            while done + length < len(letters) and text[start + length : start + length + 1] == letters[done + length]:
                length += 1
                further = rest(done + length, start + length)
                if further is not None:
                    options.append(1 + further)
        return min(options, default=None)

    return rest(0, 0)
