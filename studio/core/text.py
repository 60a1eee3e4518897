"""The translation layer: English source texts, and sentences for coded problems, in the user's language.

`tr("Stop after {n} epochs", n=5)` looks the English text up in `resources/text/<language>/*.json` and fills it in; a
text without a translation is shown in English. A test collects every literal given to `tr` and requires a translation
with the same placeholders. `{bytes:size}` shows a number of bytes as a size. Problems and fixes have their sentences
in `resources/text/problems/*.json`, by code.
"""

from __future__ import annotations

import json
import locale
import os
import string
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from studio.core.fields import Value
from studio.core.files import resources_folder
from studio.core.problem import Fix, Problem
from studio.core.quantities import size_text

LANGUAGES: Mapping[str, str] = {"en": "English", "zh_CN": "简体中文"}

# Facts that hold the label of a field or a block.
_LABELS = frozenset({"field", "block", "value"})

_language = "en"


def set_language(language: str) -> None:
    """Use this language from now on; "" takes the system's, an unknown one means English."""
    global _language
    chosen = language or _system_language()
    _language = chosen if chosen in LANGUAGES else "en"


def language() -> str:
    """The language in use: a key of `LANGUAGES`."""
    return _language


def _system_language() -> str:
    named = next((os.environ[key] for key in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(key)), "")
    named = named or (locale.getlocale()[0] or "")
    return "zh_CN" if named.lower().startswith(("zh", "chinese")) else "en"


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """English source text to `language`."""
    merged: dict[str, str] = {}
    for path in sorted((resources_folder() / "text" / language).glob("*.json")):
        merged.update(json.loads(path.read_text("utf-8")))
    return merged


@cache
def sentences() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Code to language to part ("message", "why", "repair" of problems; "label" of fixes)."""
    merged: dict[str, Any] = {}
    for path in sorted((resources_folder() / "text" / "problems").glob("*.json")):
        merged.update(json.loads(path.read_text("utf-8")))
    return merged


class _Filler(string.Formatter):
    """Fills placeholders; one without a fact stays visible instead of raising in front of the user."""

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return kwargs.get(cast(str, key), "{" + str(key) + "}")

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "size" and isinstance(value, (int, float)):
            return size_text(value)
        try:
            return str(super().format_field(value, format_spec))
        except (ValueError, TypeError):
            return str(value)


_filler = _Filler()


def tr(text: str, /, **facts: object) -> str:
    """`text` in the user's language with `{name}` placeholders filled from `facts`."""
    translated = text if _language == "en" else catalogue(_language).get(text, text)
    return _filler.vformat(translated, (), facts) if facts else translated


def trn(n: float, one: str, many: str, /, **facts: object) -> str:
    """`one` or `many` by the number `n`, which both may show as `{n}`."""
    return tr(one if n == 1 else many, n=n, **facts)


def _sentence(code: str, part: str, facts: Mapping[str, Value]) -> str:
    entry = sentences().get(code, {})
    in_language = entry.get(_language) or entry.get("en") or {}
    template = in_language.get(part, "")
    n = facts.get("count")
    if n == 1 and f"{part}_one" in in_language:
        template = in_language[f"{part}_one"]
    return _filler.vformat(template, (), _facts_in_language(facts)) if template else ""


def _facts_in_language(facts: Mapping[str, Value]) -> Mapping[str, Value]:
    """Labels among the facts are English source texts themselves."""
    return {name: tr(value) if name in _LABELS and isinstance(value, str) else value for name, value in facts.items()}


def problem_message(problem: Problem) -> str:
    """What happened, as one sentence."""
    return _sentence(problem.code, "message", _facts(problem)) or problem.code


def problem_why(problem: Problem) -> str:
    """Why it matters; "" where the message says it all."""
    return _sentence(problem.code, "why", _facts(problem))


def problem_repair(problem: Problem) -> str:
    """What can be done about it; "" where nothing is needed."""
    return _sentence(problem.code, "repair", _facts(problem))


def fix_label(fix: Fix) -> str:
    """The text of a button that applies `fix`."""
    return _sentence(fix.code, "label", fix.facts) or fix.code


def _facts(problem: Problem) -> Mapping[str, Value]:
    return {"place": problem.place, **problem.facts}
