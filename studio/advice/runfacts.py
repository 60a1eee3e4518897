"""What advice needs to know about a run, as one value made from its reduced events."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from studio.advice.hint import Facts
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.runstate import RunState

_KEPT_LOSSES = 1_000
_FIRST_LOSSES = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that ended a run. `facts` are the numbers that the engine knew: `asked_bytes`, shapes, the step."""

    kind: str
    message: str
    trace: str = ""
    facts: Facts = FrozenMap()

    def as_text(self) -> str:
        """The trace with the exception's last line at its end, as Python would have printed it."""
        last = f"{self.kind}: {self.message}" if self.kind else self.message
        return self.trace if last and last in self.trace else f"{self.trace}\n{last}".lstrip("\n")


@dataclass(frozen=True, slots=True)
class EpochFacts:
    """The measured values of one whole epoch; None where they were not measured. Accuracies are 0 to 1."""

    train_loss: float | None = None
    validation_loss: float | None = None
    train_accuracy: float | None = None
    validation_accuracy: float | None = None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run so far.

    Attributes:
        steps: how many were made.
        losses: training loss of the latest steps, oldest first.
        first_losses: training loss of the first few steps, oldest first.
        epochs: oldest first.
        class_count, train_count: classes and training pictures; 0 where unknown.
        learning_rate: now, with any schedule; 0 where unknown.
    """

    steps: int = 0
    losses: tuple[float, ...] = ()
    first_losses: tuple[float, ...] = ()
    epochs: tuple[EpochFacts, ...] = ()
    class_count: int = 0
    train_count: int = 0
    batch_size: int = 0
    learning_rate: float = 0.0
    failure: Failure | None = None
    warned: tuple[Problem, ...] = ()
    device: str = ""
    gpu_free_bytes: int | None = None
    gpu_total_bytes: int | None = None
    memory_available_bytes: int | None = None
    memory_total_bytes: int | None = None


def run_facts(state: RunState, project: Project) -> RunFacts:
    """The facts of a run so far; `project` is the one that it runs."""
    losses = state.losses.since(max(0, len(state.losses) - _KEPT_LOSSES))[1]
    started, sample = state.started, state.memory.latest
    gpu, host = (sample.gpu, sample.host) if sample else (None, None)
    free = None
    if gpu and gpu.card_total_bytes is not None and gpu.card_used_bytes is not None:
        free = gpu.card_total_bytes - gpu.card_used_bytes
    rate = state.learning_rates.last
    failed = state.failed
    return RunFacts(
        steps=state.step,
        losses=tuple(losses),
        first_losses=tuple(islice((loss for _, loss in state.losses), _FIRST_LOSSES)),
        epochs=tuple(
            EpochFacts(
                epoch.train.loss,
                epoch.validation.loss if epoch.validation else None,
                epoch.train.accuracy,
                epoch.validation.accuracy if epoch.validation else None,
            )
            for epoch in state.epochs
        ),
        class_count=len(started.classes) if started else project.class_count,
        train_count=started.train_count if started else 0,
        batch_size=started.batch_size if started else project.recipe.batch_size,
        learning_rate=project.recipe.learning_rate if rate is None else rate,
        failure=Failure(failed.kind, failed.message, failed.trace, failed.facts) if failed else None,
        warned=state.warnings,
        device=started.device if started else "",
        gpu_free_bytes=free,
        gpu_total_bytes=gpu.card_total_bytes if gpu else None,
        memory_available_bytes=host.available_bytes if host else None,
        memory_total_bytes=host.total_bytes if host else None,
    )
