"""How much memory a run will need, by role, before it starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from studio.core.blocks.tape import FLOAT_BYTES as FLOAT_BYTES
from studio.core.liveness import Placed, Walk

# Optimiser state per trained number: Adam and AdamW keep two moments, RMSprop one average and, with momentum, a
# buffer, SGD a buffer with momentum (torch.optim, "state" of each class).
_STATES = {"adam": 2, "adamw": 2, "rmsprop": 1, "sgd": 0}

# Resident memory of an engine process that is ready for a run: torch and torchvision imported, a first optimiser step
# done. Median of `benchmarks/framework.py` with torch 2.14.1's CUDA build on Linux; builds for the CPU alone take less.
FRAMEWORK_BYTES = 725 * 1024**2

# What the CPU's libraries load when a network first runs, and the code that oneDNN compiles for each distinct
# convolution and keeps: what `benchmarks/forecast.py` measures beyond tensors over 34 networks (median, and slope).
_FIRST_USE_BYTES = 27 * 1024**2
_CONVOLUTION_BYTES = 320 * 1024


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predicted peak memory by role, in bytes.

    `framework` is what the process needs before any tensor, `checkpoint` the copy of weights and optimiser state that
    is written to disk while training goes on; both are in the host's memory on every device.
    """

    weights: int = 0
    gradients: int = 0
    optimiser: int = 0
    activations: int = 0
    input: int = 0
    workspace: int = 0
    framework: int = 0
    checkpoint: int = 0

    @property
    def total(self) -> int:
        return self.tensors + self.framework + self.checkpoint

    @property
    def tensors(self) -> int:
        """Without what is always the host's: what counts against a GPU's memory beside its context."""
        return self.weights + self.gradients + self.optimiser + self.activations + self.input + self.workspace


@dataclass(frozen=True)
class Workload:
    """A network with its recipe, for which memory can be forecast at any batch size."""

    blocks: tuple[Placed, ...]
    input_values: int
    optimiser: str
    momentum: float
    weight_decay: float

    @cached_property
    def _training(self) -> Walk:
        return Walk(self.blocks, is_training=True)

    @cached_property
    def _using(self) -> Walk:
        return Walk(self.blocks, is_training=False)

    @cached_property
    def _trained_bytes(self) -> int:
        return sum(block.plan.parameters for block in self.blocks if not block.is_frozen) * FLOAT_BYTES

    @cached_property
    def _weight_bytes(self) -> int:
        return sum(block.plan.parameters + block.plan.buffers for block in self.blocks) * FLOAT_BYTES

    @cached_property
    def _compiled_bytes(self) -> int:
        distinct = {one for block in self.blocks for one in block.plan.convolutions}
        return _FIRST_USE_BYTES + len(distinct) * _CONVOLUTION_BYTES

    @property
    def _state_bytes(self) -> int:
        extra = 1 if self.momentum and self.optimiser in ("sgd", "rmsprop") else 0
        return self._trained_bytes * (_STATES[self.optimiser] + extra)

    def kept_bytes(self) -> dict[int, int]:
        """By block, in the order of work, the bytes that one picture leaves there for the backward pass."""
        return self._training.kept_bytes()

    def forecasts(self, batch_size: int) -> Forecasts:
        return Forecasts(self, batch_size)

    def training(self, batch_size: int) -> Forecast:
        """The highest moment of a step.

        Activations are all that wait for the backward pass when it begins; workspace is what the highest moment
        takes beyond them and all gradients.
        """
        peak = max(
            self._training.peak(batch_size, self._trained_bytes),
            self._trained_bytes + self._update_bytes,
        )
        kept = sum(self.kept_bytes().values()) * batch_size
        return replace(
            self._holding(self._trained_bytes, self._state_bytes, batch_size),
            activations=kept,
            workspace=peak - self._trained_bytes - kept,
            checkpoint=self._weight_bytes + self._state_bytes,
        )

    @property
    def _update_bytes(self) -> int:
        """What the optimiser's step needs for itself: only RMSprop has no version in one pass over memory."""
        if self.optimiser != "rmsprop":
            return 0
        return self._trained_bytes * (2 if self.weight_decay else 1)

    def validation(self, batch_size: int) -> Forecast:
        """Gradients and optimiser state stay where they are while a run validates."""
        held = self._holding(self._trained_bytes, self._state_bytes, batch_size)
        return replace(held, activations=self._using.peak(batch_size, 0))

    def prediction(self) -> Forecast:
        return replace(self._holding(0, 0, 1), activations=self._using.peak(1, 0))

    def _holding(self, gradients: int, optimiser: int, batch_size: int) -> Forecast:
        """What is alive all the time."""
        return Forecast(
            weights=self._weight_bytes,
            gradients=gradients,
            optimiser=optimiser,
            input=self._input_bytes(batch_size),
            framework=FRAMEWORK_BYTES + self._compiled_bytes,
        )

    def _input_bytes(self, batch_size: int) -> int:
        """The batch as floats, and as bytes together with the one that is being prepared."""
        return self.input_values * batch_size * (FLOAT_BYTES + 2)


@dataclass(frozen=True)
class Forecasts:
    """The three ways a network is used, each reckoned when it is first asked for."""

    workload: Workload
    batch_size: int

    @cached_property
    def training(self) -> Forecast:
        """A training step."""
        return self.workload.training(self.batch_size)

    @cached_property
    def validation(self) -> Forecast:
        """The validation within a run, with batches of the same size."""
        return self.workload.validation(self.batch_size)

    @cached_property
    def prediction(self) -> Forecast:
        """One picture classified by the finished model."""
        return self.workload.prediction()
