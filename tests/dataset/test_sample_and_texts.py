"""The sample unpacks whole, and every problem has its sentences in both languages."""

from __future__ import annotations

import ast
import json
import re
import string
from pathlib import Path

from studio.core.files import resources_folder
from studio.dataset.inspect import inspect
from studio.dataset.report import data_report
from studio.dataset.sample import unpack_sample
from studio.dataset.scan import scan
from tests.dataset.making import classes

PACKAGE = Path(__file__).resolve().parents[2] / "studio" / "dataset"
SENTENCES: dict[str, dict[str, dict[str, str]]] = json.loads(
    (resources_folder() / "text" / "problems" / "dataset.json").read_text("utf-8")
)


def test_that_the_sample_is_whole_and_unpacking_again_changes_nothing(tmp_path: Path) -> None:
    folder = unpack_sample(tmp_path / "data")
    index = scan(folder)
    assert index.counts() == (200,) * 10
    assert index.classes == tuple(str(digit) for digit in range(10))
    assert len(list((tmp_path / "data" / "try_these").glob("*.png"))) == 20
    assert "Creative Commons" in (tmp_path / "data" / "LICENCE.txt").read_text("utf-8")
    time = (folder / "0").stat().st_mtime_ns
    assert unpack_sample(tmp_path / "data") == folder
    assert (folder / "0").stat().st_mtime_ns == time


def test_that_a_sample_that_lost_pictures_is_made_whole(tmp_path: Path) -> None:
    folder = unpack_sample(tmp_path)
    victims = sorted((folder / "7").iterdir())[:3]
    for victim in victims:
        victim.unlink()
    (folder / "3" / "mine.png").write_bytes(b"mine")
    unpack_sample(tmp_path)
    assert all(victim.is_file() for victim in victims)
    assert (folder / "3" / "mine.png").read_bytes() == b"mine"
    assert {path.name for path in tmp_path.iterdir()} == {"sample_digits", "try_these", "LICENCE.txt"}


def codes_in_source() -> set[str]:
    """Every literal that the package gives as a problem's code."""
    found: set[str] = set()
    makers = {"Problem", "_warn", "_tell", "_problem", "refusal"}
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in makers and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    text = "".join(path.read_text("utf-8") for path in PACKAGE.glob("*.py"))
    return found | set(re.findall(r'"(picture_\w+|pictures_\w+|class_\w+)"', text)) - {"class_name", "class_weights"}


def test_that_every_code_has_sentences_and_every_sentence_a_code() -> None:
    text = "".join(path.read_text("utf-8") for path in PACKAGE.glob("*.py"))
    fixes = set(re.findall(r'"(fix\.\w+)"', text))
    assert codes_in_source() | fixes == set(SENTENCES)


def test_that_both_languages_show_the_same_facts() -> None:
    def shown(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for code, languages in SENTENCES.items():
        english, chinese = languages["en"], languages["zh_CN"]
        assert set(english) - {"message_one", "label_one"} == set(chinese), code
        for part in chinese:
            assert shown(english[part]) == shown(chinese[part]), (code, part)
            assert re.search(r"[\u4e00-\u9fff]", chinese[part]), (code, part)


def test_that_the_report_says_everything_in_whole_sentences(tmp_path: Path) -> None:
    root = classes(tmp_path / "set", {"cat": 30, "dog": 3})
    (root / "cat" / "torn.png").write_bytes(b"")
    inspection = inspect(scan(root), tmp_path / "cache")
    report = data_report(inspection, pictures=True)
    assert set(report) >= {"classes", "counts", "splits", "reading", "readings", "findings", "total", "pictures"}
    assert [finding["code"] for finding in report["findings"]] == ["unreadable_images", "imbalanced"]
    for finding in report["findings"]:
        assert finding["message"] and finding["why"] and finding["repair"]
        assert "{" not in finding["message"] + finding["why"] + finding["repair"]
    by_path = {entry["path"]: entry for entry in report["pictures"]}
    assert by_path["cat/torn.png"]["status"] == "refused" and "cat/torn.png" in by_path["cat/torn.png"]["reason"]
    assert by_path["cat/0.png"]["status"] == "loaded"
    assert (by_path["cat/0.png"]["width"], by_path["cat/0.png"]["height"]) == (12, 10)
    assert len(by_path["cat/0.png"]["mean_rgb"]) == 3
