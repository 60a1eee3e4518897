"""What is known of a run after the events so far: the one reducer for live runs, replay, tests and the terminal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

from studio.core.events import (
    Beat,
    CheckpointSaved,
    Ended,
    EpochEnded,
    Evaluated,
    Event,
    Failed,
    LeaksFound,
    MemorySampled,
    ModelSaved,
    Paused,
    Phase,
    Progressed,
    Resumed,
    RoleTotal,
    Started,
    Stepped,
    Unknown,
    Warned,
)
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.series import Series


@dataclass(frozen=True, slots=True)
class MemoryCurves:
    """Memory over time, in bytes; x is `RunState.seconds` at each sample. `latest` is the newest sample."""

    resident: Series = field(default_factory=Series)
    native_live: Series = field(default_factory=Series)
    python_blocks: Series = field(default_factory=Series)
    gpu_allocated: Series = field(default_factory=Series)
    gpu_reserved: Series = field(default_factory=Series)
    gpu_card_used: Series = field(default_factory=Series)
    tensor_bytes: FrozenMap[Series] = FrozenMap()
    tensors: tuple[RoleTotal, ...] = ()
    latest: MemorySampled | None = None

    def after(self, sample: MemorySampled, seconds: float) -> MemoryCurves:
        def grown(series: Series, value: float | None) -> Series:
            return series if value is None else series.extended([seconds], [value])

        by_role = self.tensor_bytes
        for total in sample.tensors:
            by_role = by_role.with_items(**{total.role: grown(by_role.get(total.role, Series()), total.bytes)})
        gpu = sample.gpu
        return MemoryCurves(
            resident=grown(self.resident, sample.host.resident_bytes),
            native_live=grown(self.native_live, sample.host.native_live_bytes),
            python_blocks=grown(self.python_blocks, sample.host.python_blocks),
            gpu_allocated=grown(self.gpu_allocated, gpu.allocated_bytes if gpu else None),
            gpu_reserved=grown(self.gpu_reserved, gpu.reserved_bytes if gpu else None),
            gpu_card_used=grown(self.gpu_card_used, gpu.card_used_bytes if gpu else None),
            tensor_bytes=by_role,
            tensors=sample.tensors or self.tensors,
            latest=sample,
        )


@dataclass(frozen=True, slots=True)
class EpochMark:
    """Where an epoch ended: for the marks in plots over steps and over time."""

    epoch: int
    step: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything that the screen and the terminal show of a run.

    Curves over steps: `losses`, `accuracies`, `learning_rates`. Validation is a point per epoch, in `epochs`.
    `quiet_since` is not kept here: compare `last_time` with the clock. `paused_seconds` are the pauses of the present
    session, `paused_before_seconds` those of the sessions before it was resumed.
    """

    started: Started | None = None
    first_time: float | None = None
    last_time: float = 0.0
    away_seconds: float = 0.0
    phase: Phase = "prepare"
    phase_done: int = 0
    phase_total: int | None = None
    step: int = 0
    epoch: int = 0
    losses: Series = field(default_factory=Series)
    accuracies: Series = field(default_factory=Series)
    learning_rates: Series = field(default_factory=Series)
    images_per_second: float = 0.0
    waits: FrozenMap[float] = FrozenMap()
    epochs: tuple[EpochEnded, ...] = ()
    marks: tuple[EpochMark, ...] = ()
    memory: MemoryCurves = MemoryCurves()
    checkpoints: tuple[CheckpointSaved, ...] = ()
    model: ModelSaved | None = None
    evaluated: Evaluated | None = None
    leaks: tuple[LeaksFound, ...] = ()
    warnings: tuple[Problem, ...] = ()
    failed: Failed | None = None
    is_paused: bool = False
    paused_seconds: float = 0.0
    paused_before_seconds: float = 0.0
    paused_since: float | None = None
    train_started: float | None = None
    ended: Ended | None = None
    unknown_count: int = 0

    def after(self, event: Event) -> RunState:
        """The state once `event` has happened."""
        state = self._timed(event)
        match event:
            case Started():
                return self._session_over()._timed(event)._after_start(event, self._away_before(event))
            case Progressed(phase=phase, done=done, total=total):
                return replace(state, phase=phase, phase_done=done, phase_total=total)
            case Stepped():
                return state._after_steps(event)
            case EpochEnded():
                mark = EpochMark(event.epoch, event.step, state.seconds)
                return replace(state, epochs=(*state.epochs, event), marks=(*state.marks, mark), epoch=event.epoch)
            case Evaluated():
                return replace(state, evaluated=event)
            case MemorySampled():
                return replace(state, memory=state.memory.after(event, state.seconds))
            case LeaksFound():
                return replace(state, leaks=(*state.leaks, event))
            case CheckpointSaved():
                return replace(state, checkpoints=(*state.checkpoints, event))
            case ModelSaved():
                return replace(state, model=event)
            case Paused(time=time):
                return replace(state, is_paused=True, paused_since=time)
            case Resumed():
                return state._unpaused(event.time)
            case Warned(problem=problem):
                return replace(state, warnings=(*state.warnings, problem))
            case Failed():
                return replace(state, failed=event)
            case Ended(time=time):
                return replace(state._unpaused(time), ended=event)
            case Beat():
                return state
            case Unknown():
                return replace(state, unknown_count=state.unknown_count + 1)
        assert_never(event)

    def _timed(self, event: Event) -> RunState:
        first = event.time if self.first_time is None and event.time else self.first_time
        return replace(self, first_time=first, last_time=max(self.last_time, event.time))

    def _away_before(self, event: Started) -> float:
        """Seconds in which nothing ran, where `event` goes on with a run of an earlier session."""
        before = self.started
        if before is None:
            return 0.0
        same_host = (before.pid, before.process_started) == (event.pid, event.process_started)
        return 0.0 if same_host and self.ended is None else max(0.0, event.time - self.last_time)

    def _session_over(self) -> RunState:
        """Pauses so far, also one from which nobody came back, belong to an earlier session from now on."""
        state = self._unpaused(self.last_time)
        paused = state.paused_before_seconds + state.paused_seconds
        return replace(state, paused_before_seconds=paused, paused_seconds=0.0)

    def _after_start(self, event: Started, away: float) -> RunState:
        """A new start, or a resumption: what came after the checkpoint is done anew, so its curves are cut."""
        step = event.resumed_step
        return replace(
            self,
            started=event,
            away_seconds=self.away_seconds + away,
            step=step,
            losses=self.losses.cut_after(step),
            accuracies=self.accuracies.cut_after(step),
            learning_rates=self.learning_rates.cut_after(step),
            epochs=tuple(e for e in self.epochs if e.step <= step),
            marks=tuple(m for m in self.marks if m.step <= step),
            failed=None,
            ended=None,
            model=None,
            evaluated=None,
            train_started=None,
        )

    def _after_steps(self, event: Stepped) -> RunState:
        first = event.step - len(event.losses) + 1
        steps = range(first, event.step + 1)
        return replace(
            self,
            phase="train",
            step=event.step,
            epoch=event.epoch,
            losses=self.losses.extended(steps, event.losses),
            accuracies=self.accuracies.extended(steps, event.accuracies),
            learning_rates=self.learning_rates.extended([event.step], [event.learning_rate]),
            images_per_second=event.images_per_second,
            waits=event.waits or self.waits,
            train_started=self.train_started if self.train_started is not None else event.time,
        )

    def _unpaused(self, time: float) -> RunState:
        waited = max(0.0, time - self.paused_since) if self.paused_since is not None else 0.0
        return replace(self, is_paused=False, paused_since=None, paused_seconds=self.paused_seconds + waited)

    @property
    def seconds(self) -> float:
        """From the first event to the newest, without the time between a run's end and its resumption."""
        return self.seconds_at(self.last_time)

    @property
    def active_seconds(self) -> float:
        """How long the run has worked, over all its sessions: neither pauses nor the time in which nothing ran."""
        pausing = self.last_time - self.paused_since if self.paused_since is not None else 0.0
        return max(0.0, self.seconds - self.paused_before_seconds - self.paused_seconds - pausing)

    def seconds_at(self, time: float) -> float:
        """Where a moment of the present session (seconds since the epoch) lies in the run: the x of its curves."""
        return time - self.first_time - self.away_seconds if self.first_time is not None else 0.0

    @property
    def is_running(self) -> bool:
        return self.first_time is not None and self.ended is None

    @property
    def total_steps(self) -> int:
        return self.started.steps_per_epoch * self.started.epochs if self.started else 0

    @property
    def epoch_loss(self) -> float | None:
        """The training loss as one number: the mean of the last whole epoch; in the first one, that of the newest
        step."""
        return self.epochs[-1].train.loss if self.epochs else self.losses.last

    @property
    def pace(self) -> float:
        """Pictures a second: of late while it goes on, the mean of an ended session."""
        return (self.ended.images_per_second if self.ended else 0.0) or self.images_per_second

    @property
    def best_validation_accuracy(self) -> float | None:
        """The best of all epochs; None before the first validation."""
        values = [e.validation.accuracy for e in self.epochs if e.validation]
        return max(values) if values else None

    @property
    def seconds_left(self) -> float | None:
        """Time left at the mean pace since training began, pauses taken out; None while it cannot be told."""
        if self.started is None or self.ended or self.train_started is None:
            return None
        done = self.step - self.started.resumed_step
        pausing = self.last_time - self.paused_since if self.paused_since is not None else 0.0
        elapsed = self.last_time - self.train_started - self.paused_seconds - pausing
        if done < 2 or elapsed <= 0:
            return None
        return elapsed / done * max(0, self.total_steps - self.step)
