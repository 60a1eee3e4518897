"""Rules over a run's numbers: each returns what it saw, or None. A healthy run gives None from all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from studio.advice.hint import Facts
from studio.advice.runfacts import EpochFacts, RunFacts
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.registry import Registry

Rule = Callable[[RunFacts], Facts | None]

# A network that outputs the same probability for every class has a cross entropy of exactly ln C. The band is the
# 0.02 nats of the knowledge base's source, 2 % of ln C at three classes, as a share so that it holds for any C.
STUCK_BAND = 0.02
STUCK_EPOCHS = 2
STUCK_STEPS = 200
STUCK_WINDOW = 100
# Chance is 1/C; a run that already beats it by half is learning, slowly.
STUCK_ACCURACY_TIMES = 1.5
# A well-set run stays below its first loss but for the noise of single batches, so the median of ten steps above three
# times the median of the first ten is a divergence, not noise.
JUMP_TIMES = 3.0
JUMP_WINDOW = 10
# After Prechelt, "Early stopping - but when?" (1998): rising for three epochs is his UP criterion with s = 3; the
# generalisation loss GL = E / E_best - 1 is asked to be 10 %, twice his largest threshold, to say nothing about zigzag.
OVERFIT_EPOCHS = 3
OVERFIT_RISE = 0.10


def non_finite_loss(run: RunFacts) -> Facts | None:
    """A training loss that is NaN or infinite; says in which of the kept steps."""
    place = next((n for n, loss in enumerate(run.losses) if not math.isfinite(loss)), None)
    if place is not None:
        step = max(1, run.steps - len(run.losses) + place + 1)
        return FrozenMap({"step": step, "learning_rate": run.learning_rate, "loss": str(run.losses[place])})
    for epoch, facts in enumerate(run.epochs, start=1):
        if facts.train_loss is not None and not math.isfinite(facts.train_loss):
            found: dict[str, Value] = {
                "epoch": epoch,
                "learning_rate": run.learning_rate,
                "loss": str(facts.train_loss),
            }
            return FrozenMap(found)
    return None


def loss_stuck_at_chance(run: RunFacts) -> Facts | None:
    """The mean loss stays within 2 % of ln C and the accuracy is that of guessing, after 2 epochs or 200 steps."""
    if run.class_count < 2 or (len(run.epochs) < STUCK_EPOCHS and run.steps < STUCK_STEPS):
        return None
    chance = math.log(run.class_count)
    last = run.epochs[-1] if run.epochs else EpochFacts()
    recent = run.losses[-STUCK_WINDOW:]
    mean = last.train_loss
    if len(run.epochs) < STUCK_EPOCHS:
        mean = sum(recent) / len(recent) if len(recent) == STUCK_WINDOW else None
    if mean is None or not math.isfinite(mean) or abs(mean - chance) > STUCK_BAND * chance:
        return None
    accuracy = last.validation_accuracy if last.validation_accuracy is not None else last.train_accuracy
    if accuracy is not None and accuracy > STUCK_ACCURACY_TIMES / run.class_count:
        return None
    seen: dict[str, float | int | str] = {
        "loss": round(mean, 4),
        "chance_loss": round(chance, 4),
        "class_count": run.class_count,
        "learning_rate": run.learning_rate,
        "steps": run.steps,
    }
    if accuracy is not None:
        seen |= {"accuracy_percent": round(100 * accuracy, 1), "chance_percent": round(100 / run.class_count, 1)}
    return FrozenMap(seen)


def loss_jumped(run: RunFacts) -> Facts | None:
    """The median loss of the latest steps is more than three times that of the first ones."""
    if len(run.first_losses) < JUMP_WINDOW or len(run.losses) < JUMP_WINDOW or run.steps < 2 * JUMP_WINDOW:
        return None
    first, now = _median(run.first_losses[:JUMP_WINDOW]), _median(run.losses[-JUMP_WINDOW:])
    if not math.isfinite(now) or not math.isfinite(first) or first <= 0 or now <= JUMP_TIMES * first:
        return None
    seen = {"loss": round(now, 4), "first_loss": round(first, 4), "learning_rate": run.learning_rate}
    return FrozenMap(seen)


def overfitting(run: RunFacts) -> Facts | None:
    """Validation loss has risen by 10 % above its best for three epochs while training loss went on falling."""
    known = [
        (n, epoch.train_loss, epoch.validation_loss)
        for n, epoch in enumerate(run.epochs, start=1)
        if epoch.train_loss is not None and epoch.validation_loss is not None
    ]
    if len(known) <= OVERFIT_EPOCHS or not all(math.isfinite(a) and math.isfinite(b) for _, a, b in known):
        return None
    best_epoch, train_at_best, best = min(known, key=lambda entry: entry[2])
    after = [entry for entry in known if entry[0] > best_epoch]
    last = known[-1]
    rising = len(after) >= OVERFIT_EPOCHS and all(
        validation > best * (1 + OVERFIT_RISE) for _, _, validation in after[-OVERFIT_EPOCHS:]
    )
    if not rising or last[1] >= train_at_best:
        return None
    return FrozenMap(
        {
            "best_epoch": best_epoch,
            "epoch": last[0],
            "best_validation_loss": round(best, 4),
            "validation_loss": round(last[2], 4),
            "train_loss": round(last[1], 4),
        }
    )


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


RULES: Registry[Rule] = Registry(
    "rule",
    {
        "non_finite_loss": non_finite_loss,
        "loss_stuck_at_chance": loss_stuck_at_chance,
        "loss_jumped": loss_jumped,
        "overfitting": overfitting,
    },
)
