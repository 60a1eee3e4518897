from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.memory.growth import judge, lower_envelope
from tests.memory.curves import BOUNDED, GROWING, MIB, STEPS, Curve, leak, leak_by_epoch, sampled, warm_up


@pytest.mark.parametrize("curve", GROWING, ids=lambda curve: curve.__name__)
@pytest.mark.parametrize("noise_bytes", [0.0, 10 * MIB])
def test_that_endless_growth_is_seen(curve: Curve, noise_bytes: float) -> None:
    assert judge(*sampled(curve, noise_bytes)).kind == "growing"


@pytest.mark.parametrize("curve", BOUNDED, ids=lambda curve: curve.__name__)
@pytest.mark.parametrize("noise_bytes", [0.0, 2 * MIB, 50 * MIB])
def test_that_bounded_memory_is_never_accused(curve: Curve, noise_bytes: float) -> None:
    for seed in range(5):
        assert judge(*sampled(curve, noise_bytes, seed)).kind != "growing"


def test_that_the_slope_is_bytes_per_step() -> None:
    assert judge(*sampled(leak)).slope == pytest.approx(0.5 * MIB, rel=0.01)
    assert judge(*sampled(leak_by_epoch)).slope == pytest.approx(0.4 * MIB, rel=0.1)


def test_that_a_warm_up_settles() -> None:
    assert judge(*sampled(warm_up)).kind in {"settling", "level"}


def test_that_too_few_samples_give_no_judgement() -> None:
    assert judge([], []).kind == "too_short"
    assert judge([1.0, 1.0], [5.0, 6.0]).kind == "too_short"
    assert judge([float(n) for n in range(20)], [float(n) * MIB for n in range(20)]).kind == "too_short"


def test_that_growth_too_small_for_an_allocator_to_tell_is_level() -> None:
    xs = [float(n) for n in range(STEPS)]
    assert judge(xs, [500 * MIB + 100 * x for x in xs]).kind == "level"


def test_that_the_envelope_is_the_lowest_point_of_each_window_after_the_warm_up() -> None:
    xs, values = [float(n) for n in range(100)], [float(n % 7) for n in range(100)]
    windows = lower_envelope(xs, values)
    assert len(windows) == 12
    assert all(low <= 1.0 for _x, low in windows)
    assert min(x for x, _low in windows) >= 0.2 * 99


@given(
    st.lists(st.floats(0, 1e12), min_size=2, max_size=200),
    st.floats(1e3, 1e6),
)
def test_that_the_judgement_does_not_depend_on_where_time_begins(values: list[float], shift: float) -> None:
    xs = [float(n) for n in range(len(values))]
    moved = [x + round(shift) for x in xs]
    assert judge(xs, values).kind == judge(moved, values).kind


@given(st.integers(0, 40), st.floats(1e6, 1e10))
def test_that_a_constant_is_never_growth(count: int, value: float) -> None:
    assert judge([float(n) for n in range(count)], [value] * count).kind in {"level", "too_short"}
