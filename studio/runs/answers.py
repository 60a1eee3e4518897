"""What the engine process answers, as values."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem


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


def previews_of(message: Mapping[str, Any]) -> tuple[bytes, ...] | Problem:
    """The PNGs of the one picture that was asked about, or why it could not be read.

    Raises:
        KeyError, TypeError, ValueError: the answer has another form (an engine of another version).
    """
    (item,) = message["items"]
    if item.get("refused") is not None:
        return Problem("request_refused", place=str(item["path"]), facts=FrozenMap({"detail": str(item["refused"])}))
    return tuple(b64decode(picture, validate=True) for picture in item["pictures"])


def torch_facts(answer: Mapping[str, Any] | Problem) -> FrozenMap[Value]:
    """The engine's proof in the names that the doctor knows; an engine that does not start is a fact too."""
    if isinstance(answer, Problem):
        detail = str(answer.facts.get("trace") or answer.facts.get("detail") or "")
        return FrozenMap({"torch_imports": False, "torch_import_error": detail.strip()[-500:]})
    facts: dict[str, Value] = {
        "torch_imports": True,
        "cuda_available": bool(answer.get("cuda_available")),
        "arch_list": " ".join(str(name) for name in answer.get("cuda_architectures") or []),
        "cudnn_version": answer.get("cudnn"),
        "torch_threads": answer.get("threads"),
    }
    for device in answer.get("devices", []):
        verdict = "ok" if device.get("ok") else f"{device.get('stopped_at')}: {device.get('message')}"
        name = f"proof_{device.get('kind')}"
        # Of several cards the first that fails is told.
        if facts.get(name) in {None, "ok"}:
            facts[name] = verdict
    return FrozenMap({name: value for name, value in facts.items() if value is not None})
