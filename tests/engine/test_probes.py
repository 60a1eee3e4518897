"""The memory probes count what is there, keep nothing alive, and say nothing where a counter is missing."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from studio.core.events import MemorySampled, event_from_line

pytest.importorskip("torch")

import torch
from torch.nn import functional

from studio.engine.emit import Emitter
from studio.engine.probes import host as host_module
from studio.engine.probes.gpu import GpuProbe
from studio.engine.probes.host import PeakResident, native_bytes, resident_bytes, sample_host
from studio.engine.probes.sampler import Sampler
from studio.engine.probes.tensors import census, graph_saved

pytestmark = pytest.mark.torch

MIB = 1024**2
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


def test_that_host_counters_are_plausible() -> None:
    sample = sample_host()
    assert sample.total_bytes is not None and sample.available_bytes is not None
    assert 10 * MIB < sample.resident_bytes < sample.total_bytes
    assert sample.available_bytes <= sample.total_bytes
    assert (sample.python_blocks or 0) > 1000


@linux
def test_that_the_allocators_live_bytes_follow_a_native_allocation() -> None:
    if native_bytes() == (None, None):
        pytest.skip("this C library has no mallinfo2")
    before = native_bytes()[0] or 0
    held = torch.zeros(32 * MIB, dtype=torch.uint8)
    grown = (native_bytes()[0] or 0) - before
    del held
    assert 32 * MIB <= grown < 34 * MIB
    assert (native_bytes()[0] or 0) - before < MIB


def test_that_another_platform_falls_back_without_native_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    real = resident_bytes()
    monkeypatch.setattr(sys, "platform", "darwin")
    host_module._mallinfo2.cache_clear()
    try:
        sample = sample_host()
    finally:
        host_module._mallinfo2.cache_clear()
    assert sample.native_live_bytes is None and sample.native_kept_bytes is None
    assert sample.resident_bytes == pytest.approx(real, rel=0.2)


@linux
def test_that_the_peak_sees_what_came_and_went_between_two_samples() -> None:
    peak = PeakResident()
    if not peak._is_marked:
        pytest.skip("this system does not reset the mark")
    before = resident_bytes()
    held = bytearray(64 * MIB)
    held[::4096] = bytes(len(held[::4096]))
    del held
    assert peak.bytes() >= before + 50 * MIB


def test_that_without_a_mark_the_largest_sample_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_module, "_reset_high_water_mark", lambda: False)
    peak = PeakResident()
    peak.saw(10**12)
    peak.saw(5)
    assert peak.bytes() == 10**12


def parts() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    net = torch.nn.Sequential(torch.nn.Linear(100, 50), torch.nn.ReLU(), torch.nn.Linear(50, 10))
    return net, torch.optim.Adam(net.parameters())


def test_that_live_tensors_are_counted_by_role_with_their_exact_bytes() -> None:
    gc.collect()
    gc.freeze()
    net, optimiser = parts()
    weights = sum(p.numel() for p in net.parameters()) * 4
    x = torch.rand(8, 100)
    loss = functional.cross_entropy(net(x), torch.zeros(8, dtype=torch.int64))
    saved = graph_saved(loss, (*net.parameters(), x))
    torch.autograd.backward(loss)
    optimiser.step()
    stray = torch.zeros(1000)
    view = stray[10:]
    totals = {total.role: total for total in census(net, optimiser, (x,), saved)}
    assert (totals["weights"].count, totals["weights"].bytes) == (4, weights)
    assert (totals["gradients"].count, totals["gradients"].bytes) == (4, weights)
    assert totals["optimiser"].bytes == 2 * weights + 4 * 4
    assert (totals["data"].count, totals["data"].bytes) == (1, 8 * 100 * 4)
    # The ReLU's output is kept once for two operations; beside it the log-probabilities, the labels and a total.
    assert 8 * 50 * 4 + 8 * 10 * 4 <= totals["activations"].bytes <= 8 * 50 * 4 + 8 * 10 * 4 + 8 * 8 + 64
    assert totals["other"].bytes == stray.untyped_storage().nbytes() + loss.untyped_storage().nbytes()
    assert view.shape == (990,)


def test_that_a_census_keeps_nothing_alive() -> None:
    net, optimiser = parts()
    x = torch.rand(8, 100)
    loss = net(x).sum()
    saved = graph_saved(loss, ())
    totals = census(net, optimiser, (x,), saved)
    gone = [weakref.ref(thing) for thing in (net, x, loss)]
    del net, optimiser, x, loss
    assert totals
    assert all(reference() is None for reference in gone)


def fake_nvml(**more: Any) -> SimpleNamespace:
    def refuse(*_: Any) -> None:
        raise RuntimeError("not supported")

    names = ("nvmlInit", "nvmlShutdown", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetMemoryInfo")
    more_names = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetUtilizationRates")
    return SimpleNamespace(**{**dict.fromkeys((*names, *more_names), refuse), **more})


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> torch.device:
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid="abc"))
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 100)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 200)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: 150)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: None)
    return torch.device("cuda:0")


def test_that_a_card_is_seen_by_torch_and_by_nvml(card: torch.device) -> None:
    asked: list[str] = []
    processes = [SimpleNamespace(pid=os.getpid(), usedGpuMemory=300), SimpleNamespace(pid=1, usedGpuMemory=40)]
    nvml = fake_nvml(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: asked.append("shutdown"),
        nvmlDeviceGetHandleByUUID=asked.append,
        nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(used=500, total=1000),
        nvmlDeviceGetComputeRunningProcesses=lambda handle: processes,
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=75),
    )
    probe = GpuProbe(card, nvml)
    sample = probe.sample()
    probe.close()
    assert sample is not None
    assert (sample.allocated_bytes, sample.reserved_bytes, sample.peak_allocated_bytes) == (100, 200, 150)
    assert (sample.card_used_bytes, sample.card_total_bytes) == (500, 1000)
    assert (sample.other_processes_bytes, sample.utilisation) == (40, 0.75)
    assert probe.peak_bytes() == 150
    assert asked == ["GPU-abc", "shutdown"]


@pytest.mark.parametrize("working", [(), ("nvmlInit",)])
def test_that_without_nvml_only_torch_is_asked(card: torch.device, working: tuple[str, ...]) -> None:
    sample = GpuProbe(card, fake_nvml(**dict.fromkeys(working, lambda: None))).sample()
    assert sample is not None and sample.allocated_bytes == 100
    assert sample.card_used_bytes is None and sample.utilisation is None


def test_that_apples_gpu_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    values = iter([30, 70, 50])
    monkeypatch.setattr(torch.mps, "current_allocated_memory", lambda: next(values))
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 90)
    probe = GpuProbe(torch.device("mps"))
    probe.start_peak()
    samples = [probe.sample() for _ in range(3)]
    assert [s.peak_allocated_bytes for s in samples if s] == [30, 70, 70]


def test_that_the_cpu_has_no_gpu_memory() -> None:
    probe = GpuProbe(torch.device("cpu"))
    assert probe.sample() is None and probe.peak_bytes() is None


def samples(path: Path) -> list[MemorySampled]:
    events = [event_from_line(line) for line in path.read_text().splitlines()]
    return [event for event in events if isinstance(event, MemorySampled)]


def test_that_memory_is_sampled_at_most_four_times_a_second(tmp_path: Path) -> None:
    now = [0.0]
    emitter = Emitter(tmp_path / "e.jsonl")
    sampler = Sampler(emitter, GpuProbe(torch.device("cpu")), clock=lambda: now[0])
    for step in range(1, 1001):
        now[0] = step * 0.002
        sampler.at_step(step, 1)
        sampler.tick()
    emitter.close()
    found = samples(tmp_path / "e.jsonl")
    assert 7 <= len(found) <= 9
    assert found[-1].step > 750
    assert sampler.peak_bytes() >= max(sample.host.resident_bytes for sample in found)


def test_that_an_expensive_census_waits_longer_for_the_next_unless_a_person_asks(tmp_path: Path) -> None:
    now = [0.0]
    emitter = Emitter(tmp_path / "e.jsonl")
    sampler = Sampler(emitter, GpuProbe(torch.device("cpu")), clock=lambda: now[0])
    due_at_first = sampler.is_census_due
    assert due_at_first

    def slow() -> tuple[()]:
        now[0] += 0.05
        return ()

    sampler.with_census(1, 1, slow)
    now[0] += 4.9
    due_while_waiting = sampler.is_census_due
    assert not due_while_waiting
    sampler.want_census()
    due_when_asked = sampler.is_census_due
    sampler.with_census(2, 1, tuple)
    now[0] += 1.1
    due_when_cheap = sampler.is_census_due
    assert due_when_asked and due_when_cheap
    emitter.close()
