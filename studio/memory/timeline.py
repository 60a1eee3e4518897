"""A run's memory as layers and lines to draw, each with a sentence that says what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, get_args

from studio.core.events import MemorySampled, Role
from studio.core.runstate import EpochMark, MemoryCurves, RunState
from studio.core.series import Series
from studio.core.text import tr

ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Layer:
    """One curve: bytes over seconds since the run began. Stacked layers lie on one another, from the first up."""

    id: str
    label: str
    explanation: str
    series: Series
    is_stacked: bool

    @property
    def latest_bytes(self) -> float | None:
        return self.series.last


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the Memory page and the terminal show. `gpu_sentence` says why there is no card to show, else ""."""

    host: tuple[Layer, ...]
    tensors: tuple[Layer, ...]
    gpu: tuple[Layer, ...]
    gpu_sentence: str
    marks: tuple[EpochMark, ...]


def timeline(state: RunState) -> Timeline:
    """The memory of the run so far. Layers without a single sample are left out."""
    curves = state.memory
    return Timeline(
        host=_filled(_host_layers(curves)),
        tensors=_filled(_tensor_layers(curves)),
        gpu=_filled(_gpu_layers(curves)),
        gpu_sentence=_gpu_sentence(state),
        marks=state.marks,
    )


def _filled(layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    return tuple(layer for layer in layers if len(layer.series))


def _host_layers(curves: MemoryCurves) -> tuple[Layer, ...]:
    return (
        Layer(
            "native_live",
            tr("In use by native code"),
            tr("What torch and other libraries have asked for and not given back: tensors on the CPU live here."),
            curves.native_live,
            is_stacked=False,
        ),
        Layer(
            "resident",
            tr("Resident"),
            tr(
                "All of the process that lies in the machine's memory. It can stay high after memory was freed, since "
                "the allocator keeps some for later."
            ),
            curves.resident,
            is_stacked=False,
        ),
    )


def _tensor_layers(curves: MemoryCurves) -> tuple[Layer, ...]:
    return tuple(
        Layer(role, role_label(role), role_explanation(role), curves.tensor_bytes[role], is_stacked=True)
        for role in ROLES
        if role in curves.tensor_bytes
    )


def _gpu_layers(curves: MemoryCurves) -> tuple[Layer, ...]:
    allocated, reserved = curves.gpu_allocated, curves.gpu_reserved
    return (
        Layer(
            "gpu_allocated",
            tr("Tensors on the card"),
            tr("What this run's tensors take on the card now."),
            allocated,
            is_stacked=True,
        ),
        Layer(
            "gpu_kept",
            tr("Kept by the allocator"),
            tr("Reserved on the card for this run but free for its next tensors; other programs cannot use it."),
            difference(reserved, allocated),
            is_stacked=True,
        ),
        Layer(
            "gpu_card_used",
            tr("Used on the card by all programs"),
            tr("As the driver sees it: this run, its share of the driver, and every other program."),
            curves.gpu_card_used,
            is_stacked=False,
        ),
    )


def difference(upper: Series, lower: Series) -> Series:
    """`upper` minus `lower`, never below zero, where both have the same x; empty where they do not match."""
    xs, above = upper.since(0)
    below_xs, below = lower.since(0)
    if xs != below_xs:
        return Series()
    return Series().extended(xs, (max(0.0, a - b) for a, b in zip(above, below, strict=True)))


def _gpu_sentence(state: RunState) -> str:
    latest: MemorySampled | None = state.memory.latest
    if latest is None:
        return tr("No memory was recorded yet.")
    if latest.gpu is None:
        device = state.started.device_name if state.started else ""
        return tr(
            "This run is on {device}, so there is no graphics memory to show.", device=device or tr("the processor")
        )
    return ""


def role_label(role: Role) -> str:
    """What tensors of this role are called."""
    match role:
        case "weights":
            return tr("Weights")
        case "gradients":
            return tr("Gradients")
        case "optimiser":
            return tr("Optimiser state")
        case "data":
            return tr("Batches")
        case "activations":
            return tr("Activations")
        case "other":
            return tr("Other tensors")
    assert_never(role)


def role_explanation(role: Role) -> str:
    """Why tensors of this role exist, and what makes them more."""
    match role:
        case "weights":
            return tr("The numbers that the network learns, and the running averages of its batch norms.")
        case "gradients":
            return tr("One number for each weight: how the loss changes with it.")
        case "optimiser":
            return tr("What the optimiser remembers of earlier steps; Adam keeps two numbers for each weight.")
        case "data":
            return tr("Pictures on their way through the network. A larger batch needs more.")
        case "activations":
            return tr("The blocks' outputs, kept until the backward pass has used them. They grow with batch and size.")
        case "other":
            return tr("Tensors that nothing above explains. If they grow from epoch to epoch, something holds them.")
    assert_never(role)
