"""How much memory a run will need, by role, before it starts."""

from __future__ import annotations

from dataclasses import dataclass

FLOAT_BYTES = 4

# Optimiser state per trained number: Adam and AdamW keep two moments, RMSprop one average and, with momentum, a
# buffer, SGD a buffer with momentum (torch.optim, "state" of each class).
_STATES = {"adam": 2, "adamw": 2, "rmsprop": 1, "sgd": 0}

# Resident memory of an engine process that is ready for a run: torch and torchvision imported, a first optimiser step
# done. Median of `benchmarks/framework.py` with torch 2.14.1's CUDA build on Linux; builds for the CPU alone take less.
FRAMEWORK_BYTES = 725 * 1024**2


@dataclass(frozen=True, slots=True)
class Forecast:
    """Predicted peak memory by role, in bytes. `framework` is what the process needs before any tensor."""

    weights: int = 0
    gradients: int = 0
    optimiser: int = 0
    activations: int = 0
    input: int = 0
    workspace: int = 0
    framework: int = 0

    @property
    def total(self) -> int:
        return self.tensors + self.framework

    @property
    def tensors(self) -> int:
        """Without the framework: what counts against a GPU's memory beside its context."""
        return self.weights + self.gradients + self.optimiser + self.activations + self.input + self.workspace


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a forecast is made from; per-picture figures in bytes.

    `kept_bytes` are all activations that the backward pass needs, `widest_bytes` the largest input plus output of one
    block, `widest_output_bytes` the largest single output.
    """

    parameters: int
    trained_parameters: int
    buffers: int
    input_bytes: int
    kept_bytes: int
    widest_bytes: int
    widest_output_bytes: int


@dataclass(frozen=True, slots=True)
class Forecasts:
    """The three ways a network is used."""

    training: Forecast
    validation: Forecast
    prediction: Forecast


def forecast(sizes: Sizes, batch_size: int, optimiser: str, momentum: float) -> Forecasts:
    """Peak memory of training, validation and the prediction of one picture.

    Training holds weights, gradients, optimiser state, everything kept for backward, two input batches (the one in
    use and the one being prepared) and, as workspace, the gradient of the widest activation. Without gradients only
    the widest block's input and output live at a time.
    """
    states = _STATES[optimiser] + (1 if momentum and optimiser in ("sgd", "rmsprop") else 0)
    weights = (sizes.parameters + sizes.buffers) * FLOAT_BYTES
    trained = sizes.trained_parameters * FLOAT_BYTES
    training = Forecast(
        weights=weights,
        gradients=trained,
        optimiser=trained * states,
        activations=sizes.kept_bytes * batch_size,
        input=2 * sizes.input_bytes * batch_size,
        workspace=sizes.widest_output_bytes * batch_size,
        framework=FRAMEWORK_BYTES,
    )

    def without_gradients(batch: int) -> Forecast:
        return Forecast(
            weights=weights,
            activations=sizes.widest_bytes * batch,
            input=sizes.input_bytes * batch,
            framework=FRAMEWORK_BYTES,
        )

    return Forecasts(training, without_gradients(batch_size), without_gradients(1))
