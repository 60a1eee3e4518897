"""Checks that hints run: each reads facts of the machine, the project and the error, and says what it measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studio.advice.hint import Facts
from studio.advice.readings import bytes_in_words, number, text
from studio.advice.versions import (
    card_is_served,
    driver_serves,
    numpy_fits_torch,
    oldest_driver,
    torch_fits_torchvision,
    version_numbers,
)
from studio.core.registry import Registry
from studio.core.text import tr, trn

# Docker gives a container 64 MiB of shared memory unless told otherwise; loaders with workers need about a gibibyte.
SHM_WANTED_BYTES = 1 << 30
# The usual soft limit of 1,024 is used up by a few loader workers that share tensors by descriptor.
OPEN_FILES_WANTED = 4096
DISK_WANTED_BYTES = 2 << 30
# Reserved but unused by more than a fifth: the free memory is in pieces (the threshold of errors.jsonl, cuda-oom).
FRAGMENTED_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Measured:
    """What a check found; `confirms` is None where the number helps but proves nothing."""

    sentence: str
    confirms: bool | None = None


Check = Callable[[Facts], Measured | None]


def gpu_memory(facts: Facts) -> Measured | None:
    """Asked against free, where the text or the run tells both."""
    asked, free, total = (number(facts, name) for name in ("asked_bytes", "free_bytes", "total_bytes"))
    if free is None:
        free, total = number(facts, "gpu0_free_bytes"), number(facts, "gpu0_total_bytes")
        if free is None or total is None:
            return None
        words = tr("{free} of {total} are free on the card now", free=bytes_in_words(free), total=bytes_in_words(total))
        return Measured(words)
    if asked is None:
        return Measured(tr("{free} were free on the card", free=bytes_in_words(free)), free < (64 << 20) or None)
    if total is None:
        words = tr("asked {asked}, {free} free", asked=bytes_in_words(asked), free=bytes_in_words(free))
    else:
        words = tr(
            "asked {asked}, {free} free of {total}",
            asked=bytes_in_words(asked),
            free=bytes_in_words(free),
            total=bytes_in_words(total),
        )
    return Measured(words, asked > free)


def fragmentation(facts: Facts) -> Measured | None:
    """Memory that the allocator keeps in pieces: more kept than would have been needed."""
    kept, allocated = number(facts, "kept_bytes"), number(facts, "allocated_bytes")
    reserved = number(facts, "reserved_bytes")
    if kept is None and reserved is not None and allocated is not None:
        kept = reserved - allocated
    if kept is None or allocated is None or kept <= FRAGMENTED_SHARE * (kept + allocated):
        return None
    words = tr("{kept} are reserved but unused: the free memory is in pieces", kept=bytes_in_words(kept))
    return Measured(words, True)


def host_memory(facts: Facts) -> Measured | None:
    """Asked against the machine's memory."""
    asked, free = number(facts, "asked_bytes"), number(facts, "memory_available_bytes")
    total = number(facts, "memory_total_bytes")
    if total is None or free is None:
        return None
    limit = number(facts, "memory_limit_bytes")
    total = total if limit is None else min(total, limit)
    if asked is not None and asked > 4 * total:
        words = tr(
            "asked {asked}, more than this machine's {total}: a size in the network is probably wrong",
            asked=bytes_in_words(asked),
            total=bytes_in_words(total),
        )
        return Measured(words, True)
    if asked is not None:
        words = tr(
            "asked {asked}, {free} free of {total}",
            asked=bytes_in_words(asked),
            free=bytes_in_words(free),
            total=bytes_in_words(total),
        )
        return Measured(words, asked > free)
    words = tr("{free} of {total} memory are free now", free=bytes_in_words(free), total=bytes_in_words(total))
    return Measured(words, free < total / 20 or None)


def batch_in_use(facts: Facts) -> Measured | None:
    """The project's batch and picture size."""
    batch, width, height = (number(facts, name) for name in ("batch_size", "width", "height"))
    if batch is None:
        return None
    if width is None or height is None:
        return Measured(tr("batch {n}", n=int(batch)))
    words = tr("batch {n}, pictures of {width} x {height} px", n=int(batch), width=int(width), height=int(height))
    return Measured(words)


def learning_rate_in_use(facts: Facts) -> Measured | None:
    """The project's learning rate and optimiser."""
    rate, optimiser = number(facts, "learning_rate"), text(facts, "optimiser")
    if not rate or not optimiser:
        return None
    return Measured(tr("learning rate {rate} with {optimiser}", rate=f"{rate:g}", optimiser=optimiser))


def last_batch(facts: Facts) -> Measured | None:
    """Whether one picture is left over for the last batch."""
    count, batch = number(facts, "train_count"), number(facts, "batch_size")
    if not batch:
        return None
    if batch == 1:
        return Measured(tr("the batch size is 1"), True)
    if not count:
        return None
    left = int(count % batch)
    words = tr(
        "{count} pictures in batches of {batch} leave {n} for the last batch",
        count=int(count),
        batch=int(batch),
        n=left,
    )
    return Measured(words, left == 1)


def class_count(facts: Facts) -> Measured | None:
    """The label in the error against the classes of the project."""
    label, classes = number(facts, "label"), number(facts, "class_count")
    if not classes:
        return None
    if label is None:
        return Measured(tr("the data has {n} classes: labels 0 to {last}", n=int(classes), last=int(classes) - 1))
    words = tr(
        "label {label}; with {n} classes the labels go from 0 to {last}",
        label=int(label),
        n=int(classes),
        last=int(classes) - 1,
    )
    return Measured(words, not 0 <= label < classes)


def cpu_build(facts: Facts) -> Measured | None:
    """Which build of torch is installed, beside which card."""
    build = text(facts, "torch_build")
    if not build:
        return None
    if build == "cpu":
        card = text(facts, "gpu0_name")
        if card:
            return Measured(tr("the installed torch is a CPU build, beside {card}", card=card), True)
        return Measured(tr("the installed torch is a CPU build, and no NVIDIA card was found"), True)
    return Measured(tr("the installed torch is built for {build}", build=build), False)


def nvidia_driver(facts: Facts) -> Measured | None:
    """Whether there is a driver."""
    driver, cuda = text(facts, "driver_version"), text(facts, "driver_cuda")
    if driver:
        return Measured(tr("NVIDIA driver {driver}, which serves CUDA {cuda}", driver=driver, cuda=cuda or "?"), None)
    if text(facts, "nvml"):
        return Measured(tr("no NVIDIA driver answers on this machine"), True)
    return None


def driver_against_runtime(facts: Facts) -> Measured | None:
    """The driver's CUDA against that of the build."""
    build, driver = text(facts, "torch_build"), text(facts, "driver_cuda")
    if not driver or not build or build in ("cpu", "rocm"):
        return None
    if driver_serves(driver, build):
        words = tr("the driver serves CUDA {driver}, the installed torch needs {build}", driver=driver, build=build)
        return Measured(words, False)
    words = tr(
        "the driver serves CUDA {driver}, the installed torch needs {build} (driver {oldest} or newer)",
        driver=driver,
        build=build,
        oldest=oldest_driver(build) or "?",
    )
    return Measured(words, True)


def gpu_architecture(facts: Facts) -> Measured | None:
    """The card's compute capability against the architectures of the build."""
    capability, build = text(facts, "gpu0_capability"), text(facts, "torch_build")
    if not capability or not build:
        return None
    served = card_is_served(capability, build, text(facts, "arch_list"))
    words = tr("the card has compute capability {capability}, the build is {build}", capability=capability, build=build)
    return Measured(words, None if served is None else not served)


def library_path(facts: Facts) -> Measured | None:
    """Folders that the loader searches before torch's own libraries."""
    path = text(facts, "ld_library_path")
    if not path:
        return None
    folders = [folder for folder in path.split(":") if any(w in folder.lower() for w in ("cuda", "conda", "nvidia"))]
    if folders:
        words = tr("LD_LIBRARY_PATH puts {folder} before torch's own libraries", folder=folders[0])
        return Measured(words, True)
    return Measured(tr("LD_LIBRARY_PATH is set, but names no CUDA folder"), None)


def nvidia_packages(facts: Facts) -> Measured | None:
    """NVIDIA packages of another release than torch asks for."""
    found = text(facts, "nvidia_mismatches")
    return (
        Measured(tr("packages of another release than torch asks for: {names}", names=found), True) if found else None
    )


def torchvision_pair(facts: Facts) -> Measured | None:
    """torch against the one that torchvision was built for."""
    torch, wanted = text(facts, "torch_version"), text(facts, "torchvision_wants")
    if not torch or not wanted:
        return None
    fits = torch_fits_torchvision(torch, wanted)
    return Measured(tr("torch is {torch}, torchvision was built for {wanted}", torch=torch, wanted=wanted), not fits)


def numpy_pair(facts: Facts) -> Measured | None:
    """NumPy 2 beside an old torch."""
    numpy, torch = text(facts, "numpy_version"), text(facts, "torch_version")
    if not numpy or not torch:
        return None
    fits = numpy_fits_torch(numpy, torch)
    return Measured(tr("NumPy {numpy} with torch {torch}", numpy=numpy, torch=torch), not fits)


def shm_size(facts: Facts) -> Measured | None:
    """Shared memory for loader workers."""
    total, free = number(facts, "shm_total_bytes"), number(facts, "shm_free_bytes")
    if total is None or free is None:
        return None
    words = tr("/dev/shm holds {total}, {free} free", total=bytes_in_words(total), free=bytes_in_words(free))
    return Measured(words, total < SHM_WANTED_BYTES)


def open_files(facts: Facts) -> Measured | None:
    """Descriptors against their limit."""
    limit, used = number(facts, "open_files_limit"), number(facts, "open_files")
    if limit is None:
        return None
    if used is None:
        return Measured(tr("at most {limit} open files", limit=int(limit)), limit < OPEN_FILES_WANTED or None)
    words = tr("{used} files open, at most {limit}", used=int(used), limit=int(limit))
    return Measured(words, limit < OPEN_FILES_WANTED or None)


def disk_space(facts: Facts) -> Measured | None:
    """The fullest of the folders that we write to."""
    free = [
        (amount, text(facts, f"disk{place}_folder"))
        for place in range(16)
        if (amount := number(facts, f"disk{place}_free_bytes")) is not None
    ]
    if not free:
        return None
    least, folder = min(free)
    words = tr("{free} free for {folder}", free=bytes_in_words(least), folder=folder)
    return Measured(words, least < DISK_WANTED_BYTES)


def screen(facts: Facts) -> Measured | None:
    """Whether there is a display to open a window on."""
    if text(facts, "os") != "Linux":
        return None
    shown = next((name for name in ("wayland_display", "display") if text(facts, name)), "")
    if shown:
        return Measured(tr("a display is set: {display}", display=text(facts, shown)), False)
    return Measured(tr("neither DISPLAY nor WAYLAND_DISPLAY is set"), True)


def qt_libraries(facts: Facts) -> Measured | None:
    """System libraries that Qt needs."""
    missing = facts.get("qt_libraries_missing")
    if missing is None:
        return None
    return Measured(tr("not found on this system: {names}", names=str(missing)), True) if missing else None


def cpu_count(facts: Facts) -> Measured | None:
    """The cores that may be used."""
    count = number(facts, "usable_cpu_count") or number(facts, "cpu_count")
    return Measured(trn(int(count), "{n} CPU core can be used", "{n} CPU cores can be used")) if count else None


def libc(facts: Facts) -> Measured | None:
    """The system's C library against the needed one."""
    version, need = text(facts, "libc_version"), text(facts, "need")
    if not version:
        return None
    if not need.startswith("GLIBC_"):
        return Measured(tr("this system has glibc {version}", version=version))
    words = tr("this system has glibc {version}, {need} is needed", version=version, need=need)
    return Measured(words, version_numbers(version) < version_numbers(need.removeprefix("GLIBC_")))


def visible_cards(facts: Facts) -> Measured | None:
    """How many cards there are, and what hides some."""
    count, visible = number(facts, "gpu_count"), facts.get("cuda_visible_devices")
    if count is None:
        return nvidia_driver(facts)
    if visible is not None:
        words = tr("{n} cards, CUDA_VISIBLE_DEVICES={visible}", n=int(count), visible=str(visible))
        return Measured(words, None)
    return Measured(trn(int(count), "{n} NVIDIA card found", "{n} NVIDIA cards found"), None)


CHECKS: Registry[Check] = Registry(
    "check",
    {
        check.__name__: check
        for check in (
            gpu_memory, fragmentation, host_memory, batch_in_use, learning_rate_in_use, last_batch, class_count,
            cpu_build, nvidia_driver, driver_against_runtime, gpu_architecture, library_path, nvidia_packages,
            torchvision_pair, numpy_pair, shm_size, open_files, disk_space, screen, qt_libraries, cpu_count, libc,
            visible_cards,
        )
    },
)  # fmt: skip
