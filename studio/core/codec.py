"""Frozen dataclasses to plain JSON values and back, with errors that say where and what was expected.

One codec serves the project file, the events, the commands and the settings. Types it knows: dataclasses, unions of
dataclasses (told apart by a `"type"` key), tuples, `FrozenMap`, string enums, literals, `None` and the JSON scalars.
JSON has no NaN or infinity, so those floats travel as the strings `"nan"`, `"inf"` and `"-inf"`; where a field takes
text as well as numbers, they come back as that text.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import math
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from studio.core.frozen import FrozenMap

T = TypeVar("T")

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]

# Types that JSON gives back as they are.
_SCALARS = frozenset((bool, int, float, str))

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class MalformedValue(ValueError):
    """A stored value does not have the form that is expected; says where, what was expected and what was found."""

    def __init__(self, place: str, expected: str, found: object) -> None:
        shown = repr(found)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        from studio.core.text import tr  # which knows problems, whose fixes are edits of a project

        super().__init__(
            tr(
                "{place}: expected {expected}, found {found}",
                place=place or tr("the file"),
                expected=expected,
                found=shown,
            )
        )
        self.place, self.expected, self.found = place, expected, shown


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


@functools.cache
def _form(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


@functools.cache
def _names(cls: type) -> frozenset[str]:
    return frozenset(f.name for f in dataclasses.fields(cls))


@functools.cache
def _required(cls: type) -> frozenset[str]:
    missing = dataclasses.MISSING
    return frozenset(
        f.name for f in dataclasses.fields(cls) if f.init and f.default is missing and f.default_factory is missing
    )


def to_plain(value: object, *, tagged: bool = False) -> Plain:
    """`value` as JSON values. With `tagged`, a dataclass also carries its class name under `"type"`."""
    match value:
        case enum.Enum():
            return cast(Plain, value.value)
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case tuple() | list():
            return [to_plain(item, tagged=tagged) for item in value]
        case FrozenMap() | dict():
            return {str(key): to_plain(item, tagged=tagged) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain_dataclass(value, tagged)
    raise TypeError(f"no plain form for {type(value).__name__}")


def _plain_dataclass(value: Any, tagged: bool) -> dict[str, Plain]:
    hints = _hints(cast(Any, type(value)))
    plain: dict[str, Plain] = {"type": type(value).__name__} if tagged else {}
    for f in dataclasses.fields(value):
        plain[f.name] = to_plain(getattr(value, f.name), tagged=_holds_union(hints[f.name]))
    return plain


@functools.cache
def _holds_union(hint: Any) -> bool:
    """Whether dataclasses below this hint need their class name to be told apart."""
    if get_origin(hint) in (Union, types.UnionType):
        return sum(dataclasses.is_dataclass(arm) for arm in get_args(hint)) > 1
    return any(_holds_union(arm) for arm in get_args(hint) if arm is not ...)


def from_plain(hint: Any, plain: object, place: str = "", *, ignore_unknown: bool = False) -> Any:
    """The value of type `hint` that `plain` stands for.

    With `ignore_unknown`, keys that this version does not know are passed over (events of a later version); otherwise
    they are an error, since in a hand-written project they are a misspelling.

    Raises:
        MalformedValue: the form is not the expected one.
    """
    if type(plain) is hint and hint in _SCALARS:
        return plain
    origin, arms = _form(hint)
    if hint is Any:
        return plain
    if origin in (Union, types.UnionType):
        return _from_union(arms, plain, place, ignore_unknown)
    if origin is Literal:
        if plain in arms and any(type(arm) is type(plain) for arm in arms if arm == plain):
            return plain
        raise MalformedValue(place, "one of " + ", ".join(map(str, arms)), plain)
    if origin is tuple:
        return _from_list(arms, plain, place, ignore_unknown)
    if origin in (FrozenMap, dict, Mapping):
        if not isinstance(plain, dict):
            raise MalformedValue(place, "an object", plain)
        arm = arms[-1]
        return FrozenMap(
            {k: from_plain(arm, v, f"{place}.{k}", ignore_unknown=ignore_unknown) for k, v in plain.items()}
        )
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        try:
            return hint(plain)
        except ValueError:
            raise MalformedValue(place, "one of " + ", ".join(str(m.value) for m in hint), plain) from None
    if dataclasses.is_dataclass(hint):
        return _from_object(cast(type, hint), plain, place, ignore_unknown)
    return _from_scalar(hint, plain, place)


def _from_scalar(hint: Any, plain: object, place: str) -> object:
    if hint is type(None) and plain is None:
        return None
    if hint is bool and isinstance(plain, bool):
        return plain
    if hint is int and isinstance(plain, int) and not isinstance(plain, bool):
        return plain
    if hint is float:
        if isinstance(plain, (int, float)) and not isinstance(plain, bool):
            try:
                return float(plain)
            except OverflowError:
                raise MalformedValue(place, "a number", plain) from None
        if isinstance(plain, str) and plain in _NON_FINITE:
            return _NON_FINITE[plain]
    if hint is str and isinstance(plain, str):
        return plain
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "null"}
    raise MalformedValue(place, names.get(hint, str(hint)), plain)


def _from_list(arms: tuple[Any, ...], plain: object, place: str, ignore_unknown: bool) -> tuple[Any, ...]:
    if not isinstance(plain, list):
        raise MalformedValue(place, "a list", plain)
    if len(arms) == 2 and arms[1] is ...:
        if arms[0] is float and all(type(item) is float for item in plain):
            return tuple(plain)
        hints: list[Any] = [arms[0]] * len(plain)
    else:
        hints = list(arms)
        if len(plain) != len(hints):
            raise MalformedValue(place, f"a list of {len(hints)}", plain)
    return tuple(
        from_plain(arm, item, f"{place}[{n}]", ignore_unknown=ignore_unknown)
        for n, (arm, item) in enumerate(zip(hints, plain, strict=True))
    )


def _from_union(arms: tuple[Any, ...], plain: object, place: str, ignore_unknown: bool) -> Any:
    classes = {cast(type, arm).__name__: arm for arm in arms if dataclasses.is_dataclass(arm)}
    if len(classes) > 1 and isinstance(plain, dict):
        name = plain.get("type")
        if name not in classes:
            raise MalformedValue(f"{place}.type".lstrip("."), "one of " + ", ".join(classes), name)
        return from_plain(classes[cast(str, name)], plain, place, ignore_unknown=ignore_unknown)
    # An exact scalar match first, so that 1 stays a whole number in `int | float`.
    for arm in arms:
        if isinstance(arm, type) and type(plain) is arm:
            return plain
    problems: list[MalformedValue] = []
    for arm in arms:
        try:
            return from_plain(arm, plain, place, ignore_unknown=ignore_unknown)
        except MalformedValue as error:
            problems.append(error)
    # The error that got furthest into the value says most.
    deepest = max(problems, key=lambda error: len(error.place))
    if len(deepest.place) > len(place):
        raise deepest
    raise MalformedValue(place, " or ".join(error.expected for error in problems), plain)


def _from_object(cls: type, plain: object, place: str, ignore_unknown: bool) -> Any:
    if not isinstance(plain, dict):
        raise MalformedValue(place, "an object", plain)
    hints, values = _hints(cls), {}
    names = _names(cls)
    for key, item in plain.items():
        if key in names:
            if type(item) is hints[key] and hints[key] in _SCALARS:
                values[key] = item
                continue
            inner = f"{place}.{key}" if place else key
            values[key] = from_plain(hints[key], item, inner, ignore_unknown=ignore_unknown)
        elif key != "type" and not ignore_unknown:
            raise MalformedValue(place, "only " + ", ".join(sorted(names)), key)
    absent = _required(cls) - values.keys()
    if absent:
        raise MalformedValue(place, "the key " + ", ".join(sorted(absent)), plain)
    try:
        return cls(**values)
    except MalformedValue:
        raise
    except ValueError as error:
        raise MalformedValue(place, str(error), plain) from None


def dumps(value: object, *, tagged: bool = False, indent: int | None = None) -> str:
    """`value` as JSON text; one line unless `indent` is given."""
    return json_text(to_plain(value, tagged=tagged), indent)


def json_text(plain: Plain, indent: int | None = None) -> str:
    """JSON that can always be written as UTF-8: readable as it is, escaped where a name holds bytes that are no text.

    File names that are not UTF-8 reach Python as lone surrogates, which JSON can carry only escaped.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    return json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=indent, separators=separators)
