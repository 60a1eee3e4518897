"""The recipe's device as a choice of what this machine has."""

from __future__ import annotations

from dataclasses import replace

from studio.core.fields import Choice, Field
from studio.core.project import Recipe, fields_of
from studio.core.quantities import size_text
from studio.core.text import tr
from studio.view.devices import Device, chosen_device


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
