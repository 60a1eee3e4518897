"""Measures the machine without torch and without Qt: one flat map of facts that the checks and the doctor judge.

A fact that cannot be measured here is absent. Names: `*_bytes` are sizes, versions are text. The engine adds what only
torch knows (`TORCH_FACTS`); tests hand in whole machines that we do not have.
"""

from __future__ import annotations

import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from studio.advice.hint import Facts
from studio.core.fields import Value
from studio.core.frozen import FrozenMap

# What the engine reports of torch, where it was asked; see `studio.advice.doctor.doctor`.
TORCH_FACTS = (
    "torch_imports",
    "torch_import_error",
    "cuda_available",
    "cuda_error",
    "arch_list",
    "cudnn_version",
    "proof_cpu",
    "proof_cuda",
    "proof_mps",
    "torch_threads",
)
# Loaded by Qt's xcb plugin and by QtGui on Linux (doc.qt.io/qt-6/linux-requirements.html).
_QT_LIBRARIES = ("EGL", "GL", "xkbcommon", "xcb-cursor", "xkbcommon-x11", "fontconfig", "dbus-1")


def measure(folders: Sequence[Path] = ()) -> Facts:
    """The facts of this machine; `folders` are those whose free space matters. Takes some ten milliseconds."""
    facts: dict[str, Value] = {}
    for part in (_system(), _memory(), _limits(), _packages(), _graphics(), _screen(), _space(folders)):
        facts.update({name: value for name, value in part if value is not None})
    return FrozenMap(facts)


def _system() -> Iterator[tuple[str, Value]]:
    yield "os", platform.system()
    yield "os_version", platform.release()
    yield "machine", platform.machine()
    yield "wsl", "microsoft" in platform.release().lower()
    yield "python_version", platform.python_version()
    yield "python_bits", 64 if sys.maxsize > 2**32 else 32
    yield "virtual_environment", sys.prefix != sys.base_prefix
    name, version = platform.libc_ver()
    if name:
        yield "libc", name
        yield "libc_version", version
    yield "cpu_count", os.cpu_count()
    with suppress(AttributeError, OSError):
        yield "usable_cpu_count", len(os.sched_getaffinity(0))
    for variable in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "PYTORCH_ALLOC_CONF"):
        yield variable.lower(), os.environ.get(variable)


def _memory() -> Iterator[tuple[str, Value]]:
    with suppress(psutil.Error, OSError):
        memory = psutil.virtual_memory()
        yield "memory_total_bytes", memory.total
        yield "memory_available_bytes", memory.available
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            limit = int(Path(path).read_text())
            # An unlimited version 1 group shows a number near 2**63.
            if limit < 2**60:
                yield "memory_limit_bytes", limit
                return


def _limits() -> Iterator[tuple[str, Value]]:
    with suppress(ImportError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            yield "open_files_limit", soft
        if hard != resource.RLIM_INFINITY:
            yield "open_files_most", hard
    with suppress(OSError):
        yield "open_files", len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - one name per descriptor is all we need
    with suppress(OSError):
        shared = shutil.disk_usage("/dev/shm")
        yield "shm_total_bytes", shared.total
        yield "shm_free_bytes", shared.free


def _packages() -> Iterator[tuple[str, Value]]:
    for name in ("torch", "torchvision", "numpy", "pillow", "onnxruntime"):
        with suppress(importlib.metadata.PackageNotFoundError):
            yield f"{name}_version", importlib.metadata.version(name)
    build = torch_build()
    if build is not None:
        yield "torch_build", build
    yield "torchvision_wants", _pinned("torchvision", "torch")
    mismatched = ", ".join(_nvidia_mismatches())
    if mismatched:
        yield "nvidia_mismatches", mismatched


def torch_build() -> str | None:
    """ "cpu", "13.0" (CUDA), "rocm" or None, read from torch's files: importing it would take seconds and memory."""
    with suppress(ImportError, ValueError, OSError):
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.origin:
            return build_in((Path(spec.origin).parent / "version.py").read_text("utf-8"))
    return None


def build_in(version_module: str) -> str | None:
    """The build that the text of torch's `version.py` names."""
    if re.search(r"^hip\b[^=\n]*=\s*['\"]", version_module, re.MULTILINE):
        return "rocm"
    found = re.search(r"^cuda\b[^=\n]*=\s*(?:['\"](?P<version>[\d.]+)['\"]|None)", version_module, re.MULTILINE)
    return found and (found["version"] or "cpu")


def _pinned(package: str, wanted: str) -> str | None:
    """The exact version of `wanted` that `package` was built for."""
    with suppress(importlib.metadata.PackageNotFoundError):
        for requirement in importlib.metadata.requires(package) or ():
            found = re.match(rf"{wanted}\s*\(?==\s*(?P<version>[\w.]+)", requirement)
            if found:
                return found["version"]
    return None


def _nvidia_mismatches() -> Iterator[str]:
    """NVIDIA packages that are not of the version that the installed torch asks for."""
    with suppress(importlib.metadata.PackageNotFoundError):
        for requirement in importlib.metadata.requires("torch") or ():
            found = re.match(r"(?P<name>nvidia-[\w-]+)\s*\(?==\s*(?P<version>[\d.]+)(?P<marker>.*)", requirement)
            if found is None or "extra ==" in found["marker"]:
                continue
            with suppress(importlib.metadata.PackageNotFoundError):
                present = importlib.metadata.version(found["name"])
                if present != found["version"]:
                    yield f"{found['name']} {present} ({found['version']})"


def _graphics() -> Iterator[tuple[str, Value]]:
    """The NVIDIA driver and its cards; `nvml` says why there are none."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception as error:  # noqa: BLE001 - NVML has its own errors, and OSErrors of a library that does not load
        yield "nvml", type(error).__name__
        return
    try:
        yield "nvml", "ok"
        yield "driver_version", _text(pynvml.nvmlSystemGetDriverVersion())
        number = int(pynvml.nvmlSystemGetCudaDriverVersion_v2())
        yield "driver_cuda", f"{number // 1000}.{number % 1000 // 10}"
        count = int(pynvml.nvmlDeviceGetCount())
        yield "gpu_count", count
        for place in range(count):
            yield from _card(place)
    except Exception as error:  # noqa: BLE001 - a card that fell off the bus must not hide the rest
        yield "nvml_error", f"{type(error).__name__}: {error}"
    finally:
        with suppress(Exception):
            pynvml.nvmlShutdown()


def _card(place: int) -> Iterator[tuple[str, Value]]:
    import pynvml

    handle = pynvml.nvmlDeviceGetHandleByIndex(place)
    yield f"gpu{place}_name", _text(pynvml.nvmlDeviceGetName(handle))
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    yield f"gpu{place}_capability", f"{major}.{minor}"
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    yield f"gpu{place}_total_bytes", int(memory.total)
    yield f"gpu{place}_free_bytes", int(memory.free)
    with suppress(Exception):
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
        yield f"gpu{place}_processes", len(processes)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _screen() -> Iterator[tuple[str, Value]]:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        yield variable.lower(), os.environ.get(variable) or None
    if platform.system() == "Linux":
        missing = [name for name in _QT_LIBRARIES if ctypes.util.find_library(name) is None]
        yield "qt_libraries_missing", ", ".join(f"lib{name}" for name in missing)


def _space(folders: Sequence[Path]) -> Iterator[tuple[str, Value]]:
    for place, folder in enumerate(folders):
        with suppress(OSError):
            existing = next(path for path in (folder, *folder.parents) if path.exists())
            yield f"disk{place}_folder", str(folder)
            yield f"disk{place}_free_bytes", shutil.disk_usage(existing).free
            yield f"disk{place}_writable", os.access(existing, os.W_OK)
