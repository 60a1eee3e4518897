"""Synthetic memory curves: what leaks, caches, warm-ups and allocators look like from outside. Bytes over steps."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

MIB = 1024**2
STEPS = 600
EPOCH = 50

Curve = Callable[[int], float]


def level(_step: int) -> float:
    return 500 * MIB


def leak(step: int) -> float:
    return 500 * MIB + step * 0.5 * MIB


def leak_by_epoch(step: int) -> float:
    return 500 * MIB + (step // EPOCH) * 20 * MIB


def leak_in_a_sawtooth(step: int) -> float:
    return leak(step) + (step % EPOCH) * 4 * MIB


def accelerating_leak(step: int) -> float:
    return 500 * MIB + step**2 * 2000


def sawtooth(step: int) -> float:
    return 500 * MIB + (step % EPOCH) * 4 * MIB


def warm_up(step: int) -> float:
    return 500 * MIB + 300 * MIB * (1 - math.exp(-step / 60))


def ring_buffer(step: int) -> float:
    """Full at three quarters of the run."""
    return 500 * MIB + min(step, 450) * 0.5 * MIB


def early_ring_buffer(step: int) -> float:
    return 500 * MIB + min(step, 200) * 0.5 * MIB


def creeping_allocator(step: int) -> float:
    return 500 * MIB + 30 * MIB * math.log1p(step)


def one_jump(step: int) -> float:
    return 500 * MIB + (200 * MIB if step > 400 else 0)


def falling(step: int) -> float:
    return 900 * MIB - step * 0.5 * MIB


GROWING: tuple[Curve, ...] = (leak, leak_by_epoch, leak_in_a_sawtooth, accelerating_leak)
BOUNDED: tuple[Curve, ...] = (
    level, sawtooth, warm_up, ring_buffer, early_ring_buffer, creeping_allocator, one_jump, falling
)  # fmt: skip


def sampled(curve: Curve, noise_bytes: float = 0.0, seed: int = 0) -> tuple[list[float], list[float]]:
    """The curve at each step, with noise that only adds, as temporary tensors do."""
    chance = random.Random(seed)
    xs = [float(step) for step in range(STEPS)]
    return xs, [curve(step) + chance.random() * noise_bytes for step in range(STEPS)]
