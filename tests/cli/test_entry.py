from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from studio import __main__ as entry
from studio.cli import app
from studio.core.files import Folders
from studio.folders import user_folders
from tests.cli.conftest import Studio


def test_that_the_entry_knows_every_command() -> None:
    command = get_command(app)
    assert set(getattr(command, "commands")) == entry.COMMANDS  # noqa: B009 - typer's own group class is private


def test_that_help_shows_the_window_and_the_commands(studio: Studio) -> None:
    result = studio("--help")
    assert result.code == 0
    assert "studio PATH" in result.out
    assert all(name in result.out for name in entry.COMMANDS)
    assert not any(name in result.out for name in ("watch", "export", "serve"))


def test_that_every_command_prints_documents(studio: Studio) -> None:
    for name in entry.COMMANDS:
        assert "--json" in studio(name, "--help").out


def test_that_without_a_display_a_sentence_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert entry.main(["some folder"]) == 2
    assert "studio train --sample" in capsys.readouterr().err


def test_that_without_qt_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_target: str) -> None:
        raise ModuleNotFoundError("No module named 'PySide6'", name="PySide6")

    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr(entry, "resolve", fails)
    assert entry.main([]) == 2
    assert "lantern-studio[window]" in capsys.readouterr().err


def test_that_a_fault_of_our_own_is_not_blamed_on_qt(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_target: str) -> None:
        raise ModuleNotFoundError("No module named 'studio.gone'", name="studio.gone")

    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr(entry, "resolve", fails)
    with pytest.raises(ModuleNotFoundError):
        entry.main([])


def test_that_the_window_gets_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def open_window(arguments: list[str]) -> int:
        seen.append(arguments)
        return 0

    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr(entry, "resolve", lambda _target: open_window)
    assert entry.main(["p.studio.json"]) == 0
    assert seen == [["p.studio.json"]]


def test_that_one_variable_puts_all_folders_in_one_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_folders() == Folders.under(tmp_path / "home")
    monkeypatch.delenv("LANTERN_HOME")
    folders = user_folders()
    assert len({folders.config, folders.data, folders.cache, folders.runs}) >= 3
    assert all(folder.is_absolute() for folder in (folders.config, folders.data, folders.cache, folders.runs))


def test_that_the_terminal_needs_neither_torch_nor_qt() -> None:
    code = (
        "import sys; from studio.__main__ import main; code = main(['runs', '--json']); "
        "sys.exit(code or any(name in sys.modules for name in ('torch', 'PySide6', 'studio.engine')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(entry.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
