"""Classes of unequal size made to count alike: by the weight of each in the loss, or by how often each is drawn."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional


def balanced_weights(labels: NDArray[np.int64], class_count: int) -> tuple[float, ...]:
    """The weight of each class: n / (C n_c), with n pictures in C classes, n_c of them of this one.

    All classes together then count as they would if all had the same size. A class without pictures counts nothing.
    Source: scikit-learn's class_weight="balanced" (sklearn.utils.class_weight.compute_class_weight), after King and
    Zeng, Logistic Regression in Rare Events Data, 2001.
    """
    counts = np.bincount(labels, minlength=class_count)
    present = int((counts > 0).sum())
    return tuple(len(labels) / (present * count) if count else 0.0 for count in counts.tolist())


def loss_of(logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor | None) -> torch.Tensor:
    """Mean cross-entropy of a batch; with `weights` (classes,) the mean weighted by each picture's own.

    Args:
        logits: (N, classes).
        targets: class numbers (N,), or the share of each class (N, classes). A picture of several classes weighs what
            its shares weigh together, so that shares of 1 and 0 give the same as class numbers.
    """
    if weights is None or not targets.is_floating_point():
        return functional.cross_entropy(logits, targets, weight=weights)
    # torch divides by the number of pictures where targets are shares, and by their weights where they are numbers.
    total = functional.cross_entropy(logits, targets, weight=weights, reduction="sum")
    return total / (targets @ weights).sum()


def balanced_draws(labels: NDArray[np.int64], seed: int, epoch: int) -> NDArray[np.int64]:
    """As many places in `labels` as there are, each of a class drawn evenly, with replacement.

    Which ones, only these three decide.
    """
    draws = np.random.default_rng((seed, epoch))
    order = np.argsort(labels, kind="stable")
    _, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    drawn = draws.integers(len(starts), size=len(labels))
    places: NDArray[np.int64] = order[starts[drawn] + draws.integers(counts[drawn])]
    return places
