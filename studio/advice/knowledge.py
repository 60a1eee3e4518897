"""The knowledge base: one entry for each known trouble, read and validated once from `resources/hints/*.json`.

A file is an object of entries by id. Lists of sentences stand beside each other in English and Simplified Chinese, both
our own words. A sentence may show what was read from the text (`{asked}` for the group `asked_bytes`); one whose
numbers are not known is left out, so titles and reasons hold none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, cast

from studio.advice.needles import needles_of
from studio.core.codec import MalformedValue, from_plain
from studio.core.files import resources_folder
from studio.core.frozen import FrozenMap
from studio.core.problem import Severity

Language = Literal["en", "zh_CN"]
Ecosystem = Literal["pytorch", "torchvision", "pillow", "app", "both", "djl", "djl-serving", "jvm"]


@dataclass(frozen=True, slots=True)
class Wording:
    """What an entry says in one language."""

    title: str
    why: str
    causes: tuple[str, ...]
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixSpec:
    """One fix of an entry, not yet fitted to a project.

    Attributes:
        kind: an `edit` names a function of `studio.advice.repairs`; a `command` is text to copy; a `step` a sentence.
        name: of the edit.
        command: the text to copy.
        en, zh_CN: the sentence of a step, what the command does, or what an edit means where there is no project.
        script: only of use to somebody who writes the training script, so not shown beside a project.
    """

    kind: Literal["edit", "command", "step"]
    name: str = ""
    command: str = ""
    en: str = ""
    zh_CN: str = ""  # noqa: N815 - the language's own code, as in the file
    script: bool = False

    def wording(self, language: str) -> str:
        return self.zh_CN if language == "zh_CN" else self.en


@dataclass(frozen=True, slots=True)
class Entry:
    """One known trouble.

    Attributes:
        patterns: regular expressions with named groups (see `readings.read_groups`); alternatives are separate.
        examples: texts that the patterns match, old and new wordings.
        also_matches: ids of more exact entries whose texts these patterns match too; the more exact one ranks first.
        problems: codes of `Problem`s that are this trouble; `code:cuda` where only on that kind of device.
        rules: names in `studio.advice.signals`: the same trouble seen in a run's numbers.
        checks: names in `studio.advice.checks`: what can be measured to confirm it or rule it out.
        weight: below 1 for wrappers and consequences of another error.
    """

    id: str
    ecosystem: Ecosystem
    en: Wording
    zh_CN: Wording  # noqa: N815 - as above
    fixes: tuple[FixSpec, ...]
    sources: tuple[str, ...]
    severity: Severity = Severity.ERROR
    patterns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    also_matches: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    weight: float = 1.0

    def wording(self, language: str) -> Wording:
        return self.zh_CN if language == "zh_CN" else self.en


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern with the literals that a text must hold for it to match."""

    regex: re.Pattern[str]
    needles: tuple[str, ...]
    entry: Entry


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All entries, with the indexes by which they are found."""

    entries: FrozenMap[Entry]
    patterns: tuple[Pattern, ...]
    by_problem: FrozenMap[Entry] = field(default_factory=FrozenMap)
    by_rule: FrozenMap[Entry] = field(default_factory=FrozenMap)


class KnowledgeUnusable(Exception):
    """A hint file is malformed; the message names the file, the entry and the reason."""


def entries_in(plain: Mapping[str, Any], name: str) -> tuple[Entry, ...]:
    """The entries of one parsed hint file; `name` is used in error messages.

    Raises:
        KnowledgeUnusable: an entry lacks a part or has an unknown one.
    """
    entries = []
    for entry_id, entry in plain.items():
        try:
            entries.append(cast(Entry, from_plain(Entry, {"id": entry_id, **entry}, entry_id)))
        except (MalformedValue, TypeError) as error:
            raise KnowledgeUnusable(f"{name}: {error}") from None
    return tuple(entries)


def index(entries: tuple[Entry, ...]) -> Knowledge:
    """The entries with their patterns compiled.

    Raises:
        KnowledgeUnusable: two entries share an id, or a pattern cannot be searched for.
    """
    by_id: dict[str, Entry] = {}
    patterns: list[Pattern] = []
    for entry in entries:
        if entry.id in by_id:
            raise KnowledgeUnusable(f"two entries are called {entry.id}")
        by_id[entry.id] = entry
        for source in entry.patterns:
            try:
                patterns.append(Pattern(re.compile(source, re.IGNORECASE), needles_of(source), entry))
            except (re.error, ValueError) as error:
                raise KnowledgeUnusable(f"{entry.id}: {error}") from None
    by_problem = {code: entry for entry in entries for code in entry.problems}
    by_rule = {rule: entry for entry in entries for rule in entry.rules}
    return Knowledge(FrozenMap(by_id), tuple(patterns), FrozenMap(by_problem), FrozenMap(by_rule))


@cache
def knowledge() -> Knowledge:
    """The shipped knowledge base.

    Raises:
        KnowledgeUnusable: a hint file of this installation is damaged.
    """
    entries: list[Entry] = []
    for path in sorted((resources_folder() / "hints").glob("*.json")):
        try:
            plain = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise KnowledgeUnusable(f"{path} cannot be read: {error}") from None
        entries.extend(entries_in(plain, path.name))
    return index(tuple(entries))
