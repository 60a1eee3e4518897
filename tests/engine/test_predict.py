"""A model says the same of a picture alone, in a batch, and in training; what cannot be read is refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from studio.core.project import Preprocessing
from studio.dataset.loading import load_working

pytest.importorskip("torch")

import torch

from studio.engine import predict as module
from studio.engine.artefact import LoadedModel
from studio.engine.batches import Normaliser
from studio.engine.build import build
from studio.engine.predict import predict
from studio.engine.trouble import Stopped
from tests.engine.making import CLASSES, NETWORK

pytestmark = pytest.mark.torch

PREPROCESSING = Preprocessing(height=16, width=16, channels="grey", mean=(0.4,), std=(0.2,))


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    net = build(NETWORK, PREPROCESSING.shape, 4, seed=1).to(memory_format=torch.channels_last).eval()
    return LoadedModel(net, NETWORK, PREPROCESSING, CLASSES, torch.device("cpu"))


def test_that_probabilities_are_those_of_the_network_on_the_training_input(model: LoadedModel, pictures: Path) -> None:
    path = pictures / "left" / "000.png"
    inputs = torch.from_numpy(np.stack([load_working(path, PREPROCESSING)]))
    with torch.no_grad():
        expected = model.net(Normaliser((0.4,), (0.2,), model.device)(inputs)).softmax(1)[0]
    found = predict(model, [path])[0]
    assert found.path == str(path) and found.refused is None
    assert [label for label, _ in found.top] == [CLASSES[n] for n in expected.argsort(descending=True).tolist()]
    np.testing.assert_allclose([p for _, p in found.top], expected.sort(descending=True).values, rtol=1e-5)


def test_that_order_is_kept_and_refused_pictures_are_named_among_the_others(
    model: LoadedModel, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH_PICTURES", 3)
    (tmp_path / "broken.png").write_bytes(b"nonsense")
    paths = sorted(pictures.rglob("*.png"))[:7]
    mixed = [tmp_path / "broken.png", *paths[:3], tmp_path / "absent.png", tmp_path, *paths[3:]]
    told: list[tuple[int, int]] = []
    found = predict(model, mixed, top=2, progress=lambda done, total: told.append((done, total)))
    assert [one.path for one in found] == [str(path) for path in mixed]
    refused = [one for one in found if one.refused is not None]
    assert [Path(one.path) for one in refused] == [tmp_path / "broken.png", tmp_path / "absent.png", tmp_path]
    assert all(not one.top for one in refused)
    assert all(len(one.top) == 2 for one in found if one.refused is None)
    alone = {one.path: one for path in paths for one in predict(model, [path], top=2)}
    for one in found:
        if one.refused is None:
            assert one.top[0][0] == alone[one.path].top[0][0]
            assert one.top[0][1] == pytest.approx(alone[one.path].top[0][1], rel=1e-4)
    assert told[-1] == (10, 10) and len(told) == 4


def test_that_it_can_be_stopped_and_that_no_paths_give_nothing(model: LoadedModel, pictures: Path) -> None:
    assert predict(model, []) == []
    with pytest.raises(Stopped):
        predict(model, [pictures / "left" / "000.png"], stop_asked=lambda: True)
