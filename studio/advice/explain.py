"""From a pasted traceback or a log of any length to ranked hints; pure, no machine is measured here."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from studio.advice.hint import Facts, Hint
from studio.advice.hints import make_hint
from studio.advice.knowledge import Entry, knowledge
from studio.advice.matching import Hit, best_hits
from studio.advice.runfacts import RunFacts
from studio.advice.signals import STUCK_STEPS, loss_stuck_at_chance
from studio.core import text as texts
from studio.core.frozen import FrozenMap
from studio.core.project import Project

# What the place of a hit adds to its score: the last error of a trace is the one that ended the program, but a log's
# first error may have caused the rest, so it stays small beside the rest of the score.
_LATER = 0.15
_EXCEPTION_LINE = 0.2
_NUMBERS = 0.05
# An entry that admits to match another entry's text is the vaguer of the two where both match.
_VAGUER = -0.5
_EXCEPTION = re.compile(
    r"^\s*(?:[\w.]*(?:Error|Exception|Interrupt)|AssertionError|Caused by: .+)\b.*:|\bFATAL\b|\bERROR\b"
)

# For lower-case text: a pattern that starts with a plain literal is searched many times faster.
_LOSS_LINE = re.compile(r"loss\W{1,4}(?P<loss>\d{1,3}\.\d{2,})")
_CLASSES = re.compile(r"\b(?P<count>\d{1,5}) classes\b", re.IGNORECASE)
# Few printed lines stand for many steps, so a log needs fewer losses than a run has steps.
_LOSS_LINES = 20


@dataclass(frozen=True, slots=True)
class Topic:
    """An entry that a text that nobody knows may be near to."""

    id: str
    title: str
    score: float


def explain(text: str, *, project: Project | None = None, facts: Facts | None = None) -> tuple[Hint, ...]:
    """The hints for `text`, likeliest first; empty where nothing in it is known.

    Args:
        text: a traceback or a log; 100,000 lines take about a second.
        project: where given, its numbers are evidence and fixes become edits of it.
        facts: of the machine (`studio.advice.machine.measure`) or of the run, for the checks.
    """
    base, known = knowledge(), facts or FrozenMap()
    hits = best_hits(text, base)
    by_id = {hit.entry_id: hit for hit in hits}
    hints = [
        make_hint(
            hit.pattern.entry,
            hit.values,
            known,
            project,
            line=hit.line,
            line_number=hit.line_number,
            bonus=_bonus(hit, by_id),
        )
        for hit in hits
    ]
    hints.extend(_from_numbers(text, known, project, base.by_rule))
    return tuple(sorted(hints, key=lambda hint: (-hint.score, hint.id)))


def _bonus(hit: Hit, by_id: dict[str, Hit]) -> float:
    bonus = _LATER * hit.share + _NUMBERS * min(4, len(hit.values))
    bonus += _EXCEPTION_LINE if _EXCEPTION.search(hit.line) else 0.0
    return bonus + (_VAGUER if any(other in by_id for other in hit.pattern.entry.also_matches) else 0.0)


def _from_numbers(text: str, known: Facts, project: Project | None, by_rule: FrozenMap[Entry]) -> tuple[Hint, ...]:
    """The loss that stays at ln C, read from a log's printed losses; needs to know how many classes there are."""
    count = project.class_count if project is not None else 0
    if not count and " classes" in text and (stated := _CLASSES.search(text)):
        count = int(stated["count"])
    if count < 2:
        return ()
    losses = [float(found["loss"]) for found in _LOSS_LINE.finditer(text.lower())]
    if len(losses) < _LOSS_LINES:
        return ()
    late = losses[len(losses) // 2 :]
    mean = sum(late) / len(late)
    run = RunFacts(steps=STUCK_STEPS, losses=(mean,) * STUCK_STEPS, class_count=count)
    seen = loss_stuck_at_chance(run)
    entry = by_rule.get("loss_stuck_at_chance")
    if seen is None or entry is None:
        return ()
    values = FrozenMap({name: seen[name] for name in ("loss", "chance_loss", "class_count")})
    return (make_hint(entry, values, known, project),)


_WORD = re.compile(r"[a-z][a-z0-9_]{2,}|[\u4e00-\u9fff]{2}")
_COMMON = frozenset({"the", "and", "for", "with", "not", "that", "this", "from", "was", "are", "file", "line", "error"})
_TOPIC_CHARACTERS = 20_000


def nearest_topics(text: str, most: int = 3) -> tuple[Topic, ...]:
    """The entries whose words are most like those of `text`, for a text in which `explain` knows nothing.

    Weighted by how rare a word is in the knowledge base (inverse document frequency); the end of a long text counts,
    since that is where a trace says what happened.
    """
    words = _words(text[-_TOPIC_CHARACTERS:])
    documents, rarity = _topic_words()
    scored = []
    for entry, own in documents:
        shared = words & own
        if len(shared) < 2:
            continue
        score = sum(rarity[word] for word in shared) / math.sqrt(sum(rarity[word] for word in own))
        scored.append(Topic(entry.id, entry.wording(texts.language()).title, round(score, 3)))
    return tuple(sorted(scored, key=lambda topic: (-topic.score, topic.id))[:most])


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _COMMON


@cache
def _topic_words() -> tuple[tuple[tuple[Entry, frozenset[str]], ...], dict[str, float]]:
    documents = tuple(
        (entry, _words(" ".join((entry.en.title, entry.en.why, *entry.en.causes, *entry.examples, entry.zh_CN.title))))
        for _, entry in knowledge().entries.items()
    )
    counts = Counter(word for _, own in documents for word in own)
    return documents, {word: math.log(1 + len(documents) / n) for word, n in counts.items()}
