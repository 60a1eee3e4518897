"""The GPU's memory: torch's allocator for this process, and the whole card through NVML. Absence is None."""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from typing import Any

import torch

from studio.core.events import GpuMemory


class GpuProbe:
    """Counters of one device. `nvml` is the NVML binding; tests hand in a fake."""

    def __init__(self, device: torch.device, nvml: Any = None) -> None:
        self._device = device
        self._peak_bytes = 0
        self._nvml: Any = None
        self._handle: Any = None
        if device.type == "cuda":
            self._find_card(nvml)

    def _find_card(self, nvml: Any) -> None:
        # NVML may be missing, of another driver version, or forbidden in a container: each its own exception class.
        try:
            nvml = nvml or importlib.import_module("pynvml")
            nvml.nvmlInit()
            self._handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{torch.cuda.get_device_properties(self._device).uuid}")
            self._nvml = nvml
        except Exception:  # noqa: BLE001
            self._handle = None

    def sample(self) -> GpuMemory | None:
        """The counters now; None where the device is no GPU."""
        match self._device.type:
            case "cuda":
                return self._cuda()
            case "mps":
                allocated = int(torch.mps.current_allocated_memory())
                self._peak_bytes = max(self._peak_bytes, allocated)
                return GpuMemory(allocated, int(torch.mps.driver_allocated_memory()), self._peak_bytes)
        return None

    def _cuda(self) -> GpuMemory:
        used = total = others = utilisation = None
        if self._nvml is not None:
            with suppress(Exception):
                memory = self._nvml.nvmlDeviceGetMemoryInfo(self._handle)
                used, total = int(memory.used), int(memory.total)
            with suppress(Exception):
                processes = self._nvml.nvmlDeviceGetComputeRunningProcesses(self._handle)
                others = sum(int(p.usedGpuMemory or 0) for p in processes if p.pid != os.getpid())
            with suppress(Exception):
                utilisation = float(self._nvml.nvmlDeviceGetUtilizationRates(self._handle).gpu) / 100
        return GpuMemory(
            allocated_bytes=int(torch.cuda.memory_allocated(self._device)),
            reserved_bytes=int(torch.cuda.memory_reserved(self._device)),
            peak_allocated_bytes=int(torch.cuda.max_memory_allocated(self._device)),
            card_used_bytes=used,
            card_total_bytes=total,
            other_processes_bytes=others,
            utilisation=utilisation,
        )

    def start_peak(self) -> None:
        """Measure the peak from here on."""
        self._peak_bytes = 0
        if self._device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self._device)

    def peak_bytes(self) -> int | None:
        """The highest allocation since `start_peak`; None where the device is no GPU."""
        sample = self.sample()
        return sample.peak_allocated_bytes if sample else None

    def close(self) -> None:
        """Let NVML go."""
        if self._nvml is not None:
            with suppress(Exception):
                self._nvml.nvmlShutdown()
            self._nvml = self._handle = None
