"""What a person tells a run, one JSON object a line in `commands.jsonl`; the run reads them between steps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast, get_args

from studio.core.codec import MalformedValue, dumps, from_plain


@dataclass(frozen=True, slots=True)
class Stop:
    """End the run soon: the step in hand is finished, a checkpoint and the model are kept."""

    time: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait between two steps."""

    time: float


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on after a pause."""

    time: float


@dataclass(frozen=True, slots=True)
class SaveCheckpoint:
    """Write a checkpoint at the next step border."""

    time: float


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """Record memory in detail at the next step border."""

    time: float


Command = Stop | Pause | Resume | SaveCheckpoint | TakeSnapshot

_CLASSES: dict[str, type] = {cls.__name__: cls for cls in get_args(Command)}


def command_to_line(command: Command) -> str:
    """One line of JSON without the line break."""
    return dumps(command, tagged=True)


def command_from_line(line: str) -> Command | None:
    """The command of one line; None for one that this version does not know."""
    try:
        plain = json.loads(line)
        return cast(Command, from_plain(_CLASSES[plain["type"]], plain, ignore_unknown=True))
    except (ValueError, KeyError, TypeError, RecursionError, MalformedValue):
        return None
