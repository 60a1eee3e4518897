"""Hints for what is on the screen: the problems of a check or a scan, and a run's warnings, failure and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from studio.advice.explain import explain
from studio.advice.hint import Facts, Hint
from studio.advice.hints import make_hint, problem_hint
from studio.advice.knowledge import Entry, knowledge
from studio.advice.readings import text
from studio.advice.runfacts import RunFacts
from studio.advice.signals import RULES
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Project

# A failed run comes before what its numbers hint at.
_FAILED = 1.0
_WORDS = ("trace", "detail", "reason")
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def hints_for(
    project: Project, problems: tuple[Problem, ...], run: RunFacts | None, machine: Facts | None = None
) -> tuple[Hint, ...]:
    """The hints of everything that is wrong, worst first, one of each kind; a healthy run and project get none.

    Problems that only inform (`Severity.INFO`) are no trouble and give no hint.

    Args:
        problems: of `core.check` and of the data set.
        run: the present or latest run; None before the first.
        machine: facts of `studio.advice.machine.measure`, for the checks of a failed run.
    """
    known: Facts = FrozenMap({**(machine or {}), **(_known(run) if run else {})})
    found: dict[tuple[str, str], Hint] = {}
    # In the order of how much they say: a failure's own text, what was expected, what only the numbers show.
    for place, hint in (
        *(_failure_hints(project, run, known) if run else ()),
        *_problem_hints(project, (*problems, *(run.warned if run else ())), known),
        *(_signal_hints(project, run, known) if run else ()),
    ):
        found.setdefault((hint.id, place), hint)
    return tuple(sorted(found.values(), key=lambda hint: (_RANK[hint.severity], -hint.score, hint.id)))


def _problem_hints(project: Project, problems: tuple[Problem, ...], known: Facts) -> Iterator[tuple[str, Hint]]:
    for problem in problems:
        if problem.severity is Severity.INFO:
            continue
        entry = _entry_for(problem)
        yield problem.place, problem_hint(problem, entry, known, project)
        if entry is None:
            # A problem that wraps another program's error carries its words.
            words = "\n".join(text(problem.facts, name) for name in _WORDS)
            yield from ((problem.place, hint) for hint in explain(words, project=project, facts=known))


def _entry_for(problem: Problem) -> Entry | None:
    """The entry for the problem on its kind of device, else for the problem anywhere."""
    by_problem = knowledge().by_problem
    device = text(problem.facts, "device").partition(":")[0]
    return by_problem.get(f"{problem.code}:{device}") or by_problem.get(problem.code)


def _known(run: RunFacts) -> Facts:
    facts: dict[str, Value] = {
        "free_bytes": run.gpu_free_bytes,
        "total_bytes": run.gpu_total_bytes,
        "memory_available_bytes": run.memory_available_bytes,
        "memory_total_bytes": run.memory_total_bytes,
        "class_count": run.class_count or None,
        "train_count": run.train_count or None,
        "batch_size": run.batch_size or None,
        "learning_rate": run.learning_rate or None,
    }
    return FrozenMap({name: value for name, value in facts.items() if value is not None})


def _failure_hints(project: Project, run: RunFacts, known: Facts) -> Iterator[tuple[str, Hint]]:
    """What the failure's text tells; one without a trace is a problem that is told among the warnings."""
    failure = run.failure
    if failure is None or (text(failure.facts, "problem") and not failure.trace):
        return
    facts: Facts = FrozenMap({**known, **{name: value for name, value in failure.facts.items() if value is not None}})
    for hint in explain(failure.as_text(), project=project, facts=facts):
        yield "", replace(hint, score=hint.score + _FAILED)


def _signal_hints(project: Project, run: RunFacts, known: Facts) -> Iterator[tuple[str, Hint]]:
    for name, entry in knowledge().by_rule.items():
        seen = RULES[name](run)
        if seen is not None:
            yield "", make_hint(entry, seen, known, project)
