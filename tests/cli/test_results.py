from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from studio.cli.results import score
from studio.core.events import Failed
from studio.runs.answers import Guess, Prediction
from studio.runs.folder import model_folder
from tests.cli.conftest import Studio
from tests.runs.records import ended, make_run, started
from tests.runs.records import story as whole_story

FakeEngine = Callable[[str], None]


@pytest.fixture
def run(home: Path) -> Path:
    folder = make_run(home / "runs", whole_story())
    model_folder(folder).mkdir()
    (model_folder(folder) / "weights.safetensors").touch()
    return folder


def test_that_predictions_have_the_promised_form_and_the_names_that_were_given(
    studio: Studio, fake_engine: FakeEngine, run: Path, pictures: Path
) -> None:
    fake_engine("hasty")
    result = studio("predict", run, "colours/red/0.png", "colours/green", "--top", 1, "--json")
    assert result.code == 0
    assert [one["path"] for one in result.document] == [
        "colours/red/0.png",
        *(f"colours/green/{n}.png" for n in range(6)),
    ]
    assert result.document[0]["top"] == [{"label": "cat", "probability": 0.75}]
    assert result.document[0]["refused"] is None


def test_that_a_model_is_found_by_run_name_by_model_folder_and_by_zip(
    studio: Studio, fake_engine: FakeEngine, run: Path, pictures: Path, tmp_path: Path
) -> None:
    fake_engine("hasty")
    (tmp_path / "model.zip").touch()
    for model in (run.name, run / "model", tmp_path / "model.zip"):
        result = studio("predict", model, pictures / "red" / "0.png")
        assert result.code == 0
        assert "cat   75.0%" in result.out


def test_that_a_refused_picture_is_trouble_and_told(studio: Studio, fake_engine: FakeEngine, run: Path) -> None:
    fake_engine("hasty")
    result = studio("predict", run, "broken.png")
    assert result.code == 1
    assert "broken.png" in result.out


def test_that_a_model_that_is_not_there_is_wrong_use(studio: Studio, home: Path, tmp_path: Path) -> None:
    assert studio("predict", "no-such-run", "a.png").code == 2
    unfinished = make_run(home / "runs", [started()])
    result = studio("predict", unfinished, "a.png")
    assert result.code == 2
    assert "no finished model" in result.err


def test_that_a_folder_without_pictures_is_wrong_use(studio: Studio, run: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "notes.txt").touch()
    result = studio("predict", run, tmp_path / "none")
    assert result.code == 2
    assert "none" in result.err


def test_that_a_broken_engine_is_a_sentence(studio: Studio, fake_engine: FakeEngine, run: Path) -> None:
    fake_engine("torchless")
    result = studio("predict", run, "a.png")
    assert result.code == 1
    assert "PyTorch is not installed" in result.err


def test_that_runs_are_listed_with_the_promised_keys(studio: Studio, run: Path, home: Path) -> None:
    make_run(home / "runs", [started(time=50.0), Failed(51.0, "E", "why", ""), ended("failed")])
    result = studio("runs", "--json")
    assert result.code == 0
    first, second = result.document
    assert set(first) >= {"run", "name", "outcome", "best_validation_accuracy", "started"}
    assert first["run"] == str(run)
    assert first["started"] == "1970-01-01T00:01:40Z"
    assert (first["outcome"], second["outcome"]) == ("finished", "failed")
    told = studio("runs")
    assert run.name in told.out
    assert "finished" in told.out


def test_that_a_record_of_absurd_times_is_listed(studio: Studio, home: Path) -> None:
    last = replace(ended(), seconds=math.nan, images_per_second=math.inf)
    make_run(home / "runs", [started(time=2.5e11), last])
    result = studio("runs", "--json")
    assert result.code == 0
    assert (result.document[0]["seconds"], result.document[0]["images_per_second"]) == (0.0, 0.0)
    assert studio("runs").code == 0


def test_that_no_runs_are_no_trouble(studio: Studio) -> None:
    assert studio("runs", "--json").document == []
    assert "no runs" in studio("runs").out


def test_that_scores_are_right_for_a_small_case() -> None:
    def says(label: str) -> Prediction:
        other = "b" if label == "a" else "a"
        return Prediction("x", (Guess(label, 0.8), Guess(other, 0.2)))

    predictions = [says("a"), says("a"), says("b"), says("b"), Prediction("x", (), "broken")]
    report = score(("a", "b"), ["a", "a", "a", "b", "b"], predictions)
    assert (report["count"], report["refused"]) == (4, 1)
    assert report["accuracy"] == 0.75
    assert report["confusion"] == [[2, 1], [0, 1]]
    classes = report["classes"]
    assert isinstance(classes, list)
    assert classes[0] == {"label": "a", "count": 3, "precision": 1.0, "recall": 2 / 3, "f1": 0.8}


def test_that_doctor_prints_the_promised_document(studio: Studio, fake_engine: FakeEngine) -> None:
    fake_engine("hasty")
    result = studio("doctor", "--json")
    checks = {check["id"]: check for check in result.document["checks"]}
    assert all(set(check) == {"id", "value", "verdict", "fix"} for check in checks.values())
    assert checks["proof-cpu"]["verdict"] == "ok"
    assert result.code in {0, 1}


def test_that_doctor_calls_things_by_their_names(studio: Studio, fake_engine: FakeEngine) -> None:
    fake_engine("hasty")
    told = studio("doctor").out
    assert "Training on CPU" in told and "Disk" in told and "Python" in told
    assert "proof-cpu" not in told and "disk0" not in told


def test_that_doctor_tells_of_a_torch_that_does_not_load(studio: Studio, fake_engine: FakeEngine) -> None:
    fake_engine("broken")
    result = studio("doctor", "--json")
    assert result.code == 1
    assert any(check["verdict"] == "error" for check in result.document["checks"])


def test_that_explain_prints_the_promised_document(studio: Studio) -> None:
    text = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)"
    result = studio("explain", "-", "--json", text=text)
    assert result.code == 0
    hint = result.document["hints"][0]
    assert set(hint) >= {"id", "aliases", "title", "why", "matched", "evidence", "fixes"}
    assert hint["id"] == "mat1-mat2"
    assert hint["matched"]["line"] == text
    assert hint["matched"]["values"]["arrives"] == 512


def test_that_explain_reads_files_and_runs(studio: Studio, home: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("ok\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2 and 3x4)\n")
    assert "linear layer" in studio("explain", tmp_path / "log").out
    message = "mat1 and mat2 shapes cannot be multiplied (1x2 and 3x4)"
    failed = make_run(home / "runs", [started(), Failed(101.0, "RuntimeError", message, ""), ended("failed")])
    assert "linear layer" in studio("explain", failed).out
    assert studio("explain", tmp_path / "absent").code == 2


def test_that_a_text_that_nobody_knows_gives_no_hint(studio: Studio) -> None:
    assert studio("explain", "--json", text="all is well").document == {"hints": []}
    told = studio("explain", text="ValueError: the pictures of the loader have no labels").out
    assert "Nothing" in told
    assert "It may be near to:" in told and "Open an issue" in told and "doctor" in told
