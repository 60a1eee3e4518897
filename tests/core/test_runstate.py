"""The reducer: what is known of a run after its events, also when a run is resumed."""

from __future__ import annotations

from studio.core.events import (
    Beat,
    Ended,
    EpochEnded,
    HostMemory,
    MemorySampled,
    Metrics,
    Paused,
    Resumed,
    RoleTotal,
    Started,
    Stepped,
    Unknown,
)
from studio.core.frozen import FrozenMap
from studio.core.runstate import RunState
from studio.core.series import Series


def started(resumed_step: int = 0, time: float = 100.0) -> Started:
    return Started(
        time, "digits", "process", 1, 0.0, "cpu", "CPU", 1, FrozenMap(), 0, ("a", "b"), 80, 20, 8, 10, 3, 50,
        resumed_step=resumed_step,
    )  # fmt: skip


def steps(last: int, count: int, time: float, loss: float = 1.0) -> Stepped:
    return Stepped(time, last, 1 + (last - 1) // 10, (loss,) * count, (0.5,) * count, 1e-3, 100.0)


def test_that_packed_steps_land_at_their_own_numbers() -> None:
    state = RunState().after(started()).after(steps(3, 3, 101.0)).after(steps(5, 2, 102.0))
    assert [x for x, _ in state.losses] == [1, 2, 3, 4, 5]
    assert state.step == 5


def test_that_an_old_state_stays_as_it_was() -> None:
    first = RunState().after(started()).after(steps(3, 3, 101.0))
    later = first.after(steps(5, 2, 102.0))
    branch = first.after(steps(4, 1, 102.0, loss=9.0))
    assert len(first.losses) == 3
    assert later.losses.last == 1.0
    assert branch.losses.last == 9.0
    assert [y for _, y in later.losses] == [1.0] * 5


def test_that_a_resumed_run_forgets_what_came_after_its_checkpoint() -> None:
    state = RunState().after(started()).after(steps(10, 10, 101.0))
    state = state.after(EpochEnded(102.0, 1, 10, Metrics(1, 0.5, 80), Metrics(1, 0.6, 20), 1.0))
    state = state.after(steps(17, 7, 103.0)).after(Ended(104.0, "died", "killed"))
    state = state.after(started(resumed_step=10, time=200.0))
    assert state.ended is None
    assert state.losses.last_x == 10
    assert len(state.epochs) == 1
    state = state.after(steps(12, 2, 201.0))
    assert [x for x, _ in state.losses] == list(range(1, 13))


def test_that_time_left_ignores_pauses() -> None:
    state = RunState().after(started()).after(steps(1, 1, 101.0)).after(steps(10, 9, 110.0))
    assert state.seconds_left is not None
    before = state.seconds_left
    state = state.after(Paused(110.0, 10)).after(Resumed(500.0, 10))
    assert state.seconds_left is not None
    assert abs(state.seconds_left - before) < 1e-9
    assert not state.is_paused


def test_that_time_left_stands_still_during_a_pause() -> None:
    state = RunState().after(started()).after(steps(1, 1, 101.0)).after(steps(10, 9, 110.0)).after(Paused(110.0, 10))
    before = state.seconds_left
    later = state.after(MemorySampled(400.0, 10, 1, HostMemory(5)))
    assert later.seconds_left == before


def test_that_the_best_accuracy_is_that_of_the_best_epoch() -> None:
    state = RunState().after(started())
    for epoch, accuracy in enumerate([0.5, 0.9, 0.7], start=1):
        validation = Metrics(1.0, accuracy, 20)
        state = state.after(EpochEnded(100.0 + epoch, epoch, epoch * 10, Metrics(1, 0.5, 80), validation, 1.0))
    assert state.best_validation_accuracy == 0.9


def test_that_memory_by_role_becomes_curves() -> None:
    sample = MemorySampled(105.0, 5, 1, HostMemory(1000, 800), tensors=(RoleTotal("weights", 4, 400),))
    state = RunState().after(started()).after(sample)
    assert state.memory.tensor_bytes["weights"].last == 400
    assert state.memory.resident.last_x == 5.0
    assert len(state.memory.gpu_allocated) == 0


def test_that_lines_nobody_knows_are_counted_and_change_nothing_else() -> None:
    state = RunState().after(started())
    after = state.after(Unknown(0.0, "Teleported", "{}"))
    assert after.unknown_count == 1
    assert after.started is state.started


def test_that_a_long_curve_is_shared_not_copied() -> None:
    series = Series()
    for number in range(1000):
        series = series.extended([number], [number])
    assert len(series) == 1000
    assert series.since(998)[1].tolist() == [998.0, 999.0]
    assert len(series.cut_after(499)) == 500


def test_that_the_days_before_a_resumption_are_no_part_of_the_run() -> None:
    state = RunState().after(started()).after(steps(10, 10, 110.0)).after(MemorySampled(110.0, 10, 1, HostMemory(5)))
    state = state.after(Ended(112.0, "stopped"))
    state = state.after(started(resumed_step=10, time=100_000.0)).after(started(resumed_step=10, time=100_001.0))
    state = state.after(steps(12, 2, 100_003.0)).after(MemorySampled(100_003.0, 12, 2, HostMemory(6)))
    assert state.seconds == 15.0
    assert [x for x, _ in state.memory.resident] == [10.0, 15.0]
    assert state.seconds_at(100_002.0) == 14.0


def test_that_a_pause_is_no_work() -> None:
    state = RunState().after(started()).after(steps(10, 10, 110.0)).after(Paused(112.0, 10)).after(Beat(150.0))
    assert state.active_seconds == 12.0
    state = state.after(Resumed(160.0, 10)).after(steps(12, 2, 163.0))
    assert state.active_seconds == 15.0
    assert state.seconds == 63.0


def test_that_all_sessions_of_a_resumed_run_are_counted_once() -> None:
    state = RunState().after(started()).after(steps(10, 10, 110.0))
    state = state.after(Paused(110.0, 10)).after(Resumed(120.0, 10)).after(Ended(125.0, "stopped"))
    assert state.active_seconds == 15.0
    state = state.after(started(resumed_step=10, time=9000.0)).after(steps(12, 2, 9004.0))
    assert state.active_seconds == 19.0
    state = (
        state.after(Paused(9004.0, 12)).after(Beat(9010.0)).after(Resumed(9020.0, 12)).after(Ended(9021.0, "finished"))
    )
    assert state.active_seconds == 20.0


def test_that_a_run_that_died_in_a_pause_worked_until_the_pause() -> None:
    state = RunState().after(started()).after(steps(10, 10, 110.0)).after(Paused(110.0, 10)).after(Beat(140.0))
    state = state.after(Ended(140.0, "died", "killed")).after(started(resumed_step=10, time=5000.0))
    state = state.after(steps(12, 2, 5003.0))
    assert not state.is_paused
    assert state.active_seconds == 13.0
