"""How one setting is declared once: its label, help, limits and default, from which forms, checks and docs are made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Value = int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One allowed value of a choice field; `label` and `help` are English source texts for the translation layer."""

    value: str
    label: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A setting. `label`, `help`, `unit` and `none_label` are English source texts for the translation layer.

    `minimum` and `maximum` are inclusive. `optional` allows `None`, which the form shows as `none_label`.
    `logarithmic` asks the form for a control that moves by factors (learning rates).
    """

    name: str
    label: str
    help: str
    kind: Literal["int", "float", "bool", "choice", "text"]
    default: Value
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Choice, ...] = ()
    unit: str = ""
    optional: bool = False
    none_label: str = ""
    advanced: bool = False
    logarithmic: bool = False

    def accepts(self, value: Value) -> bool:
        """Whether `value` has this field's type and lies within its limits."""
        if value is None:
            return self.optional
        match self.kind:
            case "bool":
                return isinstance(value, bool)
            case "text":
                return isinstance(value, str)
            case "choice":
                return value in {choice.value for choice in self.choices}
            case "int":
                return isinstance(value, int) and not isinstance(value, bool) and self._within(value)
            case "float":
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    return False
                return _is_finite(value) and self._within(value)

    def _within(self, value: float) -> bool:
        return (self.minimum is None or value >= self.minimum) and (self.maximum is None or value <= self.maximum)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False
