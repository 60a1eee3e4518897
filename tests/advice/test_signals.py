"""Rules over a run's numbers speak for sick runs and are silent for healthy ones."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.advice.runfacts import EpochFacts, RunFacts
from studio.advice.signals import RULES, loss_jumped, loss_stuck_at_chance, non_finite_loss, overfitting


def epochs(*pairs: tuple[float, float], accuracy: float | None = None) -> tuple[EpochFacts, ...]:
    return tuple(EpochFacts(train, validation, accuracy, accuracy) for train, validation in pairs)


def test_that_the_step_of_the_first_nan_is_named() -> None:
    seen = non_finite_loss(RunFacts(steps=50, losses=(0.5, 0.4, math.nan, math.nan), learning_rate=1.0))
    assert seen is not None and (seen["step"], seen["learning_rate"]) == (49, 1.0)


def test_that_an_infinite_epoch_counts_too() -> None:
    seen = non_finite_loss(RunFacts(epochs=epochs((0.5, 0.5), (math.inf, 1.0))))
    assert seen is not None and seen["epoch"] == 2


@pytest.mark.parametrize("classes", [2, 10, 100])
def test_that_guessing_is_noticed_after_two_epochs(classes: int) -> None:
    chance = math.log(classes)
    run = RunFacts(steps=60, epochs=epochs((chance, chance), (1.01 * chance, chance), accuracy=1 / classes),
                   class_count=classes)  # fmt: skip
    seen = loss_stuck_at_chance(run)
    assert seen is not None and seen["class_count"] == classes


def test_that_guessing_is_noticed_after_200_steps_of_a_long_epoch() -> None:
    assert loss_stuck_at_chance(RunFacts(steps=200, losses=(2.31,) * 200, class_count=10)) is not None
    assert loss_stuck_at_chance(RunFacts(steps=199, losses=(2.31,) * 199, class_count=10)) is None


def test_that_a_run_that_beats_chance_is_not_stuck() -> None:
    run = RunFacts(epochs=epochs((2.29, 2.29), (2.28, 2.28), accuracy=0.25), class_count=10)
    assert loss_stuck_at_chance(run) is None


def test_that_a_jump_needs_three_times_the_first_losses() -> None:
    first = (2.0,) * 10
    assert loss_jumped(RunFacts(steps=40, first_losses=first, losses=(6.5,) * 10)) is not None
    assert loss_jumped(RunFacts(steps=40, first_losses=first, losses=(5.5,) * 10)) is None
    # One wild batch is noise.
    assert loss_jumped(RunFacts(steps=40, first_losses=first, losses=(*(1.0,) * 9, 500.0))) is None


def test_that_overfitting_names_the_best_epoch() -> None:
    run = RunFacts(epochs=epochs((1.0, 1.0), (0.6, 0.8), (0.4, 0.95), (0.2, 1.1), (0.1, 1.3)))
    seen = overfitting(run)
    assert seen is not None and (seen["best_epoch"], seen["epoch"]) == (2, 5)


def test_that_a_zigzag_or_a_plateau_is_no_overfitting() -> None:
    assert overfitting(RunFacts(epochs=epochs((1.0, 1.0), (0.6, 0.8), (0.5, 0.9), (0.4, 0.79), (0.3, 0.9)))) is None
    assert overfitting(RunFacts(epochs=epochs((1.0, 1.0), (0.6, 0.8), (0.5, 0.82), (0.4, 0.83), (0.3, 0.84)))) is None
    # Both rise: something else is wrong.
    assert overfitting(RunFacts(epochs=epochs((0.5, 0.8), (0.6, 1.0), (0.7, 1.2), (0.8, 1.4)))) is None


@given(
    classes=st.integers(2, 50),
    pace=st.floats(0.15, 0.6),
    noise=st.lists(st.floats(0.85, 1.15), min_size=12, max_size=12),
)
def test_that_a_falling_loss_gets_no_hint(classes: int, pace: float, noise: list[float]) -> None:
    chance = math.log(classes)
    losses = tuple(chance * math.exp(-pace * n / 10) * noise[n % 12] for n in range(240))
    done = tuple(
        EpochFacts(chance * math.exp(-pace * n), 1.05 * chance * math.exp(-pace * n) * noise[n], 0.9, 0.9)
        for n in range(1, 11)
    )
    run = RunFacts(240, losses, losses[:10], done, classes, 1000, 32, 1e-3)
    assert [name for name, rule in RULES.items() if rule(run) is not None] == []


def test_that_a_run_that_has_not_begun_gets_no_hint() -> None:
    assert [name for name, rule in RULES.items() if rule(RunFacts(class_count=2)) is not None] == []
