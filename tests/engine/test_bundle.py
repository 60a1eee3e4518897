"""The file that the Export page writes is a model that the engine opens."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from studio.core.project import Preprocessing
from studio.engine.artefact import load_model, save_model
from studio.engine.build import build
from studio.runs.bundle import write_bundle
from tests.engine.making import NETWORK

pytestmark = pytest.mark.torch

PREPROCESSING = Preprocessing(height=16, width=16, channels="grey", mean=(0.5,), std=(0.25,))


def test_that_a_saved_model_file_answers_as_the_folder_does(tmp_path: Path) -> None:
    net = build(NETWORK, PREPROCESSING.shape, 3, seed=1)
    save_model(tmp_path / "model", net, network=NETWORK, preprocessing=PREPROCESSING, labels=("a", "b", "c"))
    assert write_bundle(tmp_path / "model", tmp_path / "m.zip") is None
    folder, file = load_model(tmp_path / "model"), load_model(tmp_path / "m.zip")
    assert file.labels == ("a", "b", "c")
    picture = torch.rand(1, 1, 16, 16)
    with torch.no_grad():
        assert torch.equal(folder.net(picture), file.net(picture))
