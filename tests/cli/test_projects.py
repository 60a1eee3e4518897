from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.cli import projects
from studio.core.frozen import FrozenMap
from studio.core.project import load_project
from tests.cli.conftest import Script, Studio, good_story


@pytest.fixture
def project(studio: Studio, pictures: Path, tmp_path: Path) -> Path:
    path = tmp_path / "p.studio.json"
    assert studio("new", pictures, "--template", "SimpleCNN", "-o", path).code == 0
    return path


def test_that_a_new_project_has_the_folders_classes_and_a_size_that_suits_its_pictures(project: Path) -> None:
    made = load_project(project)
    assert made.data.classes == ("green", "red")
    assert (made.preprocessing.width, made.preprocessing.height) == (20, 16)
    assert made.preprocessing.channels == "colour"
    assert made.network.template == "simple_cnn"
    assert Path(made.data.folder).is_absolute()


def test_that_new_never_replaces_a_file_unless_it_is_told_to(studio: Studio, pictures: Path, project: Path) -> None:
    refused = studio("new", pictures, "-o", project)
    assert refused.code == 2
    assert str(project) in refused.err.replace("\n", "")
    assert "--force" in refused.err
    forced = studio("new", pictures, "-o", project, "--force", "--json")
    assert forced.code == 0
    assert forced.document["classes"] == ["green", "red"]


def test_that_an_unknown_template_is_wrong_use_and_lists_the_known_ones(studio: Studio, pictures: Path) -> None:
    result = studio("new", pictures, "--template", "gpt")
    assert result.code == 2
    assert "gpt" in result.err
    assert "simple_cnn" in result.err


def test_that_a_folder_that_is_not_there_is_wrong_use_and_named(studio: Studio, tmp_path: Path) -> None:
    for command in ("new", "data", "train"):
        result = studio(command, tmp_path / "nowhere")
        assert result.code == 2
        assert "nowhere" in result.err
        assert result.out == ""


def test_that_a_folder_that_cannot_be_trained_on_is_trouble_with_a_sentence(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = studio("new", tmp_path / "empty")
    assert result.code == 1
    assert "empty" in result.err


def test_that_check_prints_the_promised_document(studio: Studio, project: Path) -> None:
    result = studio("check", project, "--json")
    assert result.code == 0
    document = result.document
    assert set(document) >= {"blocks", "parameters", "forecast", "problems"}
    assert set(document["blocks"][0]) >= {
        "id", "kind", "output_shape", "parameters", "multiply_adds", "activation_bytes", "problems",
    }  # fmt: skip
    assert document["blocks"][0]["output_shape"] == [16, 16, 20]
    assert document["parameters"] == sum(block["parameters"] for block in document["blocks"])
    assert set(document["forecast"]) == {"training", "validation", "prediction"}
    for roles in document["forecast"].values():
        assert roles["total"] == sum(size for role, size in roles.items() if role != "total")


def test_that_a_project_beyond_this_machines_memory_is_told_by_check_and_before_training(
    studio: Studio, story: Callable[[Script], Script], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projects, "measure", lambda: FrozenMap(memory_total_bytes=300 * 1024**2))
    result = studio("check", project, "--json")
    assert result.code == 0
    (problem,) = result.document["problems"]
    assert (problem["code"], problem["severity"]) == ("network.memory", "warning")
    story(Script(good_story))
    told = studio("train", project, "--launcher", "story")
    assert told.code == 0
    assert "more than the 300 MiB of this computer" in told.err


def test_that_check_finds_trouble_in_a_wrong_network(studio: Studio, project: Path) -> None:
    plain = json.loads(project.read_text())
    plain["network"]["blocks"] = [b for b in plain["network"]["blocks"] if b["kind"] != "flatten"]
    project.write_text(json.dumps(plain))
    result = studio("check", project, "--json")
    assert result.code == 1
    problem = result.document["problems"][0]
    assert problem["severity"] == "error"
    assert problem["message"]
    assert problem["fixes"]
    told = studio("check", project)
    assert told.code == 1
    assert problem["message"] in told.err


def test_that_a_file_that_is_no_project_is_wrong_use_and_named(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    for target in (path, tmp_path / "absent.json"):
        result = studio("check", target)
        assert result.code == 2
        assert target.name in result.err


def test_that_data_prints_the_promised_document(studio: Studio, pictures: Path) -> None:
    (pictures / "red" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    result = studio("data", pictures, "--json", "--pictures")
    assert result.code == 0
    document = result.document
    assert document["classes"] == ["green", "red"]
    assert document["counts"] == {"green": 6, "red": 6}
    assert document["splits"] is None
    assert document["total"] == 12
    assert len(document["pictures"]) == 13
    assert any("red/broken.png" in finding["files"] for finding in document["findings"])
    assert {picture["status"] for picture in document["pictures"]} == {"loaded", "refused"}


def test_that_data_says_for_people_what_is_there(studio: Studio, pictures: Path) -> None:
    result = studio("data", pictures)
    assert result.code == 0
    assert "green" in result.out
    assert "12 pictures in 2 classes" in result.out


def test_that_a_folder_with_one_class_is_trouble(studio: Studio, pictures: Path) -> None:
    for picture in (pictures / "red").iterdir():
        picture.unlink()
    (pictures / "red").rmdir()
    result = studio("data", pictures, "--json")
    assert result.code == 1
    assert any(finding["severity"] == "error" for finding in result.document["findings"])


def test_that_the_terminal_speaks_the_language_of_the_settings(studio: Studio, home: Path, tmp_path: Path) -> None:
    (home / "config").mkdir(parents=True)
    (home / "config" / "settings.json").write_text('{"language": "zh_CN"}')
    assert "不是文件夹" in studio("data", tmp_path / "nowhere").err
