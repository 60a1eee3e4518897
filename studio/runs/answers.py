"""What the engine process answers, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Guess:
    """One label with its probability from 0 to 1."""

    label: str
    probability: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says of one picture, likeliest first; `refused` says why a picture could not be read, else None."""

    path: str
    top: tuple[Guess, ...]
    refused: str | None = None


def predictions_of(message: Mapping[str, Any]) -> tuple[Prediction, ...]:
    """The predictions in an engine's answer.

    Raises:
        KeyError, TypeError, ValueError: the answer has another form (an engine of another version).
    """
    return tuple(_prediction(item) for item in message["items"])


def _prediction(item: Mapping[str, Any]) -> Prediction:
    top = tuple(Guess(str(guess["label"]), float(guess["probability"])) for guess in item["top"])
    refused = item.get("refused")
    return Prediction(str(item["path"]), top, None if refused is None else str(refused))
