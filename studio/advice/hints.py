"""Makes a hint from an entry of the knowledge base: fills in numbers, runs checks, fits fixes to the project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from studio.advice.checks import CHECKS, Measured
from studio.advice.hint import CommandRemedy, EditRemedy, Facts, Hint, Remedy, StepRemedy
from studio.advice.knowledge import Entry, FixSpec
from studio.advice.readings import fill
from studio.advice.repairs import REPAIRS
from studio.core import text
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Project
from studio.core.text import fix_label, problem_message, problem_repair, problem_why

_BY_SEVERITY = {Severity.ERROR: 1.0, Severity.WARNING: 0.6, Severity.INFO: 0.4}
# What a measurement adds to a hint that it confirms, and takes from one that it speaks against.
_CONFIRMED, _RULED_OUT = 0.3, -0.3


def project_facts(project: Project) -> Facts:
    """What checks want to know of a project."""
    recipe, preprocessing = project.recipe, project.preprocessing
    return FrozenMap[Value](
        batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        optimiser=recipe.optimiser,
        width=preprocessing.width,
        height=preprocessing.height,
        class_count=project.class_count,
    )


def make_hint(
    entry: Entry,
    values: Facts,
    known: Facts,
    project: Project | None,
    *,
    line: str = "",
    line_number: int = 0,
    bonus: float = 0.0,
    own_fixes: Iterable[EditRemedy] = (),
) -> Hint:
    """The hint of `entry`.

    Args:
        values: what was read from the text or seen in the run; shown with the hint.
        known: further facts (machine, run) for the checks; `values` win.
        own_fixes: fixes that came with the problem; they go first.
        bonus: added to the score.
    """
    facts: Facts = FrozenMap({**(project_facts(project) if project else {}), **known, **values})
    wording = entry.wording(text.language())
    measured = tuple(_measure(entry, facts))
    read = tuple(sentence for template in wording.evidence if (sentence := fill(template, values)) is not None)
    confirmed = any(m.confirms for m in measured)
    against = not confirmed and any(m.confirms is False for m in measured)
    score = entry.weight * _BY_SEVERITY[entry.severity] + bonus
    score += (_CONFIRMED if confirmed else 0.0) + (_RULED_OUT if against else 0.0)
    return Hint(
        id=entry.id,
        severity=entry.severity,
        title=wording.title,
        why=wording.why,
        evidence=(*read, *(m.sentence for m in sorted(measured, key=lambda m: not m.confirms))),
        matched_line=line,
        matched_line_number=line_number,
        values=values,
        causes=wording.causes,
        remedies=_remedies(entry.fixes, project, facts, tuple(own_fixes)),
        sources=entry.sources,
        aliases=entry.aliases,
        score=round(score, 4),
    )


def problem_hint(problem: Problem, entry: Entry | None, known: Facts, project: Project) -> Hint:
    """The hint of a problem; one that the knowledge base does not know explains itself by its own sentences."""
    own = tuple(EditRemedy(fix_label(fix), fix.edit) for fix in problem.fixes)
    message = problem_message(problem)
    if entry is not None:
        hint = make_hint(entry, problem.facts, known, project, own_fixes=own)
        return replace(hint, evidence=(message, *hint.evidence), severity=problem.severity)
    repair = problem_repair(problem)
    steps: tuple[Remedy, ...] = (StepRemedy(repair),) if repair else ()
    return Hint(
        id=problem.code,
        severity=problem.severity,
        title=message,
        why=problem_why(problem),
        values=problem.facts,
        remedies=(*own, *steps),
        score=_BY_SEVERITY[problem.severity],
    )


def _measure(entry: Entry, facts: Facts) -> Iterable[Measured]:
    for name in entry.checks:
        measured = CHECKS[name](facts)
        if measured is not None:
            yield measured


def _remedies(
    fixes: tuple[FixSpec, ...], project: Project | None, facts: Facts, own: tuple[EditRemedy, ...]
) -> tuple[Remedy, ...]:
    """What fits, edits first; two edits with the same result are one."""
    edits: list[Remedy] = list(own)
    others: list[Remedy] = []
    language = text.language()
    for fix in fixes:
        if fix.script and project is not None:
            continue
        match fix.kind:
            case "edit":
                sentence = fill(fix.wording(language), facts) if project is None else None
                if sentence:
                    others.append(StepRemedy(sentence))
                remedy = REPAIRS[fix.name](project, facts) if project is not None else None
                same = remedy is not None and any(isinstance(e, EditRemedy) and e.edit == remedy.edit for e in edits)
                if remedy is not None and not same:
                    edits.append(remedy)
            case "command":
                command = fill(fix.command, facts)
                if command is not None:
                    others.append(CommandRemedy(fix.wording(language), command))
            case "step":
                sentence = fill(fix.wording(language), facts)
                if sentence is not None:
                    others.append(StepRemedy(sentence))
            case _:
                assert_never(fix.kind)
    return (*edits, *others)
