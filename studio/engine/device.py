"""Which device a run uses, and the few things that differ between CPU, CUDA and MPS."""

from __future__ import annotations

import platform
import re

import psutil
import torch

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.engine.trouble import Trouble


def available_devices() -> tuple[str, ...]:
    """The names that a recipe may give, best first; the CPU is always the last."""
    cuda = tuple(f"cuda:{n}" for n in range(torch.cuda.device_count())) if torch.cuda.is_available() else ()
    mps = ("mps",) if torch.backends.mps.is_available() else ()
    return (*cuda, *mps, "cpu")


def choose_device(name: str) -> torch.device:
    """The device that a recipe's `device` names; "auto" is the best there is.

    Raises:
        Trouble: "device_missing", with the names that exist.
    """
    there = available_devices()
    wanted = name.strip().lower()
    if wanted in ("auto", ""):
        return torch.device(there[0])
    if wanted == "cuda" and "cuda:0" in there:
        return torch.device("cuda:0")
    if wanted in there:
        return torch.device(wanted)
    facts = FrozenMap(device=name, available=", ".join(there))
    raise Trouble(Problem("device_missing", place="recipe.device", facts=facts))


def device_text(device: torch.device) -> str:
    """The device's name for people: "NVIDIA H200", "Apple GPU", "Intel(R) Xeon(R) ... (2 threads)"."""
    match device.type:
        case "cuda":
            return torch.cuda.get_device_name(device)
        case "mps":
            return "Apple GPU"
        case "cpu":
            threads = torch.get_num_threads()
            return f"{_processor()} ({threads} thread{'s' if threads > 1 else ''})"
    return str(device)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123 - a pseudo file
            found = next((line for line in lines if line.lower().startswith("model name")), "")
    except OSError:
        found = ""
    name = found.partition(":")[2].strip() or platform.processor() or platform.machine()
    return re.sub(r"\s+", " ", name) or "CPU"


def free_bytes(device: torch.device) -> int | None:
    """Memory that an allocation on `device` could still get; None where it cannot be told."""
    match device.type:
        case "cuda":
            return int(torch.cuda.mem_get_info(device)[0])
        case "cpu":
            return int(psutil.virtual_memory().available)
    return None


def total_bytes(device: torch.device) -> int | None:
    """All the memory of `device`; None where it cannot be told."""
    match device.type:
        case "cuda":
            return int(torch.cuda.get_device_properties(device).total_memory)
        case "cpu":
            return int(psutil.virtual_memory().total)
        case "mps":
            return int(torch.mps.recommended_max_memory())
    return None


def synchronise(device: torch.device) -> None:
    """Wait until everything that was asked of `device` is done."""
    match device.type:
        case "cuda":
            torch.cuda.synchronize(device)
        case "mps":
            torch.mps.synchronize()


def release_cache(device: torch.device) -> None:
    """Hand the allocator's free blocks back, so that other programs can use them."""
    match device.type:
        case "cuda":
            torch.cuda.empty_cache()
        case "mps":
            torch.mps.empty_cache()
