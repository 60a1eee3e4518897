"""Batches come in an order that only the seed and the epoch decide."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.project import Preprocessing

pytest.importorskip("torch")

import torch

from studio.engine.batches import (
    IMAGENET_MEAN,
    SMALLEST_STD,
    Batches,
    Bytes,
    Normaliser,
    Places,
    batch_bounds,
    epoch_order,
    resolved_statistics,
)
from studio.engine.trouble import Stopped

pytestmark = pytest.mark.torch


class Numbers:
    """Pictures whose only pixel is their place."""

    def get(self, indices: Places) -> Bytes:
        return indices.astype(np.uint8).reshape(-1, 1, 1, 1)


def batches(count: int, size: int, seed: int | None = 3) -> Batches:
    places = np.arange(count, dtype=np.int64)
    return Batches(Numbers(), places, places * 10, size, seed=seed)


@given(st.integers(1, 60), st.integers(1, 20), st.booleans())
def test_that_bounds_cover_everything_once(count: int, size: int, merge: bool) -> None:
    bounds = batch_bounds(count, size, merge_single=merge)
    assert [place for start, end in bounds for place in range(start, end)] == list(range(count))
    assert all(end - start <= size for start, end in bounds[:-1])


def test_that_a_last_single_picture_joins_the_batch_before_only_where_asked() -> None:
    assert batch_bounds(9, 4, merge_single=True) == [(0, 4), (4, 9)]
    assert batch_bounds(9, 4, merge_single=False) == [(0, 4), (4, 8), (8, 9)]
    assert batch_bounds(1, 4, merge_single=True) == [(0, 1)]


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 5))
def test_that_an_epoch_shows_each_picture_once_with_its_own_label(count: int, size: int, epoch: int) -> None:
    seen = list(batches(count, size).of_epoch(epoch))
    places = np.concatenate([batch.places for batch in seen])
    assert sorted(places.tolist()) == list(range(count))
    for batch in seen:
        assert batch.pictures.reshape(-1).tolist() == batch.places.tolist()
        assert batch.labels.tolist() == (batch.places * 10).tolist()


def test_that_epochs_differ_and_repeat_with_the_seed() -> None:
    assert epoch_order(50, 1, 0).tolist() == epoch_order(50, 1, 0).tolist()
    assert epoch_order(50, 1, 0).tolist() != epoch_order(50, 1, 1).tolist()
    assert epoch_order(50, 1, 0).tolist() != epoch_order(50, 2, 0).tolist()


def test_that_starting_in_the_middle_gives_the_rest_of_the_epoch() -> None:
    whole = [batch.places.tolist() for batch in batches(20, 3).of_epoch(4)]
    assert [batch.places.tolist() for batch in batches(20, 3).of_epoch(4, 3)] == whole[3:]
    assert list(batches(20, 3).of_epoch(4, 7)) == []


def test_that_a_stop_is_noticed_while_pictures_are_being_decoded() -> None:
    release = threading.Event()

    class Slow(Numbers):
        def get(self, indices: Places) -> Bytes:
            release.wait(20)
            return super().get(indices)

    def stop_asked() -> bool:
        threading.Timer(0.2, release.set).start()  # so that the waiting thread can end
        return True

    slow = Batches(Slow(), np.arange(4), np.arange(4), 2, stop_asked=stop_asked)
    with pytest.raises(Stopped):
        next(slow.of_epoch())


def test_that_what_a_picture_raises_reaches_the_loop() -> None:
    class Broken(Numbers):
        def get(self, indices: Places) -> Bytes:
            raise TimeoutError("the disk is slow")

    with pytest.raises(TimeoutError, match="slow"):
        next(Batches(Broken(), np.arange(4), np.arange(4), 2).of_epoch())


def test_that_normalising_is_the_documented_formula() -> None:
    mean, std = (0.2, 0.4, 0.6), (0.1, 0.5, 1.0)
    pictures = torch.arange(2 * 3 * 4 * 5, dtype=torch.uint8).reshape(2, 3, 4, 5)
    shaped = [torch.tensor(values).view(1, 3, 1, 1) for values in (mean, std)]
    expected = (pictures.float() / 255 - shaped[0]) / shaped[1]
    torch.testing.assert_close(Normaliser(mean, std, torch.device("cpu"))(pictures), expected)


def test_that_each_way_to_normalise_has_its_numbers() -> None:
    def measured() -> tuple[list[float], list[float]]:
        return [0.5], [0.0]

    assert resolved_statistics(Preprocessing(normalise="none"), measured) == ((0.0,) * 3, (1.0,) * 3)
    assert resolved_statistics(Preprocessing(normalise="imagenet"), measured)[0] == IMAGENET_MEAN
    grey = Preprocessing(channels="grey", normalise="imagenet")
    assert resolved_statistics(grey, measured)[0] == (sum(IMAGENET_MEAN) / 3,)
    assert resolved_statistics(Preprocessing(channels="grey"), measured) == ((0.5,), (SMALLEST_STD,))
