"""What training changes, in one place: weights, optimiser state, random generators, and how far it is.

`captured` and `restored` are exact opposites: training that goes on from a checkpoint computes, on the CPU with the
same number of threads, bit for bit what it would have computed without the interruption.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import nn, optim

from studio.core.events import Metrics
from studio.core.project import Recipe
from studio.engine.checkpoint import Checkpoint
from studio.engine.optimisers import make_optimiser


@dataclass(slots=True)
class Position:
    """How far training is, at a step border. `epoch` counts the finished ones, `batch` those of the one in hand."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    loss_sum: float = 0.0
    right: int = 0
    seen: int = 0
    best_accuracy: float | None = None
    best_loss: float | None = None
    best_step: int | None = None

    def count(self, loss: float, right: int, pictures: int) -> None:
        """One more optimiser step is done."""
        self.step += 1
        self.batch += 1
        self.loss_sum += loss * pictures
        self.right += right
        self.seen += pictures

    @property
    def train_metrics(self) -> Metrics:
        """Of the epoch in hand, measured while training."""
        seen = max(self.seen, 1)
        return Metrics(self.loss_sum / seen, self.right / seen, self.seen)

    def begin_next_epoch(self) -> None:
        self.epoch += 1
        self.batch = self.right = self.seen = 0
        self.loss_sum = 0.0

    def is_best(self, validation: Metrics) -> bool:
        """Note `validation`; whether it is the best so far: more right answers, or as many at a lower loss."""
        # A loss that is not a number compares with nothing; it is worse than any.
        loss = validation.loss if math.isfinite(validation.loss) else math.inf
        known = self.best_accuracy is not None and self.best_loss is not None
        if known and (validation.accuracy, -loss) <= (self.best_accuracy, -(self.best_loss or 0.0)):
            return False
        self.best_accuracy, self.best_loss, self.best_step = validation.accuracy, loss, self.step
        return True


class Learner:
    """A network in training on one device."""

    def __init__(self, net: nn.Module, recipe: Recipe, device: torch.device) -> None:
        # Channels last is how convolutions work fastest on every device; it changes layout, not values.
        self.net = net.to(device).to(memory_format=torch.channels_last)
        self.device = device
        self.optimiser: optim.Optimizer = make_optimiser(self.net.parameters(), recipe)
        self.position = Position()

    @property
    def learning_rate(self) -> float:
        return float(self.optimiser.param_groups[0]["lr"])

    def captured(self, facts: Mapping[str, Any]) -> Checkpoint:
        """A copy of everything at this step border, on the CPU; `facts` are kept with it."""
        tensors = {f"weights.{name}": _copied(tensor) for name, tensor in self.net.state_dict().items()}
        scalars: dict[str, Any] = {}
        for number, state in self.optimiser.state_dict()["state"].items():
            for name, value in state.items():
                if isinstance(value, torch.Tensor):
                    tensors[f"optimiser.{number}.{name}"] = _copied(value)
                else:
                    scalars[f"{number}.{name}"] = value
        tensors.update({f"random.{name}": state for name, state in _random_states(self.device).items()})
        all_facts = {**facts, "position": asdict(self.position), "optimiser_scalars": scalars}
        return Checkpoint(self.position.step, self.position.epoch, all_facts, tensors)

    def restored(self, checkpoint: Checkpoint) -> None:
        """Go back to `checkpoint` exactly.

        Raises:
            ValueError, RuntimeError, KeyError, TypeError: it belongs to another network or recipe.
        """
        self.load_weights(checkpoint)
        self._restore_optimiser(checkpoint)
        known = {f.name for f in fields(Position)}
        self.position = Position(**{k: v for k, v in checkpoint.facts["position"].items() if k in known})
        _restore_random_states(checkpoint.part("random"), self.device)

    def load_weights(self, checkpoint: Checkpoint) -> None:
        """Take only the weights of `checkpoint`."""
        self.net.load_state_dict(checkpoint.part("weights"))

    def _restore_optimiser(self, checkpoint: Checkpoint) -> None:
        parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        state: dict[int, dict[str, Any]] = {}
        for key, value in checkpoint.part("optimiser").items():
            number, _, name = key.partition(".")
            parameter = parameters[int(number)]
            if value.shape == parameter.shape and name != "step":
                # In the parameter's own memory layout, which fused steps rely on.
                value = torch.empty_like(parameter, dtype=value.dtype, requires_grad=False).copy_(value)
            state.setdefault(int(number), {})[name] = value
        for key, scalar in checkpoint.facts["optimiser_scalars"].items():
            number, _, name = key.partition(".")
            state.setdefault(int(number), {})[name] = scalar
        self.optimiser.load_state_dict({"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]})


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().to("cpu", copy=True).contiguous()


def _random_states(device: torch.device) -> dict[str, torch.Tensor]:
    states = {"cpu": torch.get_rng_state()}
    match device.type:
        case "cuda":
            states["cuda"] = torch.cuda.get_rng_state(device)
        case "mps":
            states["mps"] = torch.mps.get_rng_state()
    return states


def _restore_random_states(states: Mapping[str, torch.Tensor], device: torch.device) -> None:
    if "cpu" in states:
        torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    if device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"])
