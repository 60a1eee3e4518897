"""The environment doctor: each thing that a run depends on, with its value, a verdict and what to do about it.

`judge` is pure: it takes facts (see `studio.advice.machine`), so machines that we do not have are tested with fakes.
What only torch can tell comes in as facts of the names `machine.TORCH_FACTS`; without them those lines are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from studio.advice import machine
from studio.advice.checks import DISK_WANTED_BYTES, OPEN_FILES_WANTED, SHM_WANTED_BYTES, library_path
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
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.text import tr, trn

Verdict = Literal["ok", "warning", "error", "unknown"]
OLDEST_PYTHON = (3, 11)
# The sample needs about 1 GiB with torch loaded; below half of that free, training will swap.
MEMORY_WANTED_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor. `fix` is a sentence or a command; "" where nothing is to be done."""

    id: str
    value: str
    verdict: Verdict
    fix: str = ""


def doctor(folders: Sequence[Path], torch_facts: Facts | None = None) -> tuple[Check, ...]:
    """Measure this machine and judge it.

    Args:
        folders: those that runs, caches and models are written to; their free space is checked.
        torch_facts: what the engine found: `torch_imports` (bool), `torch_import_error`, `cuda_available` (bool),
            `cuda_error`, `arch_list` ("sm_75 sm_80"), `cudnn_version`, `torch_threads`, and `proof_cpu`, `proof_cuda`,
            `proof_mps`: "ok" or the error of a forward and backward pass there.
    """
    measured = machine.measure(folders)
    return judge(FrozenMap[Value]({**measured, **(torch_facts or {})}))


def judge(facts: Facts) -> tuple[Check, ...]:
    """The checks for a machine with these facts; a fact that is absent gives no line, or one that says so."""
    return tuple(check for part in _PARTS for check in part(facts))


def worst(checks: Sequence[Check]) -> Verdict:
    """The verdict of all together; "unknown" counts as fine."""
    verdicts = {check.verdict for check in checks}
    return "error" if "error" in verdicts else "warning" if "warning" in verdicts else "ok"


def _system(facts: Facts) -> Iterator[Check]:
    name = text(facts, "os")
    value = " ".join(part for part in (name, text(facts, "os_version"), text(facts, "machine")) if part)
    if name:
        yield Check("os", value + (" (WSL)" if facts.get("wsl") else ""), "ok")
    python = text(facts, "python_version")
    if not python:
        return
    if version_numbers(python)[:2] < OLDEST_PYTHON:
        yield Check("python", python, "error", tr("Install Python 3.11 or newer."))
    elif number(facts, "python_bits") == 32:
        fix = tr("Install the 64-bit Python: torch has no 32-bit build.")
        yield Check("python", tr("{version}, 32 bit", version=python), "error", fix)
    else:
        yield Check("python", python, "ok")


def _torch(facts: Facts) -> Iterator[Check]:
    version, build = text(facts, "torch_version"), text(facts, "torch_build")
    together = "pip install --upgrade torch torchvision"
    if not version:
        fix = tr("Training needs torch: {command}", command=together)
        yield Check("torch", tr("not installed"), "error", fix)
        return
    words = {"": "", "cpu": tr("CPU build"), "rocm": tr("ROCm build")}.get(build, tr("built for CUDA {v}", v=build))
    yield Check("torch", f"{version} ({words})" if words else version, "ok")
    vision, wanted = text(facts, "torchvision_version"), text(facts, "torchvision_wants")
    if not vision:
        yield Check("torchvision", tr("not installed"), "warning", together)
    elif wanted and not torch_fits_torchvision(version, wanted):
        value = tr("{version}, built for torch {wanted}", version=vision, wanted=wanted)
        yield Check("torchvision", value, "error", tr("Install both together: {command}", command=together))
    else:
        yield Check("torchvision", vision, "ok")
    numpy = text(facts, "numpy_version")
    if numpy and not numpy_fits_torch(numpy, version):
        yield Check("numpy", numpy, "error", tr("Install an older NumPy: {command}", command='pip install "numpy<2"'))
    elif numpy:
        yield Check("numpy", numpy, "ok")
    mismatches = text(facts, "nvidia_mismatches")
    if mismatches:
        fix = tr("Install torch again in a fresh environment, so that its own packages come with it.")
        yield Check("nvidia-packages", mismatches, "warning", fix)


def _torch_itself(facts: Facts) -> Iterator[Check]:
    imports = facts.get("torch_imports")
    if imports is False:
        fix = tr("Look this error up with studio explain: {error}", error=text(facts, "torch_import_error"))
        yield Check("torch-import", tr("torch does not load"), "error", fix)
    elif imports:
        yield Check("torch-import", tr("torch loads"), "ok")
    # Without a card this is as it should be, and the driver's line says so.
    has_card = bool(number(facts, "gpu_count")) and text(facts, "torch_build") not in ("", "cpu", "rocm")
    if has_card and facts.get("cuda_available") is False:
        fix = text(facts, "cuda_error") or tr("Train on the CPU, or see the lines about the driver and the card.")
        yield Check("cuda", tr("torch cannot use a GPU here"), "warning", fix)
    elif facts.get("cuda_available"):
        yield Check("cuda", tr("torch can use the GPU"), "ok")
    cudnn = facts.get("cudnn_version")
    if cudnn is not None:
        yield Check("cudnn", str(cudnn), "ok")
    for device in ("cpu", "cuda", "mps"):
        proof = text(facts, f"proof_{device}")
        if proof == "ok":
            yield Check(f"proof-{device}", tr("a network trains one step"), "ok")
        elif proof:
            fix = tr("Look this error up with studio explain: {error}", error=proof)
            yield Check(f"proof-{device}", tr("training one step fails"), "error", fix)


def _driver(facts: Facts) -> Iterator[Check]:
    nvml, driver, cuda = text(facts, "nvml"), text(facts, "driver_version"), text(facts, "driver_cuda")
    build = text(facts, "torch_build")
    if not nvml:
        return
    if not driver:
        if build in ("", "cpu", "rocm"):
            yield Check("nvidia-driver", tr("none; training runs on the CPU"), "ok")
        else:
            fix = tr("With an NVIDIA card, install its driver; in a container, start it with --gpus all.")
            yield Check("nvidia-driver", tr("none answers; training runs on the CPU"), "unknown", fix)
        return
    value = tr("{driver}, serves CUDA {cuda}", driver=driver, cuda=cuda or "?")
    if build not in ("", "cpu", "rocm") and cuda and not driver_serves(cuda, build):
        fix = tr(
            "torch was built for CUDA {build}: update the driver to {oldest} or newer, or install a torch build for "
            "CUDA {major}.",
            build=build,
            oldest=oldest_driver(build) or "?",
            major=version_numbers(cuda)[0],
        )
        yield Check("nvidia-driver", value, "error", fix)
    else:
        yield Check("nvidia-driver", value, "ok")
    if text(facts, "nvml_error"):
        yield Check("nvidia-cards", text(facts, "nvml_error"), "warning", tr("Restart the machine, then look again."))


def _cards(facts: Facts) -> Iterator[Check]:
    build = text(facts, "torch_build")
    for place in range(int(number(facts, "gpu_count") or 0)):
        name = text(facts, f"gpu{place}_name")
        capability = text(facts, f"gpu{place}_capability")
        free, total = number(facts, f"gpu{place}_free_bytes"), number(facts, f"gpu{place}_total_bytes")
        value = tr("{name}, compute capability {capability}", name=name, capability=capability or "?")
        if free is not None and total is not None:
            memory = tr("{free} of {total} free", free=bytes_in_words(free), total=bytes_in_words(total))
            value = f"{value}, {memory}"
        verdict, fix = _card_verdict(facts, build, capability, free, total)
        yield Check(f"gpu{place}", value, verdict, fix)


def _card_verdict(
    facts: Facts, build: str, capability: str, free: float | None, total: float | None
) -> tuple[Verdict, str]:
    if build == "cpu":
        return "warning", tr("The installed torch is a CPU build and cannot use this card: install the CUDA build.")
    if build and build != "rocm" and capability:
        served = card_is_served(capability, build, text(facts, "arch_list"))
        if served is False:
            words = tr(
                "The torch build for CUDA {build} has no code for this card: choose another build on "
                "pytorch.org/get-started/locally (older cards: CUDA 12.6), or train on the CPU.",
                build=build,
            )
            return "error", words
    if free is not None and total is not None and free < 0.1 * total:
        return "warning", tr("Almost full: close the other programs that use this card (nvidia-smi lists them).")
    return "ok", ""


def _memory(facts: Facts) -> Iterator[Check]:
    free, total = number(facts, "memory_available_bytes"), number(facts, "memory_total_bytes")
    limit = number(facts, "memory_limit_bytes")
    if free is not None and total is not None:
        total = total if limit is None else min(total, limit)
        value = tr("{free} of {total} free", free=bytes_in_words(min(free, total)), total=bytes_in_words(total))
        if min(free, total) < MEMORY_WANTED_BYTES:
            yield Check("memory", value, "warning", tr("Close other programs, or train with smaller batches."))
        else:
            yield Check("memory", value, "ok")
    shm = number(facts, "shm_total_bytes")
    if shm is not None:
        small = shm < SHM_WANTED_BYTES
        fix = tr("Scripts with loader workers need more: start the container with --shm-size=2g.") if small else ""
        yield Check("shm", bytes_in_words(shm), "warning" if small else "ok", fix)
    files = number(facts, "open_files_limit")
    if files is not None:
        few = files < OPEN_FILES_WANTED
        fix = tr("Raise it for this terminal: {command}", command="ulimit -n 65536") if few else ""
        yield Check("open-files", tr("at most {limit}", limit=int(files)), "warning" if few else "ok", fix)


def _disks(facts: Facts) -> Iterator[Check]:
    for place in range(16):
        folder, free = text(facts, f"disk{place}_folder"), number(facts, f"disk{place}_free_bytes")
        if not folder or free is None:
            return
        value = tr("{free} free for {folder}", free=bytes_in_words(free), folder=folder)
        if facts.get(f"disk{place}_writable") is False:
            fix = tr("Nothing can be written there: choose another folder, or change its permissions.")
            yield Check(f"disk{place}", value, "error", fix)
        elif free < DISK_WANTED_BYTES:
            yield Check(f"disk{place}", value, "warning", tr("Free some space, or keep runs on another disk."))
        else:
            yield Check(f"disk{place}", value, "ok")


def _threads(facts: Facts) -> Iterator[Check]:
    cores = number(facts, "usable_cpu_count") or number(facts, "cpu_count")
    if not cores:
        return
    value = trn(int(cores), "{n} core", "{n} cores")
    threads = number(facts, "torch_threads") or number(facts, "omp_num_threads")
    if threads is None and text(facts, "omp_num_threads").isdecimal():
        threads = int(text(facts, "omp_num_threads"))
    if threads is not None and threads > cores:
        fix = tr("{n} threads share them: set OMP_NUM_THREADS to the number of cores.", n=int(threads))
        yield Check("cpu", value, "warning", fix)
    else:
        yield Check("cpu", value, "ok")


def _display(facts: Facts) -> Iterator[Check]:
    if text(facts, "os") != "Linux":
        return
    shown = text(facts, "wayland_display") or text(facts, "display") or text(facts, "qt_qpa_platform")
    if shown:
        yield Check("display", shown, "ok")
    else:
        fix = tr("The window needs a display; without one, use the terminal commands.")
        yield Check("display", tr("none"), "unknown", fix)
    missing = facts.get("qt_libraries_missing")
    if missing:
        command = "apt install libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libdbus-1-3 libfontconfig1"
        yield Check(
            "qt-libraries", tr("missing: {names}", names=str(missing)), "warning" if shown else "unknown", command
        )
    elif missing is not None:
        yield Check("qt-libraries", tr("all found"), "ok")


def _path(facts: Facts) -> Iterator[Check]:
    measured = library_path(facts)
    if measured is not None:
        fix = tr("Start without it: {command}", command="env -u LD_LIBRARY_PATH studio") if measured.confirms else ""
        yield Check("library-path", measured.sentence, "warning" if measured.confirms else "ok", fix)
    hidden = facts.get("cuda_visible_devices")
    if hidden is not None:
        verdict: Verdict = "ok" if str(hidden) not in ("", "-1") else "warning"
        fix = "" if verdict == "ok" else tr("It hides every card: unset it to train on the GPU.")
        yield Check("cuda-visible-devices", str(hidden), verdict, fix)


_PARTS: tuple[Callable[[Facts], Iterator[Check]], ...] = (
    _system,
    _torch,
    _torch_itself,
    _driver,
    _cards,
    _memory,
    _disks,
    _threads,
    _display,
    _path,
)
