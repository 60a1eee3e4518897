"""What was predicted before a run beside what was measured in it."""

from __future__ import annotations

from dataclasses import dataclass

from studio.core.quantities import size_text
from studio.core.runstate import RunState
from studio.core.text import tr

# What a forecast must reach: a tenth of error in the median case.
_GOOD_SHARE = 0.10


@dataclass(frozen=True, slots=True)
class ForecastCheck:
    """Peak memory on the run's device, predicted and measured. `error` is (predicted - actual) / actual."""

    predicted_bytes: int
    actual_bytes: int
    error: float
    sentence: str


def forecast_check(state: RunState) -> ForecastCheck | None:
    """The comparison for a run that has ended; None where either figure is missing."""
    predicted = state.started.forecast_bytes if state.started else None
    actual = state.ended.peak_bytes if state.ended else None
    if predicted is None or not actual:
        return None
    error = (predicted - actual) / actual
    return ForecastCheck(predicted, actual, error, _sentence(predicted, actual, error))


def _sentence(predicted: int, actual: int, error: float) -> str:
    facts = {"predicted": size_text(predicted), "actual": size_text(actual), "percent": round(abs(error) * 100)}
    if abs(error) <= _GOOD_SHARE:
        return tr("Forecast {predicted}, measured {actual}: within {percent}%.", **facts)
    if error > 0:
        return tr("Forecast {predicted}, measured {actual}: {percent}% too high.", **facts)
    return tr("Forecast {predicted}, measured {actual}: {percent}% too low.", **facts)
