"""The doctor's verdicts on machines that we do not have, and its measuring of the one that we do."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from studio.advice import machine
from studio.advice.checks import CHECKS, driver_against_runtime, host_memory, last_batch, shm_size
from studio.advice.doctor import Check, doctor, judge, worst
from studio.advice.versions import card_is_served, driver_serves, numpy_fits_torch, torch_fits_torchvision
from studio.core.fields import Value
from studio.core.frozen import FrozenMap

GOOD: dict[str, Value] = {
    "os": "Linux", "os_version": "6.1", "machine": "x86_64", "python_version": "3.12.4", "python_bits": 64,
    "torch_version": "2.14.1", "torch_build": "13.0", "torchvision_version": "0.29.1", "torchvision_wants": "2.14.1",
    "numpy_version": "2.1.0", "nvml": "ok", "driver_version": "580.65", "driver_cuda": "13.0", "gpu_count": 1,
    "gpu0_name": "RTX 4090", "gpu0_capability": "8.9", "gpu0_free_bytes": 20 << 30, "gpu0_total_bytes": 24 << 30,
    "memory_total_bytes": 32 << 30, "memory_available_bytes": 20 << 30, "shm_total_bytes": 16 << 30,
    "open_files_limit": 65536, "usable_cpu_count": 8, "display": ":0", "qt_libraries_missing": "",
    "disk0_folder": "/runs", "disk0_free_bytes": 90 << 30, "disk0_writable": True,
}  # fmt: skip


def verdicts(**changes: Value) -> dict[str, Check]:
    facts = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    return {check.id: check for check in judge(FrozenMap(facts))}


def test_that_a_good_machine_is_fine_in_every_line() -> None:
    checks = verdicts()
    assert {check.verdict for check in checks.values()} == {"ok"}
    assert not any(check.fix for check in checks.values())


TROUBLED: list[tuple[str, str, str, dict[str, Value]]] = [
    ("nvidia-driver", "error", "580.0", {"driver_version": "535.104", "driver_cuda": "12.2"}),
    ("gpu0", "error", "12.6", {"gpu0_name": "GTX 1080", "gpu0_capability": "6.1"}),
    ("gpu0", "error", "code for this card", {"gpu0_capability": "12.0", "torch_build": "12.6"}),
    ("gpu0", "warning", "CPU build", {"torch_build": "cpu"}),
    ("gpu0", "warning", "nvidia-smi", {"gpu0_free_bytes": 1 << 30}),
    ("nvidia-driver", "unknown", "--gpus all",
     {"nvml": "NVMLError_LibraryNotFound", "driver_version": None, "driver_cuda": None, "gpu_count": None}),
    ("shm", "warning", "--shm-size", {"shm_total_bytes": 64 << 20}),
    ("open-files", "warning", "ulimit", {"open_files_limit": 1024}),
    ("memory", "warning", "smaller", {"memory_available_bytes": 500 << 20}),
    ("memory", "warning", "smaller", {"memory_limit_bytes": 512 << 20}),
    ("disk0", "warning", "space", {"disk0_free_bytes": 1 << 20}),
    ("disk0", "error", "permissions", {"disk0_writable": False}),
    ("torch", "error", "pip install", {"torch_version": None}),
    ("torchvision", "error", "together", {"torchvision_wants": "2.13.0"}),
    ("numpy", "error", "numpy<2", {"torch_version": "2.2.1", "torchvision_wants": "2.2.1"}),
    ("nvidia-packages", "warning", "fresh environment", {"nvidia_mismatches": "nvidia-cublas 13.1 (13.0)"}),
    ("python", "error", "3.11", {"python_version": "3.9.2"}),
    ("python", "error", "64-bit", {"python_bits": 32}),
    ("display", "unknown", "terminal", {"display": None}),
    ("qt-libraries", "warning", "apt install", {"qt_libraries_missing": "libEGL"}),
    ("library-path", "warning", "LD_LIBRARY_PATH", {"ld_library_path": "/opt/x:/usr/local/cuda-11.8/lib64"}),
    ("cuda-visible-devices", "warning", "unset", {"cuda_visible_devices": ""}),
    ("torch-import", "error", "DLL load failed", {"torch_imports": False, "torch_import_error": "DLL load failed"}),
    ("proof-cuda", "error", "no kernel image", {"proof_cuda": "no kernel image is available"}),
    ("cuda", "warning", "CPU", {"cuda_available": False}),
    ("cpu", "warning", "OMP_NUM_THREADS", {"torch_threads": 64}),
]  # fmt: skip


@pytest.mark.parametrize(("id", "verdict", "fix", "changes"), TROUBLED)
def test_that_a_troubled_machine_is_told_what_to_do(id: str, verdict: str, fix: str, changes: dict[str, Value]) -> None:
    check = verdicts(**changes)[id]
    assert check.verdict == verdict
    assert fix in check.fix


def test_that_a_machine_without_a_gpu_is_no_trouble() -> None:
    checks = verdicts(torch_build="cpu", nvml="NVMLError", driver_version=None, driver_cuda=None, gpu_count=None)
    assert worst(tuple(checks.values())) == "ok"
    assert checks["nvidia-driver"].value == "none; training runs on the CPU"
    checks = verdicts(nvml="NVMLError", driver_version=None, driver_cuda=None, gpu_count=None, cuda_available=False)
    assert {check.verdict for check in checks.values()} == {"ok", "unknown"}


def test_that_a_mac_and_windows_have_no_lines_of_linux() -> None:
    for system in ("Darwin", "Windows"):
        checks = verdicts(os=system, nvml=None, driver_version=None, shm_total_bytes=None, gpu_count=None, display=None)
        assert not {"display", "qt-libraries", "shm", "nvidia-driver"} & set(checks)


def test_that_nothing_known_gives_no_crash() -> None:
    assert [check.id for check in judge(FrozenMap())] == ["torch"]


def test_that_torchs_own_list_of_architectures_wins() -> None:
    assert card_is_served("12.0", "12.6", "sm_50 sm_120") is True
    assert card_is_served("8.9", "13.0", "sm_80 sm_90") is True
    assert card_is_served("7.0", "13.0", "sm_75 sm_80") is False
    assert card_is_served("10.0", "12.8", "sm_80 compute_90") is True
    assert card_is_served("8.0", "99.9") is None


def test_that_versions_are_paired_as_their_makers_say() -> None:
    assert driver_serves("12.2", "12.6") and not driver_serves("12.9", "13.0")
    assert torch_fits_torchvision("2.14.1+cu130", "2.14.1") and not torch_fits_torchvision("2.14.0", "2.14.1")
    assert numpy_fits_torch("2.0.0", "2.3.0") and not numpy_fits_torch("2.0.0", "2.2.2")


def test_that_this_machine_is_measured_without_torch(tmp_path: Path) -> None:
    checks = doctor([tmp_path / "not" / "yet" / "there"], FrozenMap(proof_cpu="ok"))
    by_id = {check.id: check for check in checks}
    assert by_id["python"].value.startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert by_id["proof-cpu"].verdict == "ok"
    assert str(tmp_path) in by_id["disk0"].value


def test_that_the_build_is_read_from_torchs_files() -> None:
    cuda = "__version__ = '2.14.1+cu130'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n"
    assert machine.build_in(cuda) == "13.0"
    assert machine.build_in(cuda.replace("'13.0'", "None")) == "cpu"
    assert machine.build_in(cuda.replace("hip: Optional[str] = None", "hip: Optional[str] = '6.2'")) == "rocm"
    assert machine.build_in("nothing") is None


def fake_nvml(**functions: object) -> SimpleNamespace:
    memory = SimpleNamespace(total=24 << 30, free=20 << 30)
    known: dict[str, object] = {
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlSystemGetDriverVersion": lambda: b"580.65.06",
        "nvmlSystemGetCudaDriverVersion_v2": lambda: 13000,
        "nvmlDeviceGetCount": lambda: 2,
        "nvmlDeviceGetHandleByIndex": lambda place: place,
        "nvmlDeviceGetName": lambda card: f"Card {card}",
        "nvmlDeviceGetCudaComputeCapability": lambda card: (9, 0),
        "nvmlDeviceGetMemoryInfo": lambda card: memory,
        "nvmlDeviceGetComputeRunningProcesses": lambda card: [1, 2],
    }
    return SimpleNamespace(**{**known, **functions})


def test_that_cards_are_read_from_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml())
    facts = machine.measure()
    assert (facts["driver_version"], facts["driver_cuda"], facts["gpu_count"]) == ("580.65.06", "13.0", 2)
    assert (facts["gpu1_name"], facts["gpu1_capability"], facts["gpu1_free_bytes"]) == ("Card 1", "9.0", 20 << 30)


def test_that_a_card_that_does_not_answer_is_named_and_hides_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(card: int) -> str:
        raise RuntimeError("GPU is lost")

    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(nvmlDeviceGetName=lost))
    checks = {check.id: check for check in judge(machine.measure())}
    assert "GPU is lost" in checks["nvidia-cards"].value
    assert "memory" in checks


def test_that_checks_without_facts_say_nothing() -> None:
    silent = {name for name in CHECKS if CHECKS[name](FrozenMap()) is None}
    assert silent == set(CHECKS)


def test_that_checks_confirm_or_speak_against() -> None:
    small = shm_size(FrozenMap(shm_total_bytes=64 << 20, shm_free_bytes=1 << 20))
    assert small is not None and small.confirms and "64 MiB" in small.sentence
    absurd = host_memory(FrozenMap(asked_bytes=10**15, memory_total_bytes=2**34, memory_available_bytes=2**33))
    assert absurd is not None and absurd.confirms and "a size in the network" in absurd.sentence
    fits = driver_against_runtime(FrozenMap(torch_build="12.6", driver_cuda="13.0"))
    assert fits is not None and fits.confirms is False
    left = last_batch(FrozenMap(train_count=65, batch_size=32))
    assert left is not None and left.confirms
