"""What a run's own counters say of the host's memory, in words that claim no more than was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never, cast

from studio.core.events import Role
from studio.core.quantities import size_text
from studio.core.runstate import RunState
from studio.core.series import Series
from studio.core.text import tr, trn
from studio.memory.growth import Growth, judge
from studio.memory.timeline import role_label

HostKind = Literal["too_short", "level", "settling", "kept", "growing"]

# Python counts its blocks, not their bytes; small objects take 16 to 512 bytes, 64 being common (obmalloc).
_BLOCK_BYTES = 64


@dataclass(frozen=True, slots=True)
class HostVerdict:
    """A judgement of the host's memory while training. Slopes are 0 unless it grows.

    `kind` "kept" means that the process grows while what is in use does not: the allocator keeps freed memory.
    """

    kind: HostKind
    sentence: str
    evidence: tuple[str, ...] = ()
    bytes_per_step: float = 0.0
    bytes_per_epoch: float = 0.0


def host_verdict(state: RunState) -> HostVerdict:
    """Whether the host's memory grows while this run trains, without naming a cause: that needs the full diagnosis."""
    resident = _judged(state, state.memory.resident)
    live = _judged(state, state.memory.native_live)
    kind = _kind(resident, live)
    leading = live if live.kind != "too_short" else resident
    per_step = leading.slope * seconds_per_step(state) if kind == "growing" else 0.0
    steps = state.started.steps_per_epoch if state.started else 0
    return HostVerdict(
        kind,
        _sentence(kind, is_over=state.ended is not None),
        _evidence(state, resident, live),
        per_step,
        per_step * steps,
    )


def _kind(resident: Growth, live: Growth) -> HostKind:
    if live.kind == "too_short":
        return resident.kind
    if live.kind == "growing":
        return "growing"
    if resident.kind == "growing":
        return "kept"
    return "settling" if "settling" in {resident.kind, live.kind} else "level"


def _judged(state: RunState, series: Series) -> Growth:
    return judge(*_training_part(state, series))


def _training_part(state: RunState, series: Series) -> tuple[Sequence[float], Sequence[float]]:
    """The samples since training began; scanning and decoding before it have memory of their own."""
    xs, values = series.since(0)
    if state.train_started is None or state.first_time is None:
        return (), ()
    begin = state.seconds_at(state.train_started)
    first = next((n for n, x in enumerate(xs) if x >= begin), len(xs))
    return xs[first:], values[first:]


def seconds_per_step(state: RunState) -> float:
    """The mean pace since training began, pauses taken out; 0 where there is none yet."""
    if state.started is None or state.train_started is None:
        return 0.0
    steps = state.step - state.started.resumed_step
    return max(0.0, state.last_time - state.train_started - state.paused_seconds) / steps if steps > 0 else 0.0


def _sentence(kind: HostKind, *, is_over: bool) -> str:
    match kind:
        case "too_short" if is_over:
            return tr("The run was too short to judge whether memory grows.")
        case "too_short":
            return tr("Too few samples yet to judge whether memory grows.")
        case "level":
            return tr("Memory is level: nothing grows from step to step.")
        case "settling":
            return tr("Memory rose and settles: a warm-up or a cache that fills, not endless growth.")
        case "kept":
            return tr(
                "The process grows while the memory in use does not: the allocator keeps freed memory. Not a leak."
            )
        case "growing":
            return tr("The host's memory grows steadily; the cause is not attributed.")
    assert_never(kind)


def _evidence(state: RunState, resident: Growth, live: Growth) -> tuple[str, ...]:
    lines = []
    if resident.windows:
        lines.append(_rise_text(tr("Resident memory"), resident))
    if live.windows:
        lines.append(_rise_text(tr("Memory in use by native code"), live))
    python = _judged(state, _in_bytes(state.memory.python_blocks))
    if python.kind == "growing":
        count = int(python.rise_bytes / _BLOCK_BYTES)
        lines.append(tr("Python objects: {count} more than after the warm-up, still rising.", count=f"{count:,}"))
    for role, series in state.memory.tensor_bytes.items():
        first, last = _ends(series)
        if last > first > 0:
            lines.append(
                tr(
                    "Live tensors ({role}): from {first} to {last}.",
                    role=role_label(cast(Role, role)),
                    first=size_text(first),
                    last=size_text(last),
                )
            )
    return tuple(lines)


def _rise_text(what: str, growth: Growth) -> str:
    return trn(
        len(growth.windows),
        "{what}: lowest point {first}.",
        "{what}: lowest points from {first} to {last} over {n} stretches of the run.",
        what=what,
        first=size_text(growth.windows[0][1]),
        last=size_text(growth.windows[-1][1]),
    )


def _in_bytes(blocks: Series) -> Series:
    xs, counts = blocks.since(0)
    return Series().extended(xs, (count * _BLOCK_BYTES for count in counts))


def _ends(series: Series) -> tuple[float, float]:
    _xs, values = series.since(0)
    return (values[0], values[-1]) if values else (0.0, 0.0)
