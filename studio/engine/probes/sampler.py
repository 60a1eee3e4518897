"""Decides when memory is looked at, so that looking costs the run next to nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from studio.core.events import MemorySampled, RoleTotal
from studio.engine.emit import Emitter
from studio.engine.probes.gpu import GpuProbe
from studio.engine.probes.host import PeakResident, sample_host

SAMPLE_SECONDS = 0.25
# Outside training nothing changes fast; and a step border, which tells more, comes first while training.
IDLE_SAMPLE_SECONDS = 1.0
CENSUS_SECONDS = 1.0
# A census may take this share of the run: after one that took 50 ms, none for 5 s.
CENSUS_SHARE = 0.01


class Sampler:
    """Takes a `MemorySampled` at most four times a second, and says when a census of tensors is due."""

    def __init__(self, emitter: Emitter, gpu: GpuProbe, clock: Callable[[], float] = time.monotonic) -> None:
        self._emitter, self._gpu, self._clock = emitter, gpu, clock
        self._lock = threading.Lock()
        self._sampled_at = float("-inf")
        self._census_at = float("-inf")
        self._census_pause_seconds = CENSUS_SECONDS
        self._is_census_wanted = False
        self._place = (0, 0)
        self._peak = PeakResident()
        gpu.start_peak()

    def at_step(self, step: int, epoch: int) -> None:
        """A step border; samples when it is time."""
        self._place = (step, epoch)
        if self._clock() - self._sampled_at >= SAMPLE_SECONDS:
            self._sample(())

    def tick(self) -> None:
        """Called by the heartbeat: samples where no step border did."""
        if self._clock() - self._sampled_at >= IDLE_SAMPLE_SECONDS:
            self._sample(())

    def want_census(self) -> None:
        """Take a census at the next step, whatever its cost (a person asked)."""
        self._is_census_wanted = True

    @property
    def is_census_due(self) -> bool:
        """Whether the step that begins should count tensors."""
        return self._is_census_wanted or self._clock() - self._census_at >= self._census_pause_seconds

    def with_census(self, step: int, epoch: int, count: Callable[[], tuple[RoleTotal, ...]]) -> None:
        """Take a sample with a census, and wait the longer for the next one the more it cost."""
        started = self._clock()
        totals = count()
        ended = self._clock()
        self._census_at, self._is_census_wanted = ended, False
        self._census_pause_seconds = max(CENSUS_SECONDS, (ended - started) / CENSUS_SHARE)
        self._place = (step, epoch)
        self._sample(totals)

    def _sample(self, totals: tuple[RoleTotal, ...]) -> None:
        with self._lock:
            self._sampled_at = self._clock()
            host = sample_host()
            self._peak.saw(host.resident_bytes)
            step, epoch = self._place
            self._emitter.sampled(MemorySampled(self._emitter.now, step, epoch, host, self._gpu.sample(), totals))

    def peak_bytes(self) -> int:
        """The run's measured peak: of the GPU's allocator, or on the CPU of the process's resident memory."""
        return self._gpu.peak_bytes() or self._peak.bytes()
