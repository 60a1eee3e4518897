"""The tensor operations that a block is made of, written down without torch: shapes, counts, and what memory they take.

A block's rule plays its operations on a `Tape`, one line for each call of its torch module. Everything else is derived
from that one record: output shape, parameters, multiply-adds, and what `studio.core.forecast` needs. Bytes and counts
are for one picture unless named otherwise; all tensors hold float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

Shape = tuple[int, ...]
"""The shape of one picture's tensor, without the batch: (channels, height, width), (tokens, width) or (features,)."""

FLOAT_BYTES = 4
_INDEX_BYTES = 8  # torch keeps the place of each maximum as int64 for the backward pass

Saved = Literal["nothing", "inputs", "inputs_for_weights", "output"]
"""What autograd keeps for the backward pass (torch's derivatives.yaml): the inputs, the inputs only where the weights
are trained (convolution, linear), or the output."""


@dataclass(frozen=True, slots=True)
class Op:
    """One tensor operation. Values are numbered: the block's inputs first, then the outputs in order.

    Attributes:
        saved_bytes: kept for the backward pass beside inputs and output (masks, indices, statistics).
        always_made: these bytes are made also where no backward pass will come, and let go at once.
        saved_batch_bytes: the same, but once for the whole batch.
        is_view: the output takes no memory of its own (a view, or computed in place).
        passes_gradient: the gradient of the output is, unchanged, that of its inputs.
        only_in_training: when not training it hands its input on.
        forward_bytes, backward_bytes: workspace while it runs.
        weight_bytes: workspace once for the whole batch when going forth, twice as much when going back (weights and
            their gradients in another memory layout).
    """

    name: str
    inputs: tuple[int, ...]
    output: Shape
    parameters: int = 0
    buffers: int = 0
    multiply_adds: int = 0
    saved: Saved = "nothing"
    saved_bytes: int = 0
    saved_batch_bytes: int = 0
    always_made: bool = False
    is_view: bool = False
    passes_gradient: bool = False
    only_in_training: bool = False
    forward_bytes: int = 0
    backward_bytes: int = 0
    weight_bytes: int = 0


@dataclass(frozen=True)
class Plan:
    """A block's operations in order on inputs of these shapes; the last one's output is the block's."""

    inputs: tuple[Shape, ...]
    ops: tuple[Op, ...]

    @property
    def output(self) -> Shape:
        return self.ops[-1].output

    @cached_property
    def parameters(self) -> int:
        """Trained numbers."""
        return sum(op.parameters for op in self.ops)

    @cached_property
    def buffers(self) -> int:
        """Untrained numbers that belong to the weights file (running statistics)."""
        return sum(op.buffers for op in self.ops)

    @cached_property
    def multiply_adds(self) -> int:
        """Multiply-add pairs of convolutions and matrix products, as torch.utils.flop_counter counts them (halved)."""
        return sum(op.multiply_adds for op in self.ops)

    @cached_property
    def output_bytes(self) -> tuple[int, ...]:
        """By operation, the bytes of its output."""
        return tuple(prod(op.output) * FLOAT_BYTES for op in self.ops)

    @property
    def convolutions(self) -> Iterator[tuple[Shape, int, int]]:
        """What tells one convolution from another, as far as the library that compiles code for each is concerned."""
        return ((op.output, op.parameters, op.multiply_adds) for op in self.ops if op.name == "conv")

    @property
    def values_per_channel(self) -> int | None:
        """The fewest values of one picture from which a batch norm takes its statistics; None without a batch norm."""
        counts = [prod(op.output[1:]) for op in self.ops if op.name == "batch_norm"]
        return min(counts) if counts else None


class Tape:
    """Records operations. Methods take values by number and return the number of the result.

    Shapes are not questioned here: a block refuses what does not fit before it plays.
    """

    def __init__(self, inputs: tuple[Shape, ...]) -> None:
        self._inputs = inputs
        self._shapes = list(inputs)
        self._ops: list[Op] = []

    def shape(self, value: int) -> Shape:
        return self._shapes[value]

    def plan(self) -> Plan:
        return Plan(self._inputs, tuple(self._ops))

    def record(self, op: Op) -> int:
        self._ops.append(op)
        self._shapes.append(op.output)
        return len(self._shapes) - 1

    def conv(
        self, x: int, out: int, kernel: int, *, stride: int = 1, padding: int | None = 0, dilation: int = 1,
        groups: int = 1, bias: bool = True,
    ) -> int:  # fmt: skip
        """`nn.Conv2d`; padding None keeps the size."""
        channels, height, width = self.shape(x)
        weights = channels // groups * kernel**2 * out
        if padding is None:
            reach = dilation * (kernel - 1)
            if reach % 2:  # torch adds the odd line itself, in a copy
                x = self.record(Op("pad", (x,), (channels, height + 1, width + 1)))
            high, wide = height, width
        else:
            high, wide = (slid_length(side, kernel, stride, padding, dilation) for side in (height, width))
        return self.record(
            Op(
                "conv", (x,), (out, high, wide),
                parameters=weights + (out if bias else 0),
                multiply_adds=weights * high * wide,
                saved="inputs_for_weights",
                # Measured with oneDNN on AVX2: it reorders the weights of all but pointwise and grouped convolutions.
                weight_bytes=weights * FLOAT_BYTES if kernel > 1 and groups == 1 else 0,
            )
        )  # fmt: skip

    def linear(self, x: int, out: int, *, bias: bool = True) -> int:
        """`nn.Linear` along the last axis."""
        *rows, features = self.shape(x)
        parameters = features * out + (out if bias else 0)
        work = prod(rows) * features * out
        saved: Saved = "inputs_for_weights"
        return self.record(Op("linear", (x,), (*rows, out), parameters=parameters, multiply_adds=work, saved=saved))

    def batch_norm(self, x: int) -> int:
        """`nn.BatchNorm1d` or `2d`: scale, shift, running mean and variance, and one count of the batches seen."""
        channels = self.shape(x)[0]
        return self.record(
            Op(
                "batch_norm", (x,), self.shape(x),
                parameters=2 * channels,
                buffers=2 * channels + 1,
                saved="inputs",
                saved_batch_bytes=2 * channels * FLOAT_BYTES,
            )
        )  # fmt: skip

    def norm(self, x: int, parameters: int, rows: int) -> int:
        """Group and layer norm: a mean and a spread for each of `rows` parts of a picture are kept."""
        return self.record(
            Op(
                "norm", (x,), self.shape(x), parameters=parameters, saved="inputs",
                saved_bytes=2 * rows * FLOAT_BYTES,
            )
        )  # fmt: skip

    def change(self, x: int, saved: Saved, *, in_place: bool = False, parameters: int = 0) -> int:
        """An activation: each value by itself."""
        return self.record(Op("activation", (x,), self.shape(x), parameters=parameters, saved=saved, is_view=in_place))

    def relu(self, x: int) -> int:
        """`nn.ReLU(inplace=True)`, as composite blocks use it."""
        return self.change(x, "output", in_place=True)

    def dropout(self, x: int, rate: float, mask: int | None = None) -> int:
        """`nn.Dropout`; `mask` is the number of values that are decided one by one, all if None."""
        if not rate:
            return self.view(x, self.shape(x))
        # On the CPU torch keeps the scaled mask as floats; on CUDA one byte a value. The larger one is counted.
        bytes_ = (prod(self.shape(x)) if mask is None else mask) * FLOAT_BYTES
        return self.record(Op("dropout", (x,), self.shape(x), saved_bytes=bytes_, only_in_training=True))

    def flatten(self, x: int) -> int:
        """All values in one row. Feature maps lie in memory pixel by pixel and have to be copied to lie by channel."""
        shape = self.shape(x)
        row = (prod(shape),)
        if len(shape) == 3 and shape[0] > 1 and prod(shape[1:]) > 1:
            return self.copy(x, row)
        return self.view(x, row)

    def copy(self, x: int, shape: Shape) -> int:
        """The same values in another memory layout."""
        return self.record(Op("copy", (x,), shape, passes_gradient=True))

    def view(self, x: int, shape: Shape) -> int:
        """The same values seen in another shape."""
        return self.record(Op("view", (x,), shape, is_view=True, passes_gradient=True))

    def pool(self, x: int, kernel: int, stride: int, padding: int, *, is_max: bool) -> int:
        channels, height, width = self.shape(x)
        high, wide = (slid_length(side, kernel, stride, padding) for side in (height, width))
        return self.pool_to(x, (channels, high, wide), is_max=is_max)

    def pool_to(self, x: int, shape: Shape, *, is_max: bool) -> int:
        """`nn.MaxPool2d`, `nn.AvgPool2d` and their adaptive forms; all keep their input."""
        indices = prod(shape) * _INDEX_BYTES if is_max else 0
        return self.record(Op("pool", (x,), shape, saved="inputs", saved_bytes=indices, always_made=True))

    def mean(self, x: int, shape: Shape) -> int:
        """The mean over the axes that `shape` leaves out."""
        return self.record(Op("mean", (x,), shape))

    def scale(self, x: int, gates: int) -> int:
        """`x * gates`, one gate a channel."""
        whole = prod(self.shape(x)) * FLOAT_BYTES
        return self.record(Op("scale", (x, gates), self.shape(x), saved="inputs", backward_bytes=whole))

    def add(self, *values: int) -> int:
        """The sum, one after the other as torch computes it."""
        total = values[0]
        for value in values[1:]:
            total = self.record(Op("add", (total, value), self.shape(total), passes_gradient=True))
        return total

    def concat(self, values: tuple[int, ...]) -> int:
        """Along the first axis: channels of pictures, tokens, features."""
        shape = (sum(self.shape(value)[0] for value in values), *self.shape(values[0])[1:])
        return self.record(Op("concat", values, shape, passes_gradient=True))


def slid_length(length: int, kernel: int, stride: int, padding: int, dilation: int = 1) -> int:
    """Output length of a sliding window: floor((length + 2*padding - dilation*(kernel-1) - 1) / stride) + 1.

    Source: torch.nn.Conv2d, "Shape". Below 1 there is no output.
    """
    return (length + 2 * padding - window_reach(kernel, dilation)) // stride + 1


def window_reach(kernel: int, dilation: int) -> int:
    """How many pixels a window spans: dilation * (kernel - 1) + 1."""
    return dilation * (kernel - 1) + 1
