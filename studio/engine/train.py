"""A whole run, from its folder to the finished model; the training loop is `_train`, and reads from top to bottom."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import torch

from studio.core.events import EpochEnded, Evaluated, Metrics, ModelSaved, Outcome
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Project, ProjectUnreadable, load_project
from studio.dataset.loading import Refused
from studio.dataset.progress import Cancelled
from studio.engine import checkpoint as checkpoints
from studio.engine.artefact import save_model
from studio.engine.assemble import Run, assembled
from studio.engine.balance import loss_of
from studio.engine.batches import Batch
from studio.engine.device import choose_device, synchronise
from studio.engine.evaluate import evaluate
from studio.engine.optimisers import gradient_norm
from studio.engine.prepared import prepare
from studio.engine.probes import tensors
from studio.engine.session import Session
from studio.engine.stepclock import StepClock
from studio.engine.trouble import Stopped, Trouble

PROJECT = "project.json"
MODEL = "model"
# Besides the one at the end of each epoch, so that a long epoch is not lost to a power cut.
CHECKPOINT_SECONDS = 300.0
# By then lazily made objects (autograd, optimiser state) exist and need not be walked at each garbage collection.
WARM_STEPS = 2


def run(
    run_folder: Path,
    cache_folder: Path,
    *,
    launcher: str,
    resume: bool = False,
    host_stops: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Train what `run_folder/project.json` says, until it is done, stopped, or cannot go on.

    Everything is told by events in the run folder. With `resume` it goes on from the newest whole checkpoint. It stops
    when a command in the run folder says so, or `host_stops`.

    Raises:
        OSError: the record of the run could not be written, or not to its end.
    """
    with Session(run_folder, launcher, resume=resume, host_stops=host_stops) as session:
        outcome: Outcome = "failed"
        reason = ""
        try:
            _phases(session, cache_folder, resume)
            outcome = "finished"
        except (Stopped, Cancelled):
            outcome = "stopped"
        except (Trouble, Refused) as trouble:
            reason = trouble.problem.code
            session.refused(trouble.problem)
        except Exception as error:  # noqa: BLE001 - whatever it is, the run's record must say so
            reason = type(error).__name__
            session.failed(error)
        finally:
            gc.unfreeze()
        session.ended(outcome, reason)
        return outcome


def _phases(session: Session, cache_folder: Path, resume: bool) -> None:
    project = _project(session.run_folder)
    session.use(choose_device(project.recipe.device))
    found = checkpoints.latest(session.run_folder) if resume else checkpoints.Latest()
    resumed = found.checkpoint.step if found.checkpoint else 0
    session.started(project, resumed_step=resumed)
    if resume:
        _tell_of_checkpoints(session, found)
    prepared = prepare(project, cache_folder, session)
    with prepared.cache, assembled(session, prepared, found.checkpoint) as ready:
        try:
            session.enter("train")
            _train(ready)
        except Stopped:
            _keep_stopped(ready)
            raise
        _finish(ready)


def _project(run_folder: Path) -> Project:
    try:
        return load_project(run_folder / PROJECT)
    except ProjectUnreadable as error:
        raise Trouble(Problem("project_unreadable", place=PROJECT, facts=FrozenMap(reason=str(error)))) from None


def _tell_of_checkpoints(session: Session, found: checkpoints.Latest) -> None:
    if found.damaged:
        step = found.checkpoint.step if found.checkpoint else 0
        facts: FrozenMap[Value] = FrozenMap(count=len(found.damaged), step=step)
        session.warn(Problem("checkpoint_damaged", Severity.WARNING, facts=facts, files=found.damaged))
    if found.checkpoint is None:
        session.warn(Problem("checkpoint_missing", Severity.WARNING))


def _train(run: Run) -> None:
    """Epoch after epoch, from where the learner is."""
    session, position = run.session, run.learner.position
    clock = StepClock(partial(synchronise, session.device))
    while position.epoch < run.project.recipe.epochs:
        began, pictures_before = time.monotonic(), session.trained_pictures
        session.place.epoch, session.place.phase = position.epoch + 1, "train"
        run.net.train()
        session.emitter.pace_from_here()
        began += _train_epoch(run, clock)
        seconds = time.monotonic() - began
        session.training_seconds += seconds
        pace = (session.trained_pictures - pictures_before) / max(seconds, 1e-6)
        is_best = _end_epoch(run, began, pace)
        _save_checkpoint(run, is_best=is_best)
    run.writer.wait()


def _train_epoch(run: Run, clock: StepClock) -> float:
    """The loop over batches; returns the seconds that were spent in pauses."""
    session, learner, net = run.session, run.learner, run.net
    position, optimiser, place = learner.position, learner.optimiser, run.session.place
    paused_seconds, saved_at = 0.0, time.monotonic()
    save = partial(_save_checkpoint, run)
    clock.begin(position.step + 1)
    with closing(run.training.of_epoch(position.epoch, position.batch)) as batches:
        for batch in batches:
            clock.lap("data")
            paused_seconds += session.obey(save)
            clock.skip()

            place.part = "transfer"
            pictures = batch.pictures.to(session.device, non_blocking=True)
            labels = batch.labels.to(session.device, non_blocking=True)
            lesson = run.augmenter.lesson(pictures, labels, position.epoch, position.batch)
            inputs = run.normaliser(lesson.pictures)
            clock.lap("transfer")

            place.part = "forward"
            logits = net(inputs)
            loss = loss_of(logits, lesson.targets, run.class_weights)
            clock.lap("forward")
            saved_in_graph = _look_at_graph(run, loss, inputs, lesson.targets)
            clock.skip()

            place.part = "backward"
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            right = (logits.detach().argmax(1) == lesson.labels).sum()
            # One transfer for all three: on a GPU, asking for a number waits for it.
            figures = torch.stack((loss.detach(), right.float(), gradient_norm(net.parameters()).float()))
            loss_value, right_count, norm = figures.tolist()
            clock.lap("backward")
            _refuse_non_finite(run, batch, loss_value, norm)

            place.part = "optimiser"
            optimiser.step()
            clock.lap("optimiser")

            position.count(loss_value, int(right_count), len(batch.labels))
            _tell_step(run, clock, loss_value, right_count / len(batch.labels), len(batch.labels))
            if saved_in_graph is not None:
                count = partial(
                    tensors.census, net, optimiser, (batch.pictures, inputs, lesson.targets), saved_in_graph
                )
                run.session.sampler.with_census(position.step, position.epoch + 1, count)
            if session.steps_done == WARM_STEPS:
                gc.collect()
                gc.freeze()
            if time.monotonic() - saved_at > CHECKPOINT_SECONDS:
                save()
                saved_at = time.monotonic()
            place.part = "data"
            clock.begin(position.step + 1)
    return paused_seconds


def _look_at_graph(run: Run, loss: torch.Tensor, inputs: torch.Tensor, labels: torch.Tensor) -> tensors.Saved | None:
    """What the graph keeps for the backward pass, on a step whose tensors are counted."""
    # Before the heap is frozen a census would walk all of it.
    if run.session.steps_done < WARM_STEPS or not run.session.sampler.is_census_due:
        return None
    return tensors.graph_saved(loss, (*run.net.parameters(), *run.net.buffers(), inputs, labels))


def _refuse_non_finite(run: Run, batch: Batch, loss: float, norm: float) -> None:
    """End the run before the optimiser writes what is not a number into the weights."""
    if math.isfinite(loss) and math.isfinite(norm):
        return
    facts: FrozenMap[Value] = FrozenMap(
        loss=loss,
        gradient_norm=norm,
        failing_step=run.learner.position.step + 1,
        learning_rate=run.learner.learning_rate,
        count=len(batch.labels),
    )
    code = "gradient_not_finite" if math.isfinite(loss) else "loss_not_finite"
    raise Trouble(Problem(code, facts=facts, files=run.prepared.paths(batch.places)))


def _tell_step(run: Run, clock: StepClock, loss: float, accuracy: float, pictures: int) -> None:
    session, position = run.session, run.learner.position
    session.place.step = position.step
    session.steps_done += 1
    session.trained_pictures += pictures
    waits = clock.end()
    if waits is not None:
        session.emitter.measured_waits(waits)
    rate = run.learner.learning_rate
    session.emitter.stepped(
        position.step, position.epoch + 1, loss=loss, accuracy=accuracy, pictures=pictures, learning_rate=rate
    )
    run.session.sampler.at_step(position.step, position.epoch + 1)


def _end_epoch(run: Run, began: float, pace: float) -> bool:
    """Validate, say so, and go on to the next epoch; whether this was the best one so far."""
    position, session = run.learner.position, run.session
    validation: Metrics | None = None
    if len(run.validation):
        stop_asked = session.stop_asked
        validation = evaluate(run.net, run.validation, run.normaliser, run.class_count, stop_asked=stop_asked).metrics
    is_best = validation is not None and position.is_best(validation)
    session.best_accuracy = position.best_accuracy
    now, seconds = session.emitter.now, time.monotonic() - began
    session.emitter.emit(
        EpochEnded(now, position.epoch + 1, position.step, position.train_metrics, validation, seconds, pace)
    )
    position.begin_next_epoch()
    return is_best


def _save_checkpoint(run: Run, *, is_best: bool = False) -> None:
    run.writer.save(run.learner.captured(run.facts), is_best=is_best)


def _keep_stopped(run: Run) -> None:
    """What a stopped run leaves: a checkpoint at its last step, and the best model so far."""
    if run.learner.position.step == 0:
        return
    _save_checkpoint(run)
    run.writer.wait()
    _save_model(run)


def _finish(run: Run) -> None:
    """Evaluate what is kept, and keep it; a Stop leaves out only the evaluation."""
    session = run.session
    try:
        session.enter("evaluate")
        _take_best(run)
        if len(run.validation):
            evaluation = evaluate(
                run.net,
                run.validation,
                run.normaliser,
                run.class_count,
                stop_asked=session.stop_asked,
                progress=session.progress,
            )
            now = session.emitter.now
            session.emitter.emit(Evaluated(now, "validation", evaluation.metrics, evaluation.confusion))
    except Stopped:
        _save_model(run)
        raise
    _save_model(run)


def _take_best(run: Run) -> bool:
    """Put the weights of the best epoch in; whether they are in (they may be already)."""
    position = run.learner.position
    if position.best_step is None or position.best_step == position.step:
        return position.best_step is not None
    best = checkpoints.best(run.session.run_folder)
    if best is None or best.step != position.best_step:
        return False
    run.learner.load_weights(best)
    return True


def _save_model(run: Run) -> None:
    session = run.session
    session.place.phase = "save"
    position = run.learner.position
    has_best = _take_best(run)
    if position.best_step is not None and not has_best:
        facts: FrozenMap[Value] = FrozenMap(best_step=position.best_step, step=position.step)
        session.warn(Problem("best_not_kept", Severity.WARNING, facts=facts))
    accuracy = position.best_accuracy if has_best else None
    about = {"validation_accuracy": accuracy, "name": run.project.name, "run": session.run_folder.name}
    try:
        save_model(
            session.run_folder / MODEL,
            run.net,
            network=run.project.network,
            preprocessing=run.project.preprocessing,
            labels=run.project.data.classes,
            facts=about,
        )
    except OSError as error:
        reason: FrozenMap[Value] = FrozenMap(reason=error.strerror or str(error))
        raise Trouble(Problem("model_not_saved", place=MODEL, facts=reason)) from None
    session.emitter.emit(ModelSaved(session.emitter.now, MODEL, accuracy))
