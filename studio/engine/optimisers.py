"""From a recipe to the rule that changes the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import nn, optim

from studio.core.project import Recipe
from studio.core.registry import Registry

OptimiserMaker = Callable[[list[nn.Parameter], Recipe], optim.Optimizer]


# Fused versions update all weights in one pass over memory, on every device that this loop runs on.
def _adam(parameters: list[nn.Parameter], recipe: Recipe) -> optim.Optimizer:
    return optim.Adam(parameters, lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True)


def _adamw(parameters: list[nn.Parameter], recipe: Recipe) -> optim.Optimizer:
    return optim.AdamW(parameters, lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True)


def _sgd(parameters: list[nn.Parameter], recipe: Recipe) -> optim.Optimizer:
    return optim.SGD(
        parameters, lr=recipe.learning_rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay, fused=True
    )


def _rmsprop(parameters: list[nn.Parameter], recipe: Recipe) -> optim.Optimizer:
    return optim.RMSprop(
        parameters, lr=recipe.learning_rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay, foreach=True
    )


OPTIMISERS: Registry[OptimiserMaker] = Registry(
    "optimiser", {"adam": _adam, "adamw": _adamw, "sgd": _sgd, "rmsprop": _rmsprop}, "studio.optimisers"
)


def make_optimiser(parameters: Iterable[nn.Parameter], recipe: Recipe) -> optim.Optimizer:
    """The recipe's optimiser over those parameters that are trained."""
    return OPTIMISERS[recipe.optimiser]([p for p in parameters if p.requires_grad], recipe)


def gradient_norm(parameters: Iterable[nn.Parameter]) -> torch.Tensor:
    """The norm of all gradients together; not finite as soon as one of them is not."""
    return nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
