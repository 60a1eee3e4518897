"""Laws over everything a person reads: it is translated, with the same facts, and nothing is left over."""

from __future__ import annotations

import ast
import dataclasses
import json
import string
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from studio.core.augmentation import Augmentation
from studio.core.blocks import BLOCKS
from studio.core.files import resources_folder
from studio.core.frozen import FrozenMap
from studio.core.project import Data, Preprocessing, Recipe, fields_of
from studio.core.settings import Settings
from studio.core.text import LANGUAGES, catalogue, sentences
from tests.laws.sources import Literal, all_constants, called_name, calls, given_to_fields, literals

TEXT_FOLDER = resources_folder() / "text"
OTHER_LANGUAGES = [language for language in LANGUAGES if language != "en"]
# Fields of settings are texts wherever they are shown; others are when some code gives them to tr().
FIELD_TEXTS = frozenset({"label", "help", "unit", "none_label"})

# Whose "code" names sentences in resources/text/problems.
WITH_SENTENCES = frozenset({"Problem", "Fix", "Mismatch"})


def placeholders(text: str) -> set[str]:
    return {name.partition(".")[0].partition("[")[0] for _, name, _, _ in string.Formatter().parse(text) if name}


def translated_arguments() -> Iterator[tuple[str, ast.expr, list[Literal]]]:
    """The place, the expression and the written-out texts of each text given to tr() and trn()."""
    for path, call in calls():
        count = {"tr": slice(0, 1), "trn": slice(1, 3)}.get(called_name(call))
        if count is not None and path.as_posix() != "studio/core/text.py":
            for argument in call.args[count]:
                yield f"{path}:{argument.lineno}", argument, literals(argument, path)


@cache
def text_fields() -> frozenset[str]:
    """The names of dataclass fields that hold English source texts."""
    shown = {node.attr for _, node, _ in translated_arguments() if isinstance(node, ast.Attribute)}
    return FIELD_TEXTS | shown


def declared_at_run_time(value: Any) -> Iterator[Literal]:
    """Texts in the text fields of declarations, also where a function has put them there."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from declared_at_run_time(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and not isinstance(value, FrozenMap):
        for field in dataclasses.fields(value):
            inner = getattr(value, field.name)
            if isinstance(inner, str) and not isinstance(value, str) and field.name in FIELD_TEXTS and inner:
                yield Literal(inner, f"{type(value).__name__} {getattr(value, 'name', getattr(value, 'kind', ''))}")
            else:
                yield from declared_at_run_time(inner)


@cache
def texts() -> Mapping[str, str]:
    """Every English source text, with one place where it stands."""
    found = [literal for _, _, written in translated_arguments() for literal in written]
    found += given_to_fields(text_fields())
    for owner in (Data, Preprocessing, Augmentation, Recipe, Settings):
        found += declared_at_run_time(fields_of(owner))
    found += declared_at_run_time([spec for _, spec in BLOCKS.items()])
    own_names = set(LANGUAGES.values())  # a language is called the same in every language
    return {literal.text: literal.place for literal in found if literal.text not in own_names}


def test_that_texts_are_written_out_where_they_are_translated() -> None:
    """What is computed cannot be collected: `tr(text)` hides its texts, `tr(thing.label)` has them in a declaration."""
    hidden = [
        f"{place}: {ast.unparse(node)}"
        for place, node, written in translated_arguments()
        if not written and not isinstance(node, ast.Attribute)
    ]
    assert not hidden, "write the English text out inside tr():\n" + "\n".join(hidden)


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_that_every_text_is_translated(language: str) -> None:
    known = catalogue(language)
    missing = {text: place for text, place in texts().items() if not known.get(text)}
    shown = "\n".join(f"{place}: {json.dumps(text, ensure_ascii=False)}" for text, place in missing.items())
    assert not missing, f"{len(missing)} texts lack a translation in resources/text/{language}:\n{shown}"


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_that_translations_keep_the_placeholders(language: str) -> None:
    changed = [
        f"{text!r} -> {there!r}"
        for text, there in catalogue(language).items()
        if placeholders(text) != placeholders(there)
    ]
    assert not changed, "\n".join(changed)


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_that_no_translation_is_left_over(language: str) -> None:
    left_over = [text for text in catalogue(language) if text not in texts() and text not in all_constants()]
    shown = "\n".join(left_over)
    assert not left_over, f"nothing says these any more; take them out of resources/text/{language}:\n{shown}"


@pytest.mark.parametrize("folder", [*OTHER_LANGUAGES, "problems"])
def test_that_two_files_do_not_disagree(folder: str) -> None:
    meanings: dict[str, set[str]] = {}
    for path in (TEXT_FOLDER / folder).glob("*.json"):
        for key, value in json.loads(path.read_text("utf-8")).items():
            meanings.setdefault(key, set()).add(json.dumps(value, sort_keys=True))
    assert not [key for key, values in meanings.items() if len(values) > 1]


def test_that_every_problem_has_its_sentences() -> None:
    codes = {literal.text: literal.place for literal in given_to_fields(frozenset({"code"}), WITH_SENTENCES)}
    missing = [f"{place}: {code}" for code, place in codes.items() if code not in sentences()]
    assert not missing, "no sentence in resources/text/problems for:\n" + "\n".join(missing)


@pytest.mark.parametrize("code", sorted(sentences()))
def test_that_a_problem_reads_the_same_in_each_language(code: str) -> None:
    entry = sentences()[code]
    assert set(entry) == set(LANGUAGES)
    parts = {language: {part.removesuffix("_one") for part in entry[language]} for language in LANGUAGES}
    assert len({frozenset(names) for names in parts.values()}) == 1, parts
    assert parts["en"] <= {"message", "why", "repair", "label"} and parts["en"] & {"message", "label"}
    for part in parts["en"]:
        facts = {language: placeholders(entry[language].get(part, "")) for language in LANGUAGES}
        assert len({frozenset(names) for names in facts.values()}) == 1, facts


def test_that_no_sentence_is_left_over() -> None:
    left_over = [code for code in sentences() if code not in all_constants()]
    assert not left_over, "no code has these problems any more:\n" + "\n".join(left_over)
