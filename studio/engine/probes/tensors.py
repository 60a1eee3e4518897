"""Counts live tensors by role, without keeping any of them alive.

Roles are known from the owners: parameters and buffers, their gradients, the optimiser's state, the batch. What the
graph keeps for the backward pass is read from the graph itself, right after the forward pass. Every other tensor that
the garbage collector knows is "other"; one held only by C++ is not seen.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from studio.core.events import Role, RoleTotal


@dataclass(frozen=True, slots=True)
class Saved:
    """What a graph keeps for its backward pass: distinct storages and their bytes."""

    count: int
    bytes: int


class _Storages:
    """Distinct storages by address: views of one count once."""

    def __init__(self, seen: set[tuple[str, int]]) -> None:
        self._seen = seen
        self.count = self.bytes = 0

    def add(self, tensor: torch.Tensor) -> None:
        try:
            storage = tensor.untyped_storage()
            key, size = (str(tensor.device), storage.data_ptr()), storage.nbytes()
        except (RuntimeError, NotImplementedError):
            return  # meta, sparse and functional tensors own no storage
        if size and key[1] and key not in self._seen:
            self._seen.add(key)
            self.count += 1
            self.bytes += size


def graph_saved(loss: torch.Tensor, known: Iterable[torch.Tensor]) -> Saved:
    """The storages that the graph below `loss` keeps, without those of `known` (weights, the batch)."""
    seen: set[tuple[str, int]] = set()
    owned = _Storages(seen)
    for tensor in known:
        owned.add(tensor)
    kept = _Storages(seen)
    waiting, visited = [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in visited:
            continue
        visited.add(node)
        waiting.extend(following for following, _ in node.next_functions)
        for name in _saved_names(type(node)):
            value = getattr(node, name, None)
            for tensor in value if isinstance(value, tuple) else (value,):
                if isinstance(tensor, torch.Tensor):
                    kept.add(tensor)
    return Saved(kept.count, kept.bytes)


_names_of_nodes: dict[type, tuple[str, ...]] = {}


def _saved_names(node: type) -> tuple[str, ...]:
    if node not in _names_of_nodes:
        _names_of_nodes[node] = tuple(name for name in dir(node) if name.startswith("_saved_"))
    return _names_of_nodes[node]


def census(
    module: torch.nn.Module, optimiser: torch.optim.Optimizer, data: Iterable[torch.Tensor], saved: Saved | None
) -> tuple[RoleTotal, ...]:
    """Live tensors by role now; `saved` is what the last forward pass kept."""
    seen: set[tuple[str, int]] = set()
    parameters = list(module.parameters())
    groups: list[tuple[Role, Iterable[torch.Tensor]]] = [
        ("weights", [*parameters, *module.buffers()]),
        ("gradients", [parameter.grad for parameter in parameters if parameter.grad is not None]),
        ("optimiser", [v for s in optimiser.state.values() for v in s.values() if isinstance(v, torch.Tensor)]),
        ("data", data),
    ]
    totals = [_total(role, tensors, seen) for role, tensors in groups]
    activations = saved or Saved(0, 0)
    totals.append(RoleTotal("activations", activations.count, activations.bytes))
    # `type(...)` and not isinstance: asking a proxy object for its class may run foreign code.
    others = (thing for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor))
    totals.append(_total("other", others, seen))
    return tuple(totals)


def _total(role: Role, tensors: Iterable[torch.Tensor], seen: set[tuple[str, int]]) -> RoleTotal:
    storages = _Storages(seen)
    for tensor in tensors:
        storages.add(tensor)
    return RoleTotal(role, storages.count, storages.bytes)
