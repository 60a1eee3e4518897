"""The commands that we propose call this very installation, wherever they are pasted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from studio.runs.commandline import command_name

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the paths are those of other systems")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with the command, not on the path; the current folder is above it."""
    folder = tmp_path / "my env" / "bin"
    folder.mkdir(parents=True)
    script = folder / "studio"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return script


def test_that_a_command_beside_the_interpreter_is_called_by_its_path(program: Path) -> None:
    assert command_name() == "'my env/bin/studio'"
    assert command_name(from_anywhere=True) == f"'{program}'"


def test_that_a_command_on_the_path_is_called_by_its_name(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert command_name() == command_name(from_anywhere=True) == "studio"


def test_that_another_program_of_that_name_is_not_taken_for_ours(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other" / "studio"
    other.parent.mkdir()
    program.rename(other)
    program.touch()
    monkeypatch.setenv("PATH", str(other.parent))
    assert command_name(from_anywhere=True) == f"'{program}'"


def test_that_without_the_command_the_interpreter_is_called(program: Path) -> None:
    program.unlink()
    assert command_name() == "'my env/bin/python' -m studio"
    assert command_name(from_anywhere=True) == f"'{program.with_name('python')}' -m studio"
