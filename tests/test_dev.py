"""dev.py on machines that this one is not: without a display, without libraries, with an old Python, half set up."""

from __future__ import annotations

import os
import re
import shutil
import time
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dev

SYSTEMS = ("linux", "darwin", "win32")


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that dev.py would run."""
    commands: list[list[str]] = []

    def record(command: list[object], environment: object = None) -> int:
        commands.append([str(part) for part in command])
        return 0

    monkeypatch.setattr(dev, "call", record)
    return commands


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A Linux machine with a ready environment and no display."""
    monkeypatch.setattr(dev, "LINUX", True)
    monkeypatch.setattr(dev, "prepare_environment", lambda: None)
    monkeypatch.setattr(dev, "prepare_system", lambda window, screen: None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_that_an_unknown_verb_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main("dance") == 2
    said = capsys.readouterr().out
    assert all(verb in said for verb in ("setup", "run", "test", "shots"))


def test_that_an_old_python_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "OLDEST", (3, 99))
    assert dev.main("setup") == 1
    assert "Lantern Studio needs Python 3.99" in capsys.readouterr().out


@pytest.mark.usefixtures("machine")
def test_that_a_run_without_a_display_trains_the_sample(
    called: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert dev.main("run") == 0
    assert called[-1][1:] == ["-m", "studio", "train", "--sample"]
    assert "no display" in capsys.readouterr().out


@pytest.mark.usefixtures("machine")
def test_that_a_folder_is_trained_on_where_there_is_no_display(called: list[list[str]], tmp_path: Path) -> None:
    assert dev.main("run", str(tmp_path)) == 0
    assert called[-1][1:] == ["-m", "studio", "train", str(tmp_path)]


@pytest.mark.usefixtures("machine")
def test_that_a_terminal_command_is_passed_on_where_there_is_no_display(called: list[list[str]]) -> None:
    assert dev.main("run", "doctor", "--json") == 0
    assert called[-1][1:] == ["-m", "studio", "doctor", "--json"]


def test_that_a_run_with_a_display_opens_the_window(called: list[list[str]], machine: pytest.MonkeyPatch) -> None:
    machine.setenv("DISPLAY", ":7")
    assert dev.main("run") == 0
    assert called[-1][1:] == ["-m", "studio"]


def test_that_checks_stop_at_the_first_failure_and_say_which(
    machine: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.setattr(shutil, "which", lambda name: None)
    machine.setattr(dev, "call", lambda command, environment=None: 3 if "mypy" in command else 0)
    assert dev.main("test") == 3
    said = capsys.readouterr().out
    assert "FAILED at types (mypy)" in said and "pytest" not in said


@pytest.mark.skipif(os.name == "nt", reason="system packages are a matter of Linux")
@pytest.mark.parametrize(
    ("manager", "package"), [("apt-get", "libegl1"), ("dnf", "libglvnd-egl"), ("pacman", "libglvnd")]
)
def test_that_missing_libraries_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, called: list[list[str]], manager: str, package: str
) -> None:
    monkeypatch.setattr(dev, "LINUX", True)
    monkeypatch.setattr(dev, "is_missing", lambda library: True)
    monkeypatch.setattr(shutil, "which", lambda name: name if name == manager else None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(dev.Trouble, match=rf"sudo {manager} .*{package}"):
        dev.prepare_system(window=True, screen=False)
    assert called == []


@pytest.mark.skipif(os.name == "nt", reason="system packages are a matter of Linux")
def test_that_root_on_debian_gets_missing_libraries_installed(
    monkeypatch: pytest.MonkeyPatch, called: list[list[str]]
) -> None:
    monkeypatch.setattr(dev, "LINUX", True)
    monkeypatch.setattr(dev, "is_missing", lambda library: library == "libxcb-cursor.so.0")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    dev.prepare_system(window=True, screen=False)
    assert called[0][:2] == ["apt-get", "update"]
    assert called[1][:2] == ["apt-get", "install"] and "libxcb-cursor0" in called[1]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone in which nothing is set up; what would be installed is only recorded."""
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "requirements.lock").write_text("numpy==1.0\n")
    venv = tmp_path / ".venv"
    places = {"ROOT": tmp_path, "VENV": venv, "PYTHON": venv / "python", "STAMP": venv / "stamp"}
    for name, path in {**places, "LOCK": tmp_path / "requirements.lock"}.items():
        monkeypatch.setattr(dev, name, path)
    monkeypatch.setattr(dev, "NEEDED_BYTES", 0)
    venv.mkdir()
    return tmp_path


def test_that_a_finished_set_up_is_not_repeated_until_the_pins_change(clone: Path, called: list[list[str]]) -> None:
    dev.prepare_environment()
    assert [command[1:3] for command in called] == [["-m", "venv"], ["-m", "pip"], ["-m", "pip"]]
    (clone / ".venv" / "python").touch(mode=0o755)
    called.clear()
    dev.prepare_environment()
    assert called == []
    (clone / "requirements.lock").write_text("numpy==2.0\n")
    (clone / ".venv" / "python").unlink()
    dev.prepare_environment()
    assert len(called) == 3


def test_that_a_set_up_that_failed_is_repeated(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev, "call", lambda command, environment=None: 1 if "pip" in command else 0)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with pytest.raises(dev.Trouble, match="Run this again"):
        dev.prepare_environment()
    assert not (clone / ".venv" / "stamp").exists()


def test_that_a_full_disk_is_noticed_before_anything_is_made(
    clone: Path, called: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "NEEDED_BYTES", 2**62)
    with pytest.raises(dev.Trouble, match="of free disk"):
        dev.prepare_environment()
    assert called == []


def locked(system: str) -> dict[str, Requirement]:
    lines = (dev.ROOT / "requirements.lock").read_text("utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if not line.startswith("#")]
    here = {"sys_platform": system, "python_version": "3.11"}
    return {canonicalize_name(r.name): r for r in requirements if r.marker is None or r.marker.evaluate(here)}


@pytest.mark.parametrize("system", SYSTEMS)
def test_that_the_lock_pins_what_pyproject_asks_for(system: str) -> None:
    tables = tomllib.loads((dev.ROOT / "pyproject.toml").read_text("utf-8"))
    extras, groups = tables["project"]["optional-dependencies"], tables["dependency-groups"]
    asked = [*tables["project"]["dependencies"], *tables["build-system"]["requires"]]
    asked += [text for texts in (*extras.values(), *groups.values()) for text in texts]
    pins = locked(system)
    for requirement in map(Requirement, asked):
        if requirement.marker is None or Marker(str(requirement.marker)).evaluate({"python_version": "3.11"}):
            [pin] = pins[canonicalize_name(requirement.name)].specifier
            assert pin.operator == "==" and requirement.specifier.contains(pin.version), requirement


@pytest.mark.parametrize("system", SYSTEMS)
def test_that_cuda_is_installed_on_linux_only(system: str) -> None:
    cuda = [name for name in locked(system) if re.match(r"cuda|nvidia-(?!ml-py)|triton", name)]
    assert bool(cuda) == (system == "linux")
