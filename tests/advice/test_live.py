"""Hints for what is on the screen: problems, warnings, failures and numbers of a run."""

from __future__ import annotations

import math
from dataclasses import replace

from studio.advice.hint import EditRemedy, Facts, StepRemedy
from studio.advice.live import hints_for
from studio.advice.runfacts import EpochFacts, Failure, RunFacts, run_facts
from studio.core.check import check
from studio.core.edits import SetPart
from studio.core.events import EpochEnded, Failed, Metrics, Stepped, Warned
from studio.core.frozen import FrozenMap
from studio.core.problem import Fix, Problem, Severity
from studio.core.project import Block, Data, Network, Project, Recipe
from studio.core.runstate import RunState
from studio.core.templates import default_network

PROJECT = Project(data=Data(folder="pets", classes=("cat", "dog", "owl")), network=default_network())


def test_that_a_healthy_project_and_run_get_no_hint() -> None:
    losses = tuple(1.1 * 0.97**n for n in range(100))
    run = RunFacts(steps=100, losses=losses, first_losses=losses[:10], class_count=3,
                   epochs=(EpochFacts(0.6, 0.6, 0.8, 0.8), EpochFacts(0.2, 0.3, 0.95, 0.93)))  # fmt: skip
    assert hints_for(PROJECT, check(PROJECT).all_problems, run) == ()
    assert hints_for(PROJECT, (), None) == ()


def test_that_a_failed_run_shows_the_failure_with_the_runs_evidence() -> None:
    message = "CUDA out of memory. Tried to allocate 512.00 MiB"
    run = RunFacts(
        steps=7, batch_size=256, device="cuda", failure=Failure("OutOfMemoryError", message, "Traceback ..."),
        gpu_free_bytes=120 << 20, gpu_total_bytes=8 << 30,
    )  # fmt: skip
    hint = hints_for(replace(PROJECT, recipe=Recipe(batch_size=256)), (), run)[0]
    assert hint.id == "cuda-oom"
    assert hint.evidence == ("asked 512 MiB, 120 MiB free of 8 GiB", "batch 256, pictures of 64 x 64 px")
    edit = next(remedy.edit for remedy in hint.remedies if isinstance(remedy, EditRemedy))
    assert edit == SetPart("recipe", "batch_size", 128)


def test_that_a_problem_and_a_failure_of_the_same_kind_are_one_hint() -> None:
    facts: Facts = FrozenMap(problem="out_of_memory", asked_bytes=512 << 20, free_bytes=120 << 20, device="cuda:0")
    failure = Failure("OutOfMemoryError", "CUDA out of memory. Tried to allocate 512.00 MiB", "Traceback ...", facts)
    run = RunFacts(failure=failure, warned=(Problem("out_of_memory", facts=facts),))
    hints = hints_for(PROJECT, (), run)
    assert [hint.id for hint in hints] == ["cuda-oom"]
    assert "asked 512 MiB, 120 MiB free" in hints[0].evidence


def test_that_memory_problems_are_told_apart_by_device() -> None:
    for device, entry in (("cuda:1", "cuda-oom"), ("cpu", "cpu-oom"), ("mps", "mps-oom-or-op")):
        problem = Problem("out_of_memory", facts=FrozenMap(device=device))
        assert [hint.id for hint in hints_for(PROJECT, (problem,), None)] == [entry]


def test_that_a_loss_that_became_nan_is_one_hint_however_often_it_is_told() -> None:
    facts: Facts = FrozenMap(problem="loss_not_finite", loss=math.nan, failing_step=12, learning_rate=10.0, count=32)
    run = RunFacts(steps=12, losses=(2.0, math.nan), warned=(Problem("loss_not_finite", facts=facts),),
                   failure=Failure("loss_not_finite", "The loss is nan.", "", facts))  # fmt: skip
    hint, *others = hints_for(replace(PROJECT, recipe=Recipe(learning_rate=10.0)), (), run)
    assert (hint.id, others) == ("loss-nan", [])
    assert "the loss became nan at step 12" in hint.evidence
    assert EditRemedy("Lower the learning rate: 10 to 1", SetPart("recipe", "learning_rate", 1.0)) in hint.remedies


def test_that_a_problems_own_fix_comes_first() -> None:
    network = Network((Block("c", "conv2d"), Block("l", "linear")))
    project = replace(PROJECT, network=network)
    problems = check(project).all_problems
    hint = hints_for(project, problems, None)[0]
    assert hint.id == "mat1-mat2"
    assert isinstance(hint.remedies[0], EditRemedy) and check(hint.remedies[0].edit.apply(project)).is_ready
    edits = [remedy.edit for remedy in hint.remedies if isinstance(remedy, EditRemedy)]
    assert len(edits) == len(set(edits))


def test_that_a_problem_that_nobody_described_explains_itself() -> None:
    fix = Fix("fix.set_recipe", SetPart("recipe", "batch_size", 8), FrozenMap(field="Batch size", value=8))
    problem = Problem("network.memory", Severity.WARNING, fixes=(fix,),
                      facts=FrozenMap(needed_bytes=1, device_bytes=1, device="cpu", batch=32))  # fmt: skip
    hint = hints_for(PROJECT, (problem,), None)[0]
    assert (hint.id, hint.severity) == ("network.memory", Severity.WARNING)
    assert hint.title and hint.title != "network.memory"
    assert isinstance(hint.remedies[0], EditRemedy) and hint.remedies[0].edit == fix.edit


def test_that_words_of_another_program_inside_a_problem_are_explained() -> None:
    trace = "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"
    hints = hints_for(PROJECT, (Problem("engine_broken", facts=FrozenMap(trace=trace)),), None)
    assert {hint.id for hint in hints} == {"engine_broken", "cuda-lib-not-found"}


def test_that_information_is_no_trouble() -> None:
    assert hints_for(PROJECT, (Problem("presplit", Severity.INFO),), None) == ()


def test_that_errors_come_before_warnings() -> None:
    problems = (Problem("imbalanced", Severity.WARNING), Problem("single_class"))
    hints = hints_for(PROJECT, problems, None)
    assert [hint.id for hint in hints] == ["one-class-data", "imbalanced"]
    assert any(isinstance(remedy, StepRemedy) for remedy in hints[0].remedies)


def test_that_a_runs_facts_are_taken_from_its_events() -> None:
    metrics = Metrics(0.5, 0.8, 100)
    problem = Problem("imbalanced", Severity.WARNING)
    state = RunState()
    for event in (
        Stepped(1.0, 3, 1, (1.0, 0.9, 0.8), (0.1, 0.2, 0.3), 0.01, 10.0),
        EpochEnded(2.0, 1, 3, metrics, None, 1.0),
        Warned(3.0, problem),
        Failed(4.0, "ValueError", "no", "trace", FrozenMap(step=3)),
    ):
        state = state.after(event)
    run = run_facts(state, PROJECT)
    assert (run.steps, run.losses, run.first_losses) == (3, (1.0, 0.9, 0.8), (1.0, 0.9, 0.8))
    assert run.epochs == (EpochFacts(0.5, None, 0.8, None),)
    assert (run.learning_rate, run.class_count, run.warned) == (0.01, 3, (problem,))
    assert run.failure == Failure("ValueError", "no", "trace", FrozenMap(step=3))
    assert run.failure.as_text() == "trace\nValueError: no"
