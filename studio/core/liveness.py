"""What is alive at each moment of a training step, and so the peak: a walk over all operations forth and back.

It follows torch: a tensor lives until the last operation that reads it, longer if autograd keeps it; a gradient lives
until the operation that made its tensor has used it. Pure Python, a few microseconds for each operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, assert_never

from studio.core.blocks.tape import FLOAT_BYTES, Op, Plan

PICTURES = -1
"""As an input of a block: the batch of pictures."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A block in the order of work; `inputs` are places in that order."""

    plan: Plan
    inputs: tuple[int, ...]
    is_frozen: bool = False


class _Step(NamedTuple):
    op: Op
    block: int
    inputs: list[int]
    output: int
    needs_gradient: bool
    parameter_bytes: int
    saves: list[int]


class Walk:
    """All operations of a network in a row, with the tensors that they share."""

    def __init__(self, blocks: Sequence[Placed], *, is_training: bool) -> None:
        self._steps: list[_Step] = []
        # By value: its storage, its bytes for a picture, whether a gradient flows through it. 0 are the pictures.
        self._storage, self._value_bytes, self._needs_gradient = [0], [0], [False]
        # By storage: bytes for a picture, the last step that reads it, how many operations keep it.
        self._bytes, self._last_use, self._savers = [0], [0], [0]
        self._made_in = [PICTURES]
        outputs: list[int] = []
        for place, block in enumerate(blocks):
            values = [0 if source == PICTURES else outputs[source] for source in block.inputs]
            given = tuple(values)
            trains = is_training and not block.is_frozen
            for op, size in zip(block.plan.ops, block.plan.output_bytes, strict=True):
                if op.only_in_training and not trains:
                    op = replace(op, is_view=True, passes_gradient=True, saved_bytes=0)
                values.append(self._place(op, size, place, [values[n] for n in op.inputs], trains=trains))
            for value in given:  # the caller holds them until the block is done
                self._last_use[self._storage[value]] = len(self._steps) - 1
            outputs.append(values[-1])
        self._last_use[self._storage[outputs[-1]]] = len(self._steps)  # the loss reads it

    def _place(self, op: Op, size: int, block: int, inputs: list[int], *, trains: bool) -> int:
        """Take the next step; the value that it makes."""
        number, value = len(self._steps), len(self._storage)
        storages = [self._storage[one] for one in inputs]
        if op.is_view:
            storage = storages[0]
        else:
            storage = len(self._bytes)
            self._bytes.append(size)
            self._last_use.append(0)
            self._savers.append(0)
            self._made_in.append(block)
        learns = trains and op.parameters > 0
        flows = learns
        for one in inputs:
            flows = flows or self._needs_gradient[one]
        saves = self._saved(op, storages, storage, learns) if flows else []
        for kept in saves:
            self._savers[kept] += 1
        for read in storages:
            self._last_use[read] = number
        self._last_use[storage] = number
        self._storage.append(storage)
        self._value_bytes.append(size)
        self._needs_gradient.append(flows)
        self._steps.append(_Step(op, block, inputs, value, flows, op.parameters * FLOAT_BYTES if learns else 0, saves))
        return value

    @staticmethod
    def _saved(op: Op, inputs: list[int], output: int, learns: bool) -> list[int]:
        match op.saved:
            case "nothing":
                return []
            case "inputs":
                return inputs
            case "inputs_for_weights":
                return inputs if learns else []
            case "output":
                return [output]
        assert_never(op.saved)

    def kept_bytes(self) -> dict[int, int]:
        """By block, what of it is alive when the backward pass begins, in bytes for a picture."""
        kept: dict[int, int] = {}
        last = self._storage[self._steps[-1].output]
        for storage, savers in enumerate(self._savers):
            if storage and (savers or storage == last):
                kept[self._made_in[storage]] = kept.get(self._made_in[storage], 0) + self._bytes[storage]
        for step in self._steps:
            if step.needs_gradient:
                kept[step.block] = kept.get(step.block, 0) + step.op.saved_bytes
        return kept

    def peak(self, batch_size: int, held_gradients: int) -> int:
        """The most bytes at any moment: activations, gradients and workspace, without weights and pictures.

        `held_gradients` are alive while going forth: those of the step before.
        """
        highest, live = self._forth(batch_size)
        return max(highest + held_gradients, self._back(batch_size, live))

    def _forth(self, batch: int) -> tuple[int, int]:
        """The most bytes, and those that are alive at the end."""
        ends: dict[int, list[int]] = {}
        for storage, last in enumerate(self._last_use):
            if storage and not self._savers[storage]:
                ends.setdefault(last, []).append(storage)
        highest, live, made = 0, 0, 1
        for number, step in enumerate(self._steps):
            op = step.op
            if self._storage[step.output] == made:
                live += self._bytes[made] * batch
                made += 1
            if step.needs_gradient:
                live += op.saved_bytes * batch + op.saved_batch_bytes
            passing = op.forward_bytes + (op.saved_bytes if op.always_made and not step.needs_gradient else 0)
            highest = max(highest, live + passing * batch + op.weight_bytes)
            for ended in ends.get(number, ()):
                live -= self._bytes[ended] * batch
        return highest, live

    def _back(self, batch: int, live: int) -> int:
        savers = list(self._savers)
        gradients: dict[int, int] = {}  # by value, the gradient's own number: sums share one
        owners: dict[int, int] = {}
        sizes: dict[int, int] = {}
        highest = learned = waiting = 0
        for step in reversed(self._steps):
            if not step.needs_gradient:
                continue
            op = step.op
            own = gradients.pop(step.output, None)
            if own is None and step is not self._steps[-1]:  # nobody reads it, so nothing comes back
                continue
            if own is None:
                own = 0  # made by the loss
                owners[own], sizes[own] = 1, self._value_bytes[step.output] * batch
                waiting += sizes[own]
            new = [value for value in step.inputs if self._needs_gradient[value]]
            for value in new:
                grad = own
                if not op.passes_gradient:
                    grad = value * len(self._storage) + step.output
                    owners[grad], sizes[grad] = 0, self._value_bytes[value] * batch
                    waiting += sizes[grad]
                owners[grad] += 1
                before = gradients.get(value)
                if before is not None:  # added into one of the two
                    waiting -= _let_go(before, owners, sizes)
                gradients[value] = grad
            learned += step.parameter_bytes
            highest = max(highest, learned + live + waiting + op.backward_bytes * batch + 2 * op.weight_bytes)
            waiting -= _let_go(own, owners, sizes)
            live -= op.saved_bytes * batch + op.saved_batch_bytes
            for storage in step.saves:
                savers[storage] -= 1
                if not savers[storage] and storage:
                    live -= self._bytes[storage] * batch
        return highest


def _let_go(gradient: int, owners: dict[int, int], sizes: dict[int, int]) -> int:
    """Bytes that become free when one owner less holds this gradient."""
    owners[gradient] -= 1
    return 0 if owners[gradient] else sizes[gradient]
