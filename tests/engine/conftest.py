"""Fixtures of the engine's tests; torch gets one thread, so that they are repeatable and leave cores to others."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.making import make_pictures, make_project, make_run


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    gc.unfreeze()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four classes of small pictures that are easy to tell apart; read-only for tests."""
    return make_pictures(tmp_path_factory.mktemp("pictures") / "shapes")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests, so that only the first run inspects."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, pictures: Path, cache: Path) -> Path:
    """A run of three epochs that went through without interruption."""
    import torch

    from studio.engine.train import run

    torch.set_num_threads(1)
    folder = make_run(tmp_path_factory.mktemp("finished") / "run", make_project(pictures, epochs=3))
    assert run(folder, cache, launcher="thread") == "finished"
    return folder
