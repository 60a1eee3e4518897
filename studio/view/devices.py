"""The devices that can train, as the engine names them, and which of them a recipe means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Device:
    """One device: its id ("cpu", "cuda:0", "mps"), its name, and its memory where that is known."""

    id: str
    name: str
    memory_bytes: int | None = None


def devices_of(answer: Mapping[str, Any]) -> tuple[Device, ...]:
    """The devices in the engine's answer; entries that lack its id are passed over."""
    found = []
    for entry in answer.get("items", ()):
        if isinstance(entry, Mapping) and isinstance(entry.get("device"), str):
            total = entry.get("total_bytes")
            memory = total if isinstance(total, int) and total > 0 else None
            found.append(Device(entry["device"], str(entry.get("name") or entry["device"]), memory))
    return tuple(found)


def chosen_device(wanted: str, devices: tuple[Device, ...]) -> Device | None:
    """What training on `wanted` will use; "auto" takes the best: CUDA before MPS before the CPU."""
    if wanted == "auto":
        order = ("cuda", "mps", "cpu")
        ranked = [d for kind in order for d in devices if d.id.partition(":")[0] == kind]
        return ranked[0] if ranked else None
    same = {wanted, f"{wanted}:0"} if ":" not in wanted else {wanted}
    return next((d for d in devices if d.id in same), None)
