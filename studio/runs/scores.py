"""What a confusion matrix says: precision, recall and F1 of each class, and which classes are mixed up most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Confusion = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class ClassScore:
    """One class. `count` pictures are of it, `predicted` were taken for it, `right` are both.

    `precision` is right / predicted, `recall` right / count, `f1` their harmonic mean; None where it is 0 / 0.
    """

    label: str
    count: int
    predicted: int
    right: int

    @property
    def precision(self) -> float | None:
        return self.right / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        return self.right / self.count if self.count else None

    @property
    def f1(self) -> float | None:
        seen = self.count + self.predicted
        return 2 * self.right / seen if seen else None


@dataclass(frozen=True, slots=True)
class MixUp:
    """`count` pictures of class number `true` were taken for class number `predicted`."""

    true: int
    predicted: int
    count: int


def class_scores(labels: Sequence[str], confusion: Confusion) -> tuple[ClassScore, ...]:
    """The scores of each class; `confusion[true][predicted]` counts, in the order of `labels`.

    >>> class_scores(["cat", "dog"], [[3, 1], [0, 4]])[0].recall
    0.75
    """
    predicted = [sum(column) for column in zip(*confusion, strict=True)]
    rows = zip(labels, confusion, predicted, strict=True)
    return tuple(ClassScore(label, sum(row), taken, row[n]) for n, (label, row, taken) in enumerate(rows))


def macro_f1(scores: Sequence[ClassScore]) -> float | None:
    """The mean F1 over the classes that have pictures, each class counting the same; None where there are none."""
    values = [score.f1 or 0.0 for score in scores if score.count]
    return sum(values) / len(values) if values else None


def most_mixed_up(confusion: Confusion, most: int) -> tuple[MixUp, ...]:
    """The commonest mistakes, most frequent first; at most `most`."""
    wrong = (
        MixUp(true, predicted, count)
        for true, row in enumerate(confusion)
        for predicted, count in enumerate(row)
        if count and true != predicted
    )
    return tuple(sorted(wrong, key=lambda one: (-one.count, one.true, one.predicted))[:most])
