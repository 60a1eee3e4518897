"""How well a few typed letters fit a title: all of them in order, best at the beginnings of words and in a row."""

from __future__ import annotations

_START_OF_WORD = 3.0
_IN_A_ROW = 2.0
_GAP = 0.02


def fit(query: str, title: str) -> float | None:
    """Higher is better; None where a letter is missing. Upper and lower case and spaces in `query` do not matter.

    >>> fit("op", "Open a project") > fit("op", "Stop training")
    True
    """
    letters = [letter for letter in query.casefold() if not letter.isspace()]
    text = title.casefold()
    if not letters:
        return 0.0
    whole = text.find("".join(query.casefold().split()))
    best: float | None = None
    for start in (place for place, letter in enumerate(text) if letter == letters[0]):
        found = _fit_from(letters, text, start)
        if found is not None and (best is None or found > best):
            best = found
    if best is None:
        return None
    return best + (_IN_A_ROW * len(letters) if whole >= 0 else 0.0) - _GAP * len(text)


def _fit_from(letters: list[str], text: str, start: int) -> float | None:
    score, before = 0.0, start - 1
    for letter in letters:
        place = text.find(letter, before + 1)
        if place < 0:
            return None
        starts_word = place == 0 or not text[place - 1].isalnum()
        score += _START_OF_WORD if starts_word else 1.0
        score += _IN_A_ROW if place == before + 1 and place > start else 0.0
        score -= _GAP * (place - before - 1)
        before = place
    return score
