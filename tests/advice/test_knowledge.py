"""Laws that every entry of the knowledge base obeys."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from studio.advice.checks import CHECKS
from studio.advice.explain import explain
from studio.advice.hint import CommandRemedy, StepRemedy
from studio.advice.knowledge import Entry, KnowledgeUnusable, entries_in, index, knowledge
from studio.advice.matching import best_hits
from studio.advice.readings import placeholders
from studio.advice.repairs import REPAIRS
from studio.advice.signals import RULES
from studio.core.project import Project
from studio.core.text import sentences

ENTRIES = tuple(knowledge().entries.values())
SPEC = Path(os.environ.get("LANTERN_SPEC", Path(__file__).parents[3] / "shared" / "spec")) / "errors.jsonl"


def named(entry: Entry) -> str:
    return entry.id


def test_that_the_common_troubles_are_known() -> None:
    wanted = {
        "cuda-oom", "cpu-oom", "loss-nan", "loss-stuck-lnC", "conv-channels", "mat1-mat2", "batchnorm-one",
        "driver-too-old", "gpu-arch-unsupported", "no-nvidia-driver", "torch-cpu-build", "cuda-lib-not-found",
        "pil-truncated", "pil-unidentified", "one-class-data", "target-out-of-bounds", "qt-platform-plugin",
        "worker-shm", "disk-full",
    }  # fmt: skip
    assert wanted <= set(knowledge().entries)
    assert len(ENTRIES) >= 85


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_that_an_entry_is_found_by_its_examples_and_by_no_others(entry: Entry) -> None:
    assert bool(entry.patterns) == bool(entry.examples)
    for example in entry.examples:
        matched = {hit.entry_id for hit in best_hits(example, knowledge())}
        assert entry.id in matched
        undeclared = {
            other for other in matched - {entry.id} if entry.id not in knowledge().entries[other].also_matches
        }
        assert not undeclared, example
        assert explain(example)[0].id == entry.id


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_that_an_entry_can_be_reached_and_names_only_what_exists(entry: Entry) -> None:
    assert entry.patterns or entry.problems or entry.rules
    assert all(name in CHECKS for name in entry.checks)
    assert all(name in RULES for name in entry.rules)
    assert all(fix.name in REPAIRS for fix in entry.fixes if fix.kind == "edit")
    assert all(other in knowledge().entries for other in entry.also_matches)
    assert entry.sources and all(source.startswith("https://") for source in entry.sources)


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_that_both_languages_say_the_same(entry: Entry) -> None:
    en, zh = entry.en, entry.zh_CN
    assert (len(en.causes), len(en.evidence)) == (len(zh.causes), len(zh.evidence))
    for one, other in zip(en.evidence, zh.evidence, strict=True):
        assert placeholders(one) == placeholders(other)
    for wording in (en, zh):
        assert wording.title and wording.why and wording.causes
        assert not any(placeholders(text) for text in (wording.title, wording.why, *wording.causes))
    for chinese in (zh.title, zh.why, *zh.causes):
        assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese)
    for fix in entry.fixes:
        if fix.kind != "edit":
            assert fix.en and fix.zh_CN and placeholders(fix.en) == placeholders(fix.zh_CN)


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_that_placeholders_are_read_by_some_pattern_or_rule(entry: Entry) -> None:
    if not entry.patterns:
        return
    groups = {name for pattern in knowledge().patterns if pattern.entry is entry for name in pattern.regex.groupindex}
    known = groups | {name.removesuffix("_bytes") for name in groups}
    # A rule or a problem brings facts of its own; they are tested where the rules are.
    if not entry.rules and not entry.problems:
        used = {name for text in (*entry.en.evidence, *(fix.en for fix in entry.fixes)) for name in placeholders(text)}
        assert used <= known


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_that_an_entry_always_offers_something_to_do(entry: Entry) -> None:
    for project in (None, Project()):
        for example in entry.examples:
            remedies = explain(example, project=project)[0].remedies
            assert any(isinstance(remedy, (StepRemedy, CommandRemedy)) for remedy in remedies)


def test_that_every_problem_code_of_an_entry_is_one_that_has_sentences() -> None:
    from_core = {code for code in knowledge().by_problem if "." in code}
    assert from_core and all(code.partition(":")[0] in sentences() for code in from_core)


@pytest.mark.skipif(not SPEC.exists(), reason="the specification is not beside this checkout")
def test_that_entries_named_as_in_the_specification_recognise_its_messages() -> None:
    for line in SPEC.read_text("utf-8").splitlines():
        case = json.loads(line)
        if case["id"] in knowledge().entries:
            assert explain(case["example_message"])[0].id == case["id"]


def entry_file(**changes: object) -> dict[str, object]:
    wording = {"title": "t", "why": "w", "causes": ["c"]}
    return {"ecosystem": "app", "en": wording, "zh_CN": wording, "fixes": [], "sources": [], **changes}


def test_that_a_malformed_entry_is_refused_by_name() -> None:
    with pytest.raises(KnowledgeUnusable, match=r"x\.json.*odd.*severity"):
        entries_in({"odd": entry_file(severity="dreadful")}, "x.json")
    with pytest.raises(KnowledgeUnusable, match=r"odd.*colour"):
        entries_in({"odd": entry_file(colour="red")}, "x.json")


def test_that_a_pattern_that_cannot_be_searched_is_refused() -> None:
    for pattern in (r"\d+", "first thing|second thing", "(unclosed"):
        with pytest.raises(KnowledgeUnusable, match="odd"):
            index(entries_in({"odd": entry_file(patterns=[pattern])}, "x.json"))


def test_that_two_entries_cannot_share_an_id() -> None:
    entries = entries_in({"odd": entry_file()}, "x.json")
    with pytest.raises(KnowledgeUnusable, match="odd"):
        index((*entries, *entries))
