from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Studio

pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def test_that_a_folder_becomes_a_model_that_tells_its_classes_apart(studio: Studio, pictures: Path) -> None:
    changes = ("--set", "recipe.epochs=12", "--set", "recipe.batch_size=4", "--set", "data.validation_share=0.3")
    trained = studio("train", pictures, "--template", "mlp", "--device", "cpu", "--json", *changes)
    assert trained.code == 0, trained.err
    summary = trained.lines[-1]
    assert summary["outcome"] == "finished"
    assert summary["epochs"] == 12
    assert [line["type"] for line in trained.lines[:-1]][-1] == "Ended"

    predicted = studio("predict", summary["run"], pictures / "red", pictures / "green", "--json")
    assert predicted.code == 0
    assert [one["top"][0]["label"] for one in predicted.document] == ["red"] * 6 + ["green"] * 6

    evaluated = studio("evaluate", summary["run"], "--json")
    assert evaluated.document["accuracy"] == pytest.approx(summary["best_validation_accuracy"])
    assert studio("runs", "--json").document[0]["run"] == summary["run"]
