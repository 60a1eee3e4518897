"""What the parts of a project share: fields declared once with their limits, and the refusal of values beyond them."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any, cast

from studio.core.codec import MalformedValue
from studio.core.fields import Field


def declared(spec: Field) -> Any:
    """A dataclass field whose default and form metadata come from one declaration."""
    return field(default=spec.default, metadata={"field": spec})


def fields_of(owner: object) -> tuple[Field, ...]:
    """The declared fields of a project part (class or value), in the order a form shows them."""
    declared = (f.metadata.get("field") for f in dataclasses.fields(cast(Any, owner)))
    return tuple(spec for spec in declared if spec is not None)


def check_limits(owner: Any) -> None:
    """Refuse values outside their declared limits, naming the field, so that no later code meets them."""
    for spec in fields_of(owner):
        value = getattr(owner, spec.name)
        if not spec.accepts(value):
            raise MalformedValue(spec.name, limits_in_words(spec), value)


def limits_in_words(spec: Field) -> str:
    """The values that `spec` accepts, as a phrase for error texts."""
    from studio.core.text import tr  # which knows problems, whose fixes are edits of a project

    if spec.kind == "choice":
        return tr("one of {choices}", choices=", ".join(choice.value for choice in spec.choices))
    kinds = {"int": tr("a whole number"), "float": tr("a number"), "bool": tr("true or false"), "text": tr("text")}
    kind = kinds[spec.kind]
    low, high = spec.minimum, spec.maximum
    if low is not None and high is not None:
        return tr("{kind} from {low} to {high}", kind=kind, low=_limit_text(spec, low), high=_limit_text(spec, high))
    if low is not None:
        return tr("{kind} of at least {low}", kind=kind, low=_limit_text(spec, low))
    return kind if high is None else tr("{kind} of at most {high}", kind=kind, high=_limit_text(spec, high))


def _limit_text(spec: Field, limit: float) -> str:
    # `g` would round 2,147,483,647 up to a number that is refused.
    return str(int(limit)) if spec.kind == "int" else f"{limit:g}"
