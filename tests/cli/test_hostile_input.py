"""What clumsy and hostile input meets: sentences to act on, commands that are safe to paste, bounded work."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.cli import hints
from studio.cli.console import quoted, short_path
from tests.cli.conftest import Studio

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
@pytest.mark.parametrize(
    "name",
    ["$(touch broken)", "`id`", "it's", 'say "x"', "a b", "new\nline\tand\x1b[31m", "a\\'b\n", "\udcff\udcfe'", "猫"],
)
def test_that_a_proposed_command_pasted_into_a_shell_means_the_file_and_runs_nothing(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"printf %s {quoted(name)}"], cwd=tmp_path, capture_output=True, check=True, timeout=30
    )
    assert done.stdout == name.encode("utf-8", "surrogateescape")
    assert not list(tmp_path.iterdir())


def test_that_a_path_that_looks_like_an_option_is_proposed_as_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert short_path(tmp_path / "-lead" / "model") == "./-lead/model".replace("/", os.sep)


def test_that_a_project_whose_folder_is_no_path_is_refused_in_a_sentence(studio: Studio, pictures: Path) -> None:
    project = Path("p.studio.json")
    assert studio("new", pictures, "-o", project).code == 0
    plain = json.loads(project.read_text())
    plain["data"]["folder"] = "a\0b"
    project.write_text(json.dumps(plain))
    result = studio("check", project)
    assert (result.code, result.out) == (2, "")
    assert "cannot be read" in result.err


def test_that_the_limits_that_are_offered_are_accepted(studio: Studio, pictures: Path) -> None:
    refused = studio("train", pictures, "--set", "recipe.seed=-1")
    assert refused.code == 2
    assert "from 0 to 2147483647." in refused.err


class Endless(io.BytesIO):
    """Like /dev/zero."""

    given = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None and size > 0
        self.given += size
        return b"\0" * size


def test_that_a_stream_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "_ENDLESS_BYTES", 8 * hints._CHUNK_BYTES)
    endless = Endless()
    assert set(hints._end_of(endless)) == {"\0"}
    assert endless.given == 8 * hints._CHUNK_BYTES


def test_that_the_end_of_a_long_log_is_searched_also_from_a_pipe(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "_LONGEST_BYTES", 5000)
    monkeypatch.setattr(hints, "_CHUNK_BYTES", 1000)
    error = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)\n"
    assert "linear layer" in studio("explain", text="nothing new\n" * 2000 + error).out
    assert "linear layer" not in studio("explain", text=error + "nothing new\n" * 2000).out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize(("redirection", "code", "said"), [(">/dev/full", 1, "cannot be written"), (">&-", 0, "")])
def test_that_an_output_that_is_full_or_closed_is_no_traceback(redirection: str, code: int, said: str) -> None:
    command = f'"{sys.executable}" -m studio runs --json {redirection}'
    done = subprocess.run(["bash", "-c", command], check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == code
    assert "Traceback" not in done.stderr and said in done.stderr
