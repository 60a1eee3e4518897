"""Files, settings, registry, texts and quantities keep their promises."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core import text
from studio.core.files import replacing, safe_name, write_atomically
from studio.core.problem import Problem
from studio.core.quantities import count_text, duration_text, share_text, size_text
from studio.core.registry import Registry, resolve
from studio.core.settings import Settings, load_settings, save_settings


def test_that_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "important.json"
    write_atomically(path, b"old")

    def write_half() -> None:
        with replacing(path) as temporary:
            temporary.write_bytes(b"half")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["important.json"]  # noqa: PTH208 - hidden files count too


@given(st.text())
def test_that_a_safe_name_is_never_empty_and_never_a_path(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert not set(safe) & set('/\\:*?"<>|\0\n')
    assert safe not in (".", "..")


def test_that_one_bad_setting_does_not_lose_the_others(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"theme": "dark", "language": "klingon", "later": 1}')
    assert load_settings(tmp_path) == Settings(theme="dark")


@pytest.mark.parametrize("content", ["", "[]", "{", "null", '"x"'])
def test_that_a_damaged_settings_file_means_the_defaults(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    assert load_settings(tmp_path) == Settings()


def test_that_settings_are_kept(tmp_path: Path) -> None:
    settings = Settings(theme="dark", recent=("a", "猫"))
    save_settings(settings, tmp_path / "new")
    assert load_settings(tmp_path / "new") == settings


def test_that_a_registration_can_be_taken_back() -> None:
    registry = Registry("block", {"a": 1})
    undo = registry.add("b", 2)
    assert list(registry) == ["a", "b"]
    undo()
    assert list(registry) == ["a"]
    with pytest.raises(KeyError, match="there are: a"):
        registry["b"]


def test_that_a_target_is_resolved_by_name() -> None:
    assert resolve("os.path:join") is os.path.join


def test_that_a_missing_translation_is_shown_in_english() -> None:
    text.set_language("zh_CN")
    try:
        assert text.tr("Not in any catalogue {n}", n=3) == "Not in any catalogue 3"
        assert text.problem_message(Problem("project.no_data")) == "还没有选择图片文件夹。"
    finally:
        text.set_language("en")


def test_that_a_text_with_a_missing_fact_never_raises() -> None:
    assert text.tr("{a} of {b}", a=1) == "1 of {b}"
    assert text.tr("{a:.1f}", a="many") == "many"
    assert text.tr("{a:size}", a=1536) == "1.5 KiB"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (size_text(0), "0 B"),
        (size_text(1023), "1023 B"),
        (size_text(1024), "1.0 KiB"),
        (size_text(1024**2 - 1), "1.0 MiB"),
        (size_text(512 * 1024**2), "512 MiB"),
        (size_text(-2048), "-2.0 KiB"),
        (duration_text(0.04), "0.0 s"),
        (duration_text(9.96), "10 s"),
        (duration_text(59.6), "1 min 00 s"),
        (duration_text(3599.7), "1 h 00 min"),
        (duration_text(float("inf")), "-"),
        (count_text(999), "999"),
        (count_text(206922), "206.9 K"),
        (share_text(1), "100%"),
        (share_text(0.9999), "99.9%"),
        (share_text(0.973), "97.3%"),
        (share_text(float("nan")), "-"),
    ],
)
def test_that_quantities_read_well(shown: str, expected: str) -> None:
    assert shown == expected
