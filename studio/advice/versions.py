"""Which versions go together: CUDA builds, drivers, cards. One place for the tables, with their sources."""

from __future__ import annotations

import re


def version_numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: (2, 14, 1) of "2.14.1+cu130"."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:4])


# The oldest driver branch for each CUDA major version; within one, minor versions are compatible
# (docs.nvidia.com/deploy/cuda-compatibility).
_OLDEST_DRIVER = {11: (450, 80), 12: (525, 60), 13: (580, 0)}
# The oldest and newest compute capabilities in the binaries of each CUDA build, from the strings of torch 2.14.1.
_CAPABILITIES = {"12.6": ((5, 0), (9, 0)), "13.0": ((7, 5), (12, 0))}


def oldest_driver(cuda: str) -> str | None:
    """The oldest driver that serves a build for this CUDA version; None where we do not know."""
    numbers = version_numbers(cuda)
    oldest = _OLDEST_DRIVER.get(numbers[0]) if numbers else None
    return oldest and ".".join(map(str, oldest))


def driver_serves(driver_cuda: str, build_cuda: str) -> bool:
    """Whether a driver that knows CUDA `driver_cuda` runs programs built for `build_cuda`."""
    driver, build = version_numbers(driver_cuda), version_numbers(build_cuda)
    return bool(driver and build) and driver[0] >= build[0]


def card_is_served(capability: str, build_cuda: str, arch_list: str = "") -> bool | None:
    """Whether a build has code for a card; None where we do not know.

    `arch_list` is torch's own list ("sm_75 sm_80 compute_120"), which wins over our table: binaries run on cards of the
    same major version with the same or a higher minor one, and code for `compute_` is compiled for any newer card.
    """
    card = version_numbers(capability)[:2]
    if len(card) < 2:
        return None
    listed = re.findall(r"(sm|compute)_(\d+)(\d)", arch_list)
    if listed:
        return any(
            card >= (int(major), int(minor)) and (kind == "compute" or card[0] == int(major))
            for kind, major, minor in listed
        )
    known = _CAPABILITIES.get(build_cuda)
    return None if known is None else known[0] <= card and card[0] <= known[1][0]


def torch_fits_torchvision(torch: str, wanted: str) -> bool:
    """Whether the installed torch is the one that the installed torchvision was built for."""
    return version_numbers(torch)[:3] == version_numbers(wanted)[:3]


def numpy_fits_torch(numpy: str, torch: str) -> bool:
    """torch before 2.3 was built against NumPy 1 and cannot use NumPy 2 (pytorch/pytorch issue 132179)."""
    return version_numbers(numpy)[:1] < (2,) or version_numbers(torch)[:2] >= (2, 3)
