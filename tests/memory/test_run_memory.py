from __future__ import annotations

import pytest

from studio.core.events import (
    Ended,
    Event,
    GpuMemory,
    HostMemory,
    MemorySampled,
    RoleTotal,
    Started,
    Stepped,
)
from studio.core.frozen import FrozenMap
from studio.core.runstate import RunState
from studio.core.series import Series
from studio.memory import host
from studio.memory.forecast import forecast_check
from studio.memory.growth import Growth
from studio.memory.host import HostVerdict, host_verdict, seconds_per_step
from studio.memory.timeline import ROLES, difference, role_explanation, role_label, timeline
from tests.memory.curves import EPOCH, MIB, STEPS, Curve, creeping_allocator, leak, level, sawtooth, warm_up


def _started(forecast_bytes: int | None = 100 * MIB) -> Started:
    return Started(
        1000.0, "a", "process", 1, 1.0, "cpu", "A processor", 1, FrozenMap(), 0, ("a", "b"), 10, 5, 2, EPOCH,
        STEPS // EPOCH, 10, forecast_bytes,
    )  # fmt: skip


def _state(resident: Curve, live: Curve | None, seconds_per_step: float = 0.1) -> RunState:
    """A run whose counters follow these curves."""
    state = RunState().after(_started())
    for step in range(1, STEPS):
        now = 1000.0 + step * seconds_per_step
        native = None if live is None else int(live(step))
        host = HostMemory(int(resident(step)), native, 0, 1000)
        state = state.after(Stepped(now, step, 1 + step // EPOCH, (0.5,), (0.5,), 1e-3, 100.0))
        state = state.after(MemorySampled(now, step, 1 + step // EPOCH, host))
    return state


def _verdict(resident: Curve, live: Curve | None) -> HostVerdict:
    return host_verdict(_state(resident, live))


def test_that_a_level_run_is_called_level() -> None:
    assert _verdict(level, level).kind == "level"
    assert _verdict(sawtooth, sawtooth).kind == "level"


def test_that_growth_is_told_with_bytes_per_step_and_epoch_and_without_a_cause() -> None:
    verdict = _verdict(leak, leak)
    assert verdict.kind == "growing"
    assert verdict.bytes_per_step == pytest.approx(0.5 * MIB, rel=0.05)
    assert verdict.bytes_per_epoch == pytest.approx(EPOCH * 0.5 * MIB, rel=0.05)
    assert "not attributed" in verdict.sentence
    assert verdict.evidence


def test_that_an_allocator_that_keeps_memory_is_not_called_a_leak() -> None:
    verdict = _verdict(leak, level)
    assert verdict.kind == "kept"
    assert verdict.bytes_per_step == 0.0


def test_that_warm_up_and_creeping_are_not_growth() -> None:
    for curve in (warm_up, creeping_allocator):
        assert _verdict(curve, curve).kind in {"settling", "level"}


def test_that_resident_memory_decides_where_the_allocator_cannot_be_asked() -> None:
    assert _verdict(leak, None).kind == "growing"
    assert _verdict(level, None).kind == "level"


def test_that_a_run_without_training_is_not_judged() -> None:
    assert host_verdict(RunState()).kind == "too_short"
    assert host_verdict(RunState().after(_started())).kind == "too_short"


def test_that_the_pace_counts_from_the_beginning_of_training() -> None:
    assert seconds_per_step(_state(level, level, 0.25)) == pytest.approx(0.25, rel=0.01)
    assert seconds_per_step(RunState()) == 0.0


def test_that_the_timeline_stacks_roles_in_their_order_and_leaves_out_what_was_not_sampled() -> None:
    tensors = (RoleTotal("activations", 3, 30), RoleTotal("weights", 1, 10))
    state = RunState().after(_started()).after(MemorySampled(1001.0, 1, 1, HostMemory(100), None, tensors))
    shown = timeline(state)
    assert [layer.id for layer in shown.tensors] == ["weights", "activations"]
    assert [layer.latest_bytes for layer in shown.tensors] == [10, 30]
    assert all(layer.is_stacked for layer in shown.tensors)
    assert [layer.id for layer in shown.host] == ["resident"]
    assert shown.gpu == ()
    assert "A processor" in shown.gpu_sentence


def test_that_a_cards_layers_add_up_to_what_is_reserved() -> None:
    gpu = GpuMemory(60, 100, 70, card_used_bytes=300, card_total_bytes=1000)
    state = RunState().after(_started()).after(MemorySampled(1001.0, 1, 1, HostMemory(100), gpu))
    shown = timeline(state)
    assert shown.gpu_sentence == ""
    assert sum(layer.latest_bytes or 0 for layer in shown.gpu if layer.is_stacked) == 100
    assert [layer.id for layer in shown.gpu] == ["gpu_allocated", "gpu_kept", "gpu_card_used"]


def test_that_a_run_without_memory_says_so() -> None:
    assert timeline(RunState()).gpu_sentence
    assert timeline(RunState()).host == ()


def test_that_curves_of_different_moments_have_no_difference() -> None:
    assert len(difference(Series().extended([1, 2], [5, 5]), Series().extended([1], [2]))) == 0
    assert difference(Series().extended([1], [5]), Series().extended([1], [9])).last == 0.0


def test_that_every_role_has_its_own_words() -> None:
    assert len({role_label(role) for role in ROLES}) == len(ROLES)
    assert all(role_explanation(role) for role in ROLES)


def _ended(peak_bytes: int | None) -> Ended:
    return Ended(1010.0, "finished", peak_bytes=peak_bytes)


@pytest.mark.parametrize(
    ("peak", "words"), [(100 * MIB, "within 0%"), (80 * MIB, "25% too high"), (200 * MIB, "50% too low")]
)
def test_that_forecast_and_measurement_are_compared(peak: int, words: str) -> None:
    found = forecast_check(RunState().after(_started()).after(_ended(peak)))
    assert found is not None
    assert words in found.sentence


def test_that_nothing_is_compared_where_a_figure_is_missing() -> None:
    cases: list[list[Event]] = [[], [_started()], [_started(), _ended(None)], [_started(None), _ended(5)]]
    for events in cases:
        state = RunState()
        for event in events:
            state = state.after(event)
        assert forecast_check(state) is None


def test_that_a_single_stretch_is_not_told_as_many() -> None:
    one = host._rise_text("Memory", Growth("too_short", windows=((0.0, 1024.0),)))
    assert one == "Memory: lowest point 1.0 KiB."
    two = host._rise_text("Memory", Growth("level", windows=((0.0, 1024.0), (1.0, 2048.0))))
    assert two == "Memory: lowest points from 1.0 KiB to 2.0 KiB over 2 stretches of the run."
