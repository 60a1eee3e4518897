"""What a finished model says to pictures: the same way to the input as in training, in batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from studio.core.text import problem_message
from studio.dataset.loading import Pixels, Refused, load_working
from studio.engine.artefact import LoadedModel
from studio.engine.batches import Normaliser
from studio.engine.trouble import Stopped

# Batches of at most so many pictures and input bytes: large enough to be fast, small enough for any device.
_BATCH_PICTURES = 64
_BATCH_BYTES = 32 * 1024**2


@dataclass(frozen=True, slots=True)
class Prediction:
    """One picture's most likely labels with their probabilities, best first; or why it was refused."""

    path: str
    top: tuple[tuple[str, float], ...] = ()
    refused: str | None = None


def predict(
    model: LoadedModel,
    paths: Sequence[Path | str],
    *,
    top: int = 5,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop_asked: Callable[[], bool] = lambda: False,
) -> list[Prediction]:
    """A `Prediction` for each of `paths`, in order.

    Raises:
        Stopped: `stop_asked` said so between two batches.
    """
    normaliser = Normaliser(model.preprocessing.mean, model.preprocessing.std, model.device)
    item_bytes = int(np.prod(model.preprocessing.shape)) * 4
    size = max(1, min(_BATCH_PICTURES, _BATCH_BYTES // item_bytes))
    found: list[Prediction] = []
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1), thread_name_prefix="lantern-predict") as threads:
        for batch in _batches(paths, size):
            if stop_asked():
                raise Stopped
            loaded = list(threads.map(lambda path: _loaded(model, path), batch))
            found.extend(_classified(model, normaliser, batch, loaded, top))
            progress(len(found), len(paths))
    return found


def _batches(paths: Sequence[Path | str], size: int) -> Iterator[list[Path | str]]:
    rest = iter(paths)
    while batch := list(islice(rest, size)):
        yield batch


def _loaded(model: LoadedModel, path: Path | str) -> Pixels | str:
    """The network's input, or the sentence that says why there is none."""
    try:
        return load_working(Path(path), model.preprocessing)
    except Refused as refused:
        return problem_message(refused.problem)


def _classified(
    model: LoadedModel, normaliser: Normaliser, paths: Sequence[Path | str], loaded: Sequence[Pixels | str], top: int
) -> list[Prediction]:
    pictures = [pixels for pixels in loaded if not isinstance(pixels, str)]
    rows: Iterator[tuple[tuple[str, float], ...]] = iter(())
    if pictures:
        with torch.inference_mode():
            # Stacked as they lie in memory: height x width x channels.
            stacked = np.stack([pixels.transpose(1, 2, 0) for pixels in pictures]).transpose(0, 3, 1, 2)
            logits = model.net(normaliser(torch.from_numpy(stacked)))
            values, places = logits.float().softmax(1).topk(min(max(top, 1), len(model.labels)))
        rows = iter(
            tuple((model.labels[place], value) for place, value in zip(row_places, row_values, strict=True))
            for row_places, row_values in zip(places.tolist(), values.tolist(), strict=True)
        )
    return [
        Prediction(str(path), refused=pixels) if isinstance(pixels, str) else Prediction(str(path), next(rows))
        for path, pixels in zip(paths, loaded, strict=True)
    ]
