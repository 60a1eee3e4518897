"""Expected trouble as a value: a code, a place, facts, and edits that mend it. The sentence is made at the edge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from studio.core.edits import Edit
from studio.core.fields import Value
from studio.core.frozen import FrozenMap


class Severity(StrEnum):
    """How much it matters: an error prevents a run, a warning harms the result, information is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Fix:
    """A way to mend it that one click applies. `code` names its label in `resources/text/problems`."""

    code: str
    edit: Edit
    facts: FrozenMap[Value] = FrozenMap()


@dataclass(frozen=True, slots=True)
class Problem:
    """Expected trouble.

    Attributes:
        code: names the sentence in `resources/text/problems` and the knowledge base's signal.
        place: the block id, file or setting concerned; "" for the whole.
        facts: the numbers and names that the sentence shows.
        fixes: best first.
        files: paths concerned, relative to the data folder.
    """

    code: str
    severity: Severity = Severity.ERROR
    place: str = ""
    facts: FrozenMap[Value] = FrozenMap()
    fixes: tuple[Fix, ...] = ()
    files: tuple[str, ...] = ()
