"""What the terminal prints: documents on standard output, sentences and progress beside them, and the exit codes."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from studio.core.codec import to_plain
from studio.core.problem import Problem, Severity
from studio.core.quantities import share_text
from studio.core.text import fix_label, problem_message, problem_repair, problem_why, tr
from studio.runs.commandline import command_name as command_name
from studio.runs.commandline import quoted as quoted
from studio.runs.commandline import short_path as short_path

GOOD, TROUBLE, WRONG_USE = 0, 1, 2

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


class Trouble(Exception):
    """A command cannot go on; its sentence goes to standard error and the command ends with `code`."""

    def __init__(self, sentence: str, code: int = TROUBLE) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code


def wrong_use(sentence: str) -> Trouble:
    return Trouble(sentence, WRONG_USE)


def trouble(problem: Problem, code: int = TROUBLE) -> Trouble:
    return Trouble(problem_text(problem), code)


def out() -> Console:
    """For people, on standard output. Long lines are left to the terminal, so that commands can be copied whole."""
    return Console(highlight=False, soft_wrap=True)


def err() -> Console:
    """For people, on standard error: everything that is not the result."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def say_trouble(sentence: str) -> None:
    """One sentence, or a few lines, on standard error."""
    err().print(Text(printable(sentence)))


def print_json(document: object, *, is_line: bool = False) -> None:
    """`document` on standard output, complete and flushed; on one line in a stream."""
    print_text(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=None if is_line else 2))


def print_text(text: str) -> None:
    """A line exactly as it is, in UTF-8 whatever the terminal says; what is no text keeps its JSON escape."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text + "\n")
    else:
        sys.stdout.flush()
        stream.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.flush()


def printable(text: str) -> str:
    """`text` with what is no text (bytes of odd file names) shown as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def problem_text(problem: Problem) -> str:
    """What happened, why it matters and what can be done, in sentences."""
    parts = (problem_message(problem), problem_why(problem), problem_repair(problem))
    # A fact that is empty leaves two spaces behind.
    return " ".join(" ".join(parts).split())


def problem_document(problem: Problem) -> dict[str, object]:
    """A problem as `--json` prints it."""
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "place": problem.place,
        "message": problem_message(problem),
        "why": problem_why(problem),
        "repair": problem_repair(problem),
        "fixes": [fix_label(fix) for fix in problem.fixes],
        "files": list(problem.files),
        "facts": to_plain(problem.facts),
    }


def print_problems(console: Console, problems: Sequence[Problem]) -> None:
    """Each problem on its own lines, coloured by how much it matters."""
    for problem in problems:
        where = f"{problem.place}: " if problem.place else ""
        colour = _COLOURS[problem.severity]
        word = {
            Severity.ERROR: tr("error"),
            Severity.WARNING: tr("warning"),
            Severity.INFO: tr("note"),
        }[problem.severity]
        console.print(f"[{colour}]{word}[/] {safe(where + problem_message(problem))}")
        for more in (problem_why(problem), problem_repair(problem)):
            if more:
                console.print(f"    {safe(more)}")
        for fix in problem.fixes:
            console.print(f"    [green]→[/] {safe(fix_label(fix))}")


def safe(text: str) -> str:
    """`text` for rich: printable and without markup."""
    return escape(printable(text))


def percent(share: float | None) -> str:
    return "-" if share is None else share_text(share)


def seconds_text(seconds: float) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = max(0, round(seconds)) if math.isfinite(seconds) else 0
    if whole < 60:
        return tr("{s} s", s=whole)
    if whole < 3600:
        return tr("{m} min {s} s", m=whole // 60, s=f"{whole % 60:02}")
    return tr("{h} h {m} min", h=whole // 3600, m=f"{whole % 3600 // 60:02}")


def rounded(value: float, digits: int) -> float:
    """`value` for a document; what is not a number is 0."""
    return round(value, digits) if math.isfinite(value) else 0.0


def finite(value: float | None) -> float | None:
    """JSON has no NaN; what is not a number is null."""
    return value if value is not None and math.isfinite(value) else None
