"""What is alive when: the peak of small networks that can be reckoned by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.core.check import check
from studio.core.fields import Value
from studio.core.forecast import FRAMEWORK_BYTES, Forecast
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Data, Network, Preprocessing, Project, Recipe
from studio.core.templates import templates

DATA = Data(folder="pictures", classes=tuple("0123456789"))
BATCH = 8
MAP = 4 * 16 * 16 * 4 * BATCH  # four channels of 16 x 16 floats for the batch


def project_of(*blocks: Block, **recipe: Value) -> Project:
    size = Preprocessing(height=16, width=16)
    head = (Block("pool", "global_pool"), Block("head", "linear"))
    return Project(
        data=DATA,
        preprocessing=size,
        network=Network((*blocks, *head)),
        recipe=Recipe(batch_size=BATCH, **recipe),  # type: ignore[arg-type]
    )


def conv(id: str, frozen: bool = False) -> Block:
    return Block(id, "conv2d", FrozenMap(out_channels=4), frozen=frozen)


def training(project: Project) -> Forecast:
    forecasts = check(project).forecast
    assert forecasts is not None
    return forecasts.training


def kept_maps(*blocks: Block) -> float:
    """Feature maps that wait for the backward pass; the head's few values are left out."""
    return training(project_of(*blocks)).activations // MAP


@pytest.mark.parametrize(
    ("kinds", "maps"),
    [
        ((), 0),  # nobody needs the output of the one convolution again
        (("relu",), 1),  # ReLU keeps its output
        (("gelu",), 1),  # GELU keeps its input
        (("relu", "relu"), 2),
        (("gelu", "relu"), 2),
        (("batch_norm", "relu"), 2),  # the norm its input, ReLU its output; what is between them goes
        (("tanh", "gelu"), 1),  # tanh keeps its output, GELU its input: one and the same
        (("dropout",), 1),  # the mask
    ],
)
def test_that_only_what_the_backward_pass_needs_is_kept(kinds: tuple[str, ...], maps: int) -> None:
    blocks = [Block(f"x{n}", kind) for n, kind in enumerate(kinds)]
    assert kept_maps(conv("a"), *blocks) == maps


def test_that_a_max_pool_goes_before_the_relu_and_keeps_places() -> None:
    # The pool's input (1), places of maxima (1/4, but as int64), ReLU's output (1/4).
    assert kept_maps(conv("a"), Block("r", "relu"), Block("p", "max_pool")) == 1
    exact = training(project_of(conv("a"), Block("r", "relu"), Block("p", "max_pool"))).activations
    assert exact // (MAP // 4) == 4 + 2 + 1


def test_that_frozen_blocks_in_front_keep_nothing() -> None:
    assert kept_maps(conv("a", frozen=True), Block("r", "relu", frozen=True), Block("g", "gelu", frozen=True)) == 0
    assert kept_maps(conv("a", frozen=True), Block("r", "relu"), conv("b"), Block("t", "tanh")) == 2


def test_that_gradients_and_states_are_those_of_trained_weights() -> None:
    whole = training(project_of(conv("a"), conv("b"), optimiser="adam"))
    half = training(project_of(conv("a"), conv("b", frozen=True), optimiser="adam"))
    second = (4 * 4 * 9 + 4) * 4
    assert whole.optimiser == 2 * whole.gradients
    assert whole.gradients - half.gradients == second
    assert whole.weights == half.weights
    assert training(project_of(conv("a"), optimiser="sgd", momentum=0.0)).optimiser == 0


def test_that_validation_keeps_no_activations_but_gradients_and_states() -> None:
    forecasts = check(project_of(*(conv(f"c{n}") for n in range(9)))).forecast
    assert forecasts is not None
    assert forecasts.validation.activations // MAP == 2  # the input and the output of one convolution
    assert forecasts.validation.gradients == forecasts.training.gradients
    assert forecasts.prediction.gradients == forecasts.prediction.optimiser == 0
    assert forecasts.prediction.total < forecasts.validation.total < forecasts.training.total


def test_that_a_shortcut_holds_its_input_until_the_sum() -> None:
    blocks = (conv("a"), conv("b"), conv("c"), Block("s", "add", inputs=("a", "c")))
    forecasts = check(project_of(*blocks)).forecast
    assert forecasts is not None
    assert forecasts.validation.activations // MAP == 3


@pytest.mark.parametrize("name", list(templates()))
def test_that_a_larger_batch_never_needs_less(name: str) -> None:
    project = Project(data=DATA, preprocessing=Preprocessing(height=32, width=32), network=templates()[name].network)
    report = check(project)
    assert report.workload is not None
    totals = [report.workload.training(batch).total for batch in (1, 2, 3, 8, 64, 1000)]
    assert totals == sorted(totals)
    roles = [report.workload.training(batch) for batch in (1, 64)]
    assert all(role.workspace >= 0 and role.framework >= FRAMEWORK_BYTES for role in roles)


def test_that_the_shares_of_the_blocks_are_what_is_kept() -> None:
    project = replace(project_of(), network=templates()["simple_cnn"].network)
    report = check(project)
    assert report.forecast is not None
    assert sum(b.activation_bytes for b in report.blocks) * BATCH == report.forecast.training.activations
