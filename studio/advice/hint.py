"""A hint as a value: what happened, why, what was measured, and what mends it."""

from __future__ import annotations

from dataclasses import dataclass

from studio.core.edits import Edit
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Severity

Facts = FrozenMap[Value]


@dataclass(frozen=True, slots=True)
class EditRemedy:
    """A change of the project that one click applies, as an ordinary undoable edit."""

    label: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class CommandRemedy:
    """Text to copy into a terminal or a script."""

    label: str
    command: str


@dataclass(frozen=True, slots=True)
class StepRemedy:
    """Something only a person can do, as a sentence."""

    text: str


Remedy = EditRemedy | CommandRemedy | StepRemedy


@dataclass(frozen=True, slots=True)
class Hint:
    """Advice on one trouble, in the language that was set when it was made.

    Attributes:
        id: of the knowledge base's entry, or the code of a problem that explains itself.
        evidence: measured sentences ("Asked for 512 MiB; 120 MiB were free"), best first.
        matched_line: the line of the text that was recognised; "" where the hint comes from a problem or from numbers.
        matched_line_number: counted from 1; 0 without a line.
        values: what was read from the line or the run (`asked_bytes`, shapes, versions).
        causes: likely causes, likeliest first.
        remedies: best first.
        score: higher is likelier; only its order has a meaning.
    """

    id: str
    severity: Severity
    title: str
    why: str
    evidence: tuple[str, ...] = ()
    matched_line: str = ""
    matched_line_number: int = 0
    values: Facts = FrozenMap()
    causes: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    sources: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    score: float = 0.0
