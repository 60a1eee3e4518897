"""How many threads a run computes with: decided by the work, so that the same project gives the same numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

# Below this, handing work to a second thread costs more than it saves: measured on two cores, SimpleCNN at 28 px
# (39 million multiply-adds forward a batch) takes 5.5-6.6 ms a step with one thread and 6.7-8 ms with two; at 64 px
# (240 million) two are as fast or faster.
SMALL_STEP_MULTIPLY_ADDS = 64_000_000


def threads_for(multiply_adds: int, available: int) -> int:
    """Threads for a step whose forward pass takes that many multiply-adds over the whole batch."""
    return 1 if multiply_adds < SMALL_STEP_MULTIPLY_ADDS else available


@contextmanager
def computing_with(threads: int) -> Iterator[None]:
    """Let this thread's tensor operations use so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
