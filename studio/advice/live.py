"""Hints for what is on the screen: the problems of a check or a scan, and a run's warnings, failure and numbers."""

from __future__ import annotations

from dataclasses import replace

from studio.advice.explain import explain
from studio.advice.hint import Facts, Hint
from studio.advice.hints import make_hint, problem_hint
from studio.advice.knowledge import knowledge
from studio.advice.runfacts import RunFacts
from studio.advice.signals import RULES
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Project

# A failed run comes before what its numbers hint at.
_FAILED = 1.0
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
    found = [*problems, *(run.warned if run else ())]
    by_problem = knowledge().by_problem
    hints = [
        problem_hint(problem, by_problem.get(problem.code), known, project)
        for problem in found
        if problem.severity is not Severity.INFO
    ]
    if run is not None:
        hints.extend(_failure_hints(project, run, known))
        hints.extend(_signal_hints(project, run, known))
    ranked = sorted(hints, key=lambda hint: (_RANK[hint.severity], -hint.score, hint.id))
    unique: dict[tuple[str, Facts], Hint] = {}
    texts = {hint.id for hint in hints if hint.matched_line}
    for hint in ranked:
        # A failure that was recognised by its text says more than the rule or the warning about the same trouble.
        if hint.id not in texts or hint.matched_line:
            unique.setdefault((hint.id, FrozenMap() if hint.matched_line else hint.values), hint)
    return tuple(unique.values())


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


def _failure_hints(project: Project, run: RunFacts, known: Facts) -> tuple[Hint, ...]:
    failure = run.failure
    if failure is None:
        return ()
    facts: Facts = FrozenMap({**known, **failure.facts})
    found = explain(failure.as_text(), project=project, facts=facts)
    return tuple(replace(hint, score=hint.score + _FAILED) for hint in found)


def _signal_hints(project: Project, run: RunFacts, known: Facts) -> tuple[Hint, ...]:
    hints = []
    for name, entry in knowledge().by_rule.items():
        seen = RULES[name](run)
        if seen is not None:
            hints.append(make_hint(entry, seen, known, project))
    return tuple(hints)
