"""A project that needs more memory than the device it would train on has is told before any run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.advice.room import too_large_for
from studio.core.check import check
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Block, Data, Network, Project, Recipe
from studio.core.text import problem_message

GIB = 1024**3
NETWORK = Network((Block("b1", "flatten"), Block("b2", "linear", FrozenMap(out_features=8192)), Block("b3", "linear")))
PROJECT = Project("large", Data("somewhere", classes=("a", "b")), network=NETWORK)  # about 2.2 GiB to train


def told(device: str, **facts: Value) -> Problem | None:
    project = replace(PROJECT, recipe=Recipe(device=device))
    return too_large_for(project, check(project), FrozenMap(facts))


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_that_too_little_memory_is_told_with_both_sizes(device: str) -> None:
    problem = told(device, memory_total_bytes=GIB)
    assert problem is not None and problem.code == "network.memory"
    assert "1.0 GiB of this computer" in problem_message(problem)
    assert told(device, memory_total_bytes=64 * GIB) is None


def test_that_the_limit_of_a_container_counts() -> None:
    assert told("cpu", memory_total_bytes=64 * GIB, memory_limit_bytes=GIB) is not None


def test_that_the_card_counts_where_torch_would_take_it() -> None:
    card: dict[str, Value] = {"gpu_count": 1, "gpu0_total_bytes": GIB, "gpu0_name": "A card", "torch_build": "13.0"}
    for device in ("auto", "cuda", "cuda:0"):
        problem = told(device, memory_total_bytes=64 * GIB, **card)
        assert problem is not None and problem.facts["device"] == "A card"
    assert told("cpu", memory_total_bytes=64 * GIB, **card) is None
    assert told("auto", **{**card, "torch_build": "cpu"}, memory_total_bytes=64 * GIB) is None


def test_that_what_is_not_known_is_no_trouble() -> None:
    assert told("auto") is None
    assert told("mps", memory_total_bytes=GIB) is None
    assert told("cuda", memory_total_bytes=GIB) is None
    broken = replace(PROJECT, network=Network((Block("b1", "linear"),)))
    assert too_large_for(broken, check(broken), FrozenMap(memory_total_bytes=1)) is None
