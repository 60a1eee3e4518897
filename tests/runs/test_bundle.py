"""A model folder becomes one file, whole or not at all."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from studio.core.problem import Problem
from studio.core.text import problem_message
from studio.dataset.progress import Cancelled, Progress
from studio.runs.bundle import ModelContents, contents_of, write_bundle

WEIGHTS = bytes(range(256)) * 16


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "run" / "model"
    folder.mkdir(parents=True)
    (folder / "labels.txt").write_text("cat\ndog\n", "utf-8")
    (folder / "network.json").write_text('{"input_shape": [1, 28, 20]}', "utf-8")
    (folder / "weights.safetensors").write_bytes(WEIGHTS)
    (folder / ".leftover.tmp").write_bytes(b"half")
    return folder


def test_that_the_file_holds_the_model_folder_uncompressed(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "m.zip"
    assert write_bundle(model, target) is None
    with zipfile.ZipFile(target) as archive:
        infos = archive.infolist()
        assert [info.filename for info in infos] == [
            "model/weights.safetensors",
            "model/network.json",
            "model/labels.txt",
        ]
        assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
        assert archive.read("model/weights.safetensors") == WEIGHTS
        assert archive.testzip() is None


def test_that_a_date_that_no_zip_can_hold_is_no_obstacle(model: Path, tmp_path: Path) -> None:
    os.utime(model / "labels.txt", (0, 0))
    assert write_bundle(model, tmp_path / "m.zip") is None


def test_that_progress_is_told_in_bytes_and_reaches_the_end(model: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    write_bundle(model, tmp_path / "m.zip", progress=told.append)
    contents = contents_of(model)
    assert isinstance(contents, ModelContents)
    assert told[-1] == Progress("save", contents.total_bytes, contents.total_bytes)


def test_that_stopping_leaves_the_old_file_and_nothing_else(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "m.zip").write_bytes(b"old")
    with pytest.raises(Cancelled):
        write_bundle(model, folder / "m.zip", cancelled=lambda: True)
    assert [path.name for path in folder.iterdir()] == ["m.zip"]
    assert (folder / "m.zip").read_bytes() == b"old"


def test_that_a_place_that_cannot_be_written_is_named(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    problem = write_bundle(model, tmp_path / "file" / "m.zip")
    assert isinstance(problem, Problem)
    assert str(tmp_path / "file" / "m.zip") in problem_message(problem)


def test_that_the_contents_are_told_with_sizes_labels_and_shape(model: Path) -> None:
    contents = contents_of(model)
    assert isinstance(contents, ModelContents)
    assert [file.name for file in contents.files] == ["weights.safetensors", "network.json", "labels.txt"]
    assert contents.files[0].bytes == len(WEIGHTS)
    assert contents.labels == ("cat", "dog")
    assert contents.input_shape == (1, 28, 20)


@pytest.mark.parametrize("text", ["", "[]", '{"input_shape": 3}', '{"input_shape": ["x"]}', "\xff"])
def test_that_a_damaged_description_is_a_problem_that_names_the_model(model: Path, text: str) -> None:
    (model / "network.json").write_bytes(text.encode("latin-1"))
    problem = contents_of(model)
    assert isinstance(problem, Problem)
    assert str(model) in problem_message(problem)


def test_that_a_model_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    assert isinstance(contents_of(tmp_path / "gone"), Problem)
    assert isinstance(write_bundle(tmp_path / "gone", tmp_path / "m.zip"), Problem)
    assert not (tmp_path / "m.zip").exists()
