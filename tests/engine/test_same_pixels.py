"""A picture reaches the network with the same numbers, bit for bit, in training, evaluation and prediction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from studio.core.project import Preprocessing
from studio.dataset.arrays import DecodedCache
from studio.dataset.inspect import inspect
from studio.dataset.scan import scan

pytest.importorskip("torch")

import torch
from torch import nn

from studio.engine.artefact import LoadedModel
from studio.engine.augment import augmenter_of
from studio.engine.batches import Batches, Normaliser
from studio.engine.evaluate import evaluate
from studio.engine.predict import predict
from tests.engine.making import make_project

pytestmark = pytest.mark.torch

CPU = torch.device("cpu")
PROJECT = make_project(Path("unused"))
MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)


class Recorder(nn.Module):
    """A network that only remembers what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[torch.Tensor] = []

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        self.seen.extend(inputs.unbind())
        return torch.zeros(len(inputs), 2)


def photos(folder: Path) -> Path:
    """JPEGs and PNGs of several sizes, colour and grey, one of them turned by its EXIF."""
    rng = np.random.default_rng(9)
    for number in range(12):
        size = (30 + 7 * number, 61 - 2 * number)
        image = Image.fromarray(rng.integers(0, 256, (*size, 3), np.uint8)).convert("L" if number % 5 == 0 else "RGB")
        path = folder / f"class{number % 2}" / f"{number:02}.{'png' if number % 4 == 3 else 'jpg'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        exif = Image.Exif()
        exif[0x0112] = 6 if number == 4 else 1
        image.save(path, exif=exif)
    return folder


@pytest.mark.parametrize("channels", ["colour", "grey"])
@pytest.mark.parametrize("fit", ["stretch", "crop", "pad"])
def test_that_every_way_to_the_network_gives_the_same_numbers(channels: str, fit: str, tmp_path: Path) -> None:
    inspection = inspect(scan(photos(tmp_path / "set")), tmp_path / "cache")
    count = 1 if channels == "grey" else 3
    preprocessing = replace(
        Preprocessing(height=24, width=32, mean=MEAN[:count], std=STD[:count]),
        channels=channels,  # type: ignore[arg-type]  # one of the two that there are
        fit=fit,  # type: ignore[arg-type]
    )
    normaliser = Normaliser(preprocessing.mean, preprocessing.std, CPU)
    places = np.arange(12)
    labels = inspection.index.pictures.labels.astype(np.int64)
    augmenter = augmenter_of(replace(PROJECT, preprocessing=preprocessing))
    decoded, stored, evaluated, predicted = (Recorder() for _ in range(4))
    for net in (decoded, stored):  # the first run decodes, the second reads its store
        with DecodedCache(inspection, preprocessing, tmp_path / "cache") as cache:
            assert cache.stored == (0 if net is decoded else 12)
            for batch in Batches(cache, places, labels, 5).of_epoch():
                net(normaliser(augmenter.lesson(batch.pictures, batch.labels, 0, 0).pictures))
    with DecodedCache(inspection, preprocessing, tmp_path / "cache") as cache:
        evaluate(evaluated, Batches(cache, places, labels, 5), normaliser, 2)
    model = LoadedModel(predicted, PROJECT.network, preprocessing, ("a", "b"), CPU)  # type: ignore[arg-type]
    predict(model, [inspection.index.path(place) for place in range(12)], top=1)
    for net in (stored, evaluated, predicted):
        assert len(net.seen) == 12
        assert all(torch.equal(a, b) for a, b in zip(decoded.seen, net.seen, strict=True))
        assert all(a.stride() == b.stride() for a, b in zip(decoded.seen, net.seen, strict=True))
