"""Decoded pictures to batches on the device, in an order that only the seed and the epoch decide."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from studio.core.project import Preprocessing
from studio.engine.balance import balanced_draws
from studio.engine.trouble import Stopped

# Source: torchvision's documentation of its pretrained models. Grey takes the mean of the three.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
# One grey level: what divides by less only enlarges noise, and a data set of one colour would divide by zero.
SMALLEST_STD = 1 / 255
# A batch that takes longer is decoded a few pictures at a time.
_SLOW_SECONDS = 0.5
_FEW_PICTURES = 8
# How soon a Stop is noticed while pictures are being decoded.
LOOK_SECONDS = 0.1

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


class Source(Protocol):
    """Decoded pictures by their place in the index (`studio.dataset`'s cache; tests hand in arrays)."""

    def get(self, indices: Places) -> Bytes:
        """uint8, (B, C, H, W)."""


def resolved_statistics(
    preprocessing: Preprocessing, measured: Callable[[], tuple[Sequence[float], Sequence[float]]]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation per channel, of values from 0 to 1, that this preprocessing means."""
    channels = preprocessing.channel_count
    match preprocessing.normalise:
        case "none":
            return (0.0,) * channels, (1.0,) * channels
        case "imagenet" if channels == 1:
            return (sum(IMAGENET_MEAN) / 3,), (sum(IMAGENET_STD) / 3,)
        case "imagenet":
            return IMAGENET_MEAN, IMAGENET_STD
        case "dataset":
            mean, std = measured()
            return tuple(map(float, mean)), tuple(max(float(value), SMALLEST_STD) for value in std)


class Normaliser:
    """uint8 pictures (N, C, H, W) to the network's input on the device: (value / 255 - mean) / std.

    Training, evaluation and prediction all go through here.
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], device: torch.device) -> None:
        self.device = device
        self._scale = torch.tensor([1 / (255 * s) for s in std], device=device).view(1, -1, 1, 1)
        self._shift = torch.tensor([m / s for m, s in zip(mean, std, strict=True)], device=device).view(1, -1, 1, 1)

    def __call__(self, pictures: torch.Tensor) -> torch.Tensor:
        moved = pictures.to(self.device, non_blocking=True)
        return moved.to(torch.float32, memory_format=torch.channels_last).mul_(self._scale).sub_(self._shift)


@dataclass(frozen=True, slots=True)
class Batch:
    """Pictures (N, C, H, W; channels last in memory) as bytes and labels (N,), on the host; places in the index."""

    pictures: torch.Tensor
    labels: torch.Tensor
    places: Places


def batch_bounds(count: int, batch_size: int, *, merge_single: bool) -> list[tuple[int, int]]:
    """Where each batch begins and ends. The last one may be smaller.

    With `merge_single`, a last batch of one picture joins the batch before it: batch norm cannot be trained on one.
    """
    bounds = [(start, min(start + batch_size, count)) for start in range(0, count, batch_size)]
    if merge_single and len(bounds) > 1 and bounds[-1][1] - bounds[-1][0] == 1:
        bounds[-2:] = [(bounds[-2][0], count)]
    return bounds


def epoch_order(count: int, seed: int, epoch: int) -> Places:
    """The order of pictures in an epoch: a permutation that only these three numbers decide."""
    return np.random.default_rng((seed, epoch)).permutation(count)


class Batches:
    """The batches of one split.

    Args:
        places: which pictures of the source; `labels` has one for each picture of the source.
        seed: shuffles each epoch anew; None keeps the order of `places`.
        balanced: with a seed, each epoch draws its pictures so that all classes come equally often.
        stop_asked: asked while waiting for pictures; True raises `Stopped`.
    """

    def __init__(
        self,
        source: Source,
        places: Places,
        labels: NDArray[np.int64],
        batch_size: int,
        *,
        seed: int | None = None,
        balanced: bool = False,
        merge_single: bool = False,
        pinned: bool = False,
        stop_asked: Callable[[], bool] = lambda: False,
    ) -> None:
        self._source, self._places, self._labels = source, places, labels
        self._seed, self._balanced, self._pinned, self._stop_asked = seed, balanced, pinned, stop_asked
        self._is_slow = True
        self.bounds = batch_bounds(len(places), batch_size, merge_single=merge_single)

    @property
    def picture_count(self) -> int:
        return len(self._places)

    def __len__(self) -> int:
        return len(self.bounds)

    def of_epoch(self, epoch: int = 0, start: int = 0) -> Generator[Batch, None, None]:
        """The batches from number `start` on; while one is in use, the next is prepared in a thread."""
        order = self._order(epoch)
        ahead = ThreadPoolExecutor(1, thread_name_prefix="lantern-batches")
        try:
            waiting: Future[Batch] | None = None
            for number in range(start, len(self.bounds)):
                current = waiting or ahead.submit(self._prepared, order, number)
                batch = self._awaited(current)
                waiting = ahead.submit(self._prepared, order, number + 1) if number + 1 < len(self.bounds) else None
                yield batch
        finally:
            ahead.shutdown(wait=True, cancel_futures=True)

    def _order(self, epoch: int) -> Places:
        if self._seed is None:
            return np.arange(len(self._places))
        if self._balanced:
            return balanced_draws(self._labels[self._places], self._seed, epoch)
        return epoch_order(len(self._places), self._seed, epoch)

    def _awaited(self, coming: Future[Batch]) -> Batch:
        while True:
            try:
                return coming.result(LOOK_SECONDS)
            except NotYet:
                if coming.done():
                    raise
                if self._stop_asked():
                    raise Stopped from None

    def _decoded(self, places: Places) -> Bytes:
        """All of a batch at once while that is quick; a few pictures at a time where they are slow, to hear a Stop."""
        size = _FEW_PICTURES if self._is_slow else len(places)
        began, parts = time.monotonic(), []
        for start in range(0, len(places), size):
            if start and self._stop_asked():
                raise Stopped
            parts.append(self._source.get(places[start : start + size]))
        self._is_slow = time.monotonic() - began > _SLOW_SECONDS
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _prepared(self, order: Places, number: int) -> Batch:
        first, last = self.bounds[number]
        # Sorted within the batch: reads of the cache file go forward, and the batch holds the same pictures.
        chosen = np.sort(order[first:last])
        places = self._places[chosen]
        # Always in one layout, whatever the source gave: sums over pixels depend on it in the last digit.
        pictures = torch.from_numpy(self._decoded(places)).contiguous(memory_format=torch.channels_last)
        labels = torch.from_numpy(self._labels[places])
        if self._pinned:
            pictures, labels = pictures.pin_memory(), labels.pin_memory()
        return Batch(pictures, labels, places)
