"""Puts a run together from its pictures: network, optimiser, batches, at the place where training begins or goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from studio.core.check import Report, check, memory_problem
from studio.core.events import CheckpointSaved
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Project
from studio.core.text import tr
from studio.engine.augment import Augmenter, augmenter_of
from studio.engine.balance import balanced_weights
from studio.engine.batches import Batches, Normaliser
from studio.engine.build import CannotBuild, GraphNet, build
from studio.engine.checkpoint import Checkpoint, CheckpointWriter, Saved
from studio.engine.device import total_bytes
from studio.engine.learner import Learner
from studio.engine.prepared import Prepared, with_statistics
from studio.engine.session import Session
from studio.engine.threads import computing_with, threads_for
from studio.engine.trouble import Trouble

# Forecast over memory beyond which a run is not begun: swap and an inexact forecast do not make up for so much.
_HOPELESS = 3


@dataclass(slots=True)
class Run:
    """What a run is made of; `facts` are kept with each of its checkpoints. `class_weights` (classes,) or None."""

    session: Session
    project: Project
    prepared: Prepared
    net: GraphNet
    learner: Learner
    normaliser: Normaliser
    augmenter: Augmenter
    training: Batches
    validation: Batches
    writer: CheckpointWriter
    facts: dict[str, Any]
    class_weights: torch.Tensor | None = None

    @property
    def class_count(self) -> int:
        return self.project.class_count


@contextmanager
def assembled(session: Session, prepared: Prepared, found: Checkpoint | None) -> Iterator[Run]:
    """Network, optimiser and batches, at the place where training begins or goes on."""
    session.enter("build")
    report = _refuse_what_cannot_work(session, prepared.project)
    project = _with_same_statistics(prepared.project, found) if found else with_statistics(prepared, session)
    threads = threads_for(report.multiply_adds * project.recipe.batch_size, torch.get_num_threads())
    writer = CheckpointWriter(session.run_folder, partial(_say_saved, session), partial(_say_not_saved, session))
    with computing_with(threads), closing(writer):
        run = _run(session, project, prepared, writer)
        if found is not None:
            _restore(run, found)
        weights = run.facts["class_weights"]
        run.class_weights = None if weights is None else torch.tensor(weights, device=session.device)
        position = run.learner.position
        session.place.batch_size, session.place.step = project.recipe.batch_size, position.step
        session.best_accuracy = position.best_accuracy
        session.started(
            project,
            resumed_step=position.step,
            train_count=len(prepared.train),
            validation_count=len(prepared.validation),
            steps_per_epoch=len(run.training),
            parameters=report.parameters,
        )
        yield run


def _run(session: Session, project: Project, prepared: Prepared, writer: CheckpointWriter) -> Run:
    recipe, preprocessing = project.recipe, project.preprocessing
    try:
        net = build(project.network, preprocessing.shape, project.class_count, recipe.seed)
    except CannotBuild as error:
        facts: FrozenMap[Value] = FrozenMap(reason=str(error))
        raise Trouble(Problem("network_cannot_be_built", place=error.block, facts=facts)) from None
    batches = partial(
        Batches,
        prepared.cache,
        labels=prepared.labels,
        batch_size=recipe.batch_size,
        pinned=session.device.type == "cuda",
        stop_asked=session.stop_asked,
    )
    merge_single = any(isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)) for module in net.modules())
    return Run(
        session=session,
        project=project,
        prepared=prepared,
        net=net,
        learner=Learner(net, recipe, session.device),
        normaliser=Normaliser(preprocessing.mean, preprocessing.std, session.device),
        augmenter=augmenter_of(project),
        training=batches(
            prepared.train, seed=recipe.seed, balanced=recipe.sampler == "balanced", merge_single=merge_single
        ),
        validation=batches(prepared.validation),
        writer=writer,
        facts={
            "classes": list(project.data.classes),
            "mean": list(preprocessing.mean),
            "std": list(preprocessing.std),
            "data": prepared.digest,
            "class_weights": _class_weights(project, prepared),
        },
    )


def _class_weights(project: Project, prepared: Prepared) -> list[float] | None:
    """What each class counts in the loss, by the pictures that train; None where all pictures count alike."""
    if project.recipe.class_weights == "none":
        return None
    return list(balanced_weights(prepared.labels[prepared.train], project.class_count))


def _refuse_what_cannot_work(session: Session, project: Project) -> Report:
    report = check(project)
    errors = [problem for problem in report.all_problems if problem.severity is Severity.ERROR]
    for problem in errors[1:]:
        session.warn(problem)
    if errors:
        raise Trouble(errors[0])
    _refuse_what_is_far_too_large(session, project, report)
    if report.forecast is not None:
        training = report.forecast.training
        session.forecast_bytes = training.total if session.device.type == "cpu" else training.tensors
    return report


def _refuse_what_is_far_too_large(session: Session, project: Project, report: Report) -> None:
    """On the CPU the system would swap for minutes and then end the process, or another one, without a word."""
    size = total_bytes(session.device)
    if session.device.type != "cpu" or size is None:
        return
    if memory_problem(report, project.recipe.batch_size, _HOPELESS * size, "cpu") is None:
        return
    problem = memory_problem(report, project.recipe.batch_size, size, "cpu")
    if problem is not None:
        facts = problem.facts.with_items(device=tr("this computer"))
        raise Trouble(replace(problem, severity=Severity.ERROR, facts=facts))


def _with_same_statistics(project: Project, found: Checkpoint) -> Project:
    mean, std = (tuple(map(float, found.facts[name])) for name in ("mean", "std"))
    return replace(project, preprocessing=replace(project.preprocessing, mean=mean, std=std))


def _restore(run: Run, found: Checkpoint) -> None:
    if found.facts["classes"] != run.facts["classes"]:
        raise Trouble(Problem("checkpoint_of_other_classes", facts=FrozenMap(step=found.step)))
    try:
        run.learner.restored(found)
    except (ValueError, RuntimeError, KeyError, TypeError, IndexError) as error:
        told: FrozenMap[Value] = FrozenMap(step=found.step, reason=str(error).split("\n")[0])
        raise Trouble(Problem("checkpoint_does_not_fit", facts=told)) from None
    # As with mean and std: what was learned so far was learned with these.
    run.facts["class_weights"] = found.facts.get("class_weights", run.facts["class_weights"])
    if found.facts["data"] != run.facts["data"]:
        run.session.warn(Problem("pictures_changed_since", Severity.WARNING, facts=FrozenMap(step=found.step)))


def _say_saved(session: Session, saved: Saved) -> None:
    now = session.emitter.now
    session.emitter.emit(CheckpointSaved(now, saved.path, saved.step, saved.epoch, saved.bytes, saved.is_best))


def _say_not_saved(session: Session, error: OSError) -> None:
    reason = error.strerror or str(error)
    session.warn(Problem("checkpoint_not_saved", Severity.WARNING, facts=FrozenMap(reason=reason)))
