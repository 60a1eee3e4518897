"""Devices are chosen by name; what is missing is said with what there is."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from studio.engine import device as module
from studio.engine.device import available_devices, choose_device, device_text, free_bytes, total_bytes
from studio.engine.trouble import Trouble

pytestmark = pytest.mark.torch


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"Card {device.index}")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5, 10))


@pytest.fixture
def apple(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)


@pytest.mark.usefixtures("two_cards")
def test_that_auto_takes_the_first_card_and_names_choose_others() -> None:
    assert available_devices() == ("cuda:0", "cuda:1", "cpu")
    assert [str(choose_device(name)) for name in ("auto", "", "cuda", "CUDA:1", " cpu ")] == [
        "cuda:0",
        "cuda:0",
        "cuda:0",
        "cuda:1",
        "cpu",
    ]
    assert device_text(torch.device("cuda:1")) == "Card 1"
    assert free_bytes(torch.device("cuda:1")) == 5


@pytest.mark.usefixtures("apple")
def test_that_auto_takes_apples_gpu_where_there_is_no_card() -> None:
    assert str(choose_device("auto")) == "mps"
    assert device_text(torch.device("mps")) == "Apple GPU"


@pytest.mark.usefixtures("two_cards")
@pytest.mark.parametrize("name", ["cuda:2", "mps", "tpu", "cuda:x"])
def test_that_a_missing_device_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(Trouble) as caught:
        choose_device(name)
    problem = caught.value.problem
    assert problem.code == "device_missing"
    assert dict(problem.facts) == {"device": name, "available": "cuda:0, cuda:1, cpu"}
    assert name in str(caught.value)


def test_that_the_processor_is_named_and_its_memory_known() -> None:
    cpu = torch.device("cpu")
    assert device_text(cpu).endswith("(1 thread)")
    free, total = free_bytes(cpu), total_bytes(cpu)
    assert free is not None and total is not None and 0 < free < total


def test_that_each_kind_of_device_is_waited_for_and_its_cache_released(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: calls.append(f"wait {device}"))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty cuda"))
    monkeypatch.setattr(torch.mps, "synchronize", lambda: calls.append("wait mps"))
    monkeypatch.setattr(torch.mps, "empty_cache", lambda: calls.append("empty mps"))
    for name in ("cuda:1", "mps", "cpu"):
        module.synchronise(torch.device(name))
        module.release_cache(torch.device(name))
    assert calls == ["wait cuda:1", "empty cuda", "wait mps", "empty mps"]
