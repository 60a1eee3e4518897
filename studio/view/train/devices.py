"""The devices that can train, as the engine names them, and the form's choice made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from studio.core.fields import Choice, Field
from studio.core.project import Recipe, fields_of
from studio.core.quantities import size_text
from studio.core.text import tr


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


def device_field(devices: tuple[Device, ...], present: str) -> Field:
    """The recipe's device as a choice of what this machine has; `present` is kept even where it is not here."""
    declared = next(field for field in fields_of(Recipe) if field.name == "device")
    best = chosen_device("auto", devices)
    short = "CPU" if best is not None and best.id == "cpu" else best.name if best is not None else ""
    automatic = tr("Automatic ({name})", name=short) if short else tr("Automatic")
    choices = [Choice("auto", automatic, tr("The best device of this machine."))]
    choices += [Choice(d.id, d.name, _about(d)) for d in devices]
    if present not in {choice.value for choice in choices}:
        is_known = chosen_device(present, devices) is not None or not devices
        name = present if is_known else tr("{device} (not on this machine)", device=present)
        choices.append(Choice(present, name))
    return replace(declared, kind="choice", choices=tuple(choices))


def _about(device: Device) -> str:
    if device.memory_bytes is None:
        return device.id
    return tr("{device}, {size} of memory", device=device.id, size=size_text(device.memory_bytes))
