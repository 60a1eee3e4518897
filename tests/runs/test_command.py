from __future__ import annotations

from pathlib import Path

from studio.core.commands import Pause, Stop, command_from_line
from studio.core.project import Project
from studio.runs.command import send
from studio.runs.folder import commands_file, create_run


def _lines(folder: Path) -> list[str]:
    return commands_file(folder).read_text().splitlines()


def test_that_commands_are_appended_in_order(tmp_path: Path) -> None:
    folder = create_run(Project(), tmp_path)
    assert send(folder, Pause(1.0)) is None
    assert send(folder, Stop(2.0)) is None
    assert [command_from_line(line) for line in _lines(folder)] == [Pause(1.0), Stop(2.0)]


def test_that_a_line_torn_by_a_crash_does_not_swallow_the_next_command(tmp_path: Path) -> None:
    folder = create_run(Project(), tmp_path)
    commands_file(folder).write_bytes(b'{"type":"Pau')
    send(folder, Stop(2.0))
    assert command_from_line(_lines(folder)[-1]) == Stop(2.0)


def test_that_a_run_folder_that_is_gone_is_a_problem_that_names_the_file(tmp_path: Path) -> None:
    problem = send(tmp_path / "gone", Stop(1.0))
    assert problem is not None
    assert problem.code == "command_not_sent"
    assert "gone" in str(problem.facts["file"])
