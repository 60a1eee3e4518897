"""From an exception to what explains it: the class, the sentence, the trace, and the facts that a hint needs."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass

import torch

from studio.core.events import Phase
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.quantities import size_text
from studio.engine.device import free_bytes, total_bytes

_UNITS = {"bytes": 1, "kib": 1024, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4}
# torch on CUDA: "Tried to allocate 20.00 MiB"; torch on the CPU: "you tried to allocate 4000 bytes"; numpy: "Unable to
# allocate 1.2 GiB for an array".
_ASKED = re.compile(r"(?:tried to|unable to) allocate ([\d.]+) ?(bytes|kib|mib|gib|tib)", re.IGNORECASE)
_CPU_ALLOCATOR = "defaultcpuallocator"


@dataclass(slots=True)
class Place:
    """Where the run is, for the facts of a failure. `step` is the last good one, `part` the part of the next."""

    phase: Phase = "prepare"
    step: int = 0
    epoch: int = 0
    part: str = ""
    batch_size: int = 0

    def facts(self) -> dict[str, Value]:
        return {
            "phase": self.phase,
            "step": self.step,
            "epoch": self.epoch,
            "part": self.part,
            "batch_size": self.batch_size,
        }


@dataclass(frozen=True, slots=True)
class Explained:
    """An exception in words and numbers; `problem` where it is of a kind that has its own sentence."""

    kind: str
    message: str
    trace: str
    facts: dict[str, Value]
    problem: Problem | None = None


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that memory ran out, on any device."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and (_CPU_ALLOCATOR in text or "out of memory" in text)


def asked_bytes(message: str) -> int | None:
    """How much an out-of-memory message says was asked for."""
    found = _ASKED.search(message)
    return round(float(found[1]) * _UNITS[found[2].lower()]) if found else None


def explain(error: Exception, place: Place, device: torch.device) -> Explained:
    """What is known of `error`. Its frames are let go, so that a failed run keeps no memory through them."""
    message = str(error) or type(error).__name__
    trace = "".join(traceback.format_exception(error))
    facts = {**place.facts(), "device": str(device)}
    problem = None
    if is_out_of_memory(error):
        asked, free, total = asked_bytes(message), free_bytes(device), total_bytes(device)
        facts |= {"asked_bytes": asked, "free_bytes": free, "total_bytes": total, "problem": "out_of_memory"}
        problem = Problem("out_of_memory", Severity.ERROR, facts=FrozenMap({**facts, **_in_words(asked, free)}))
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link.__traceback__, link = None, link.__cause__ or link.__context__
    return Explained(type(error).__name__, message, trace, facts, problem)


def _in_words(asked: int | None, free: int | None) -> dict[str, Value]:
    return {"asked": _size(asked), "free": _size(free)}


def _size(count: int | None) -> str:
    return "?" if count is None else size_text(count)
