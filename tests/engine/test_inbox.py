"""Commands reach a run once, in order, and only those that are meant for it."""

from __future__ import annotations

from pathlib import Path

from studio.core.commands import Pause, Resume, SaveCheckpoint, Stop, command_to_line
from studio.engine.inbox import Inbox


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def write(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def test_that_commands_come_once_in_order(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    inbox = Inbox(path, skip_old=False, clock=Clock())
    assert inbox.take() == []
    write(path, command_to_line(Pause(1.0)) + "\n" + command_to_line(Resume(2.0)) + "\n")
    assert inbox.take() == [Pause(1.0), Resume(2.0)]
    assert inbox.take() == []
    write(path, command_to_line(SaveCheckpoint(3.0)) + "\n")
    assert inbox.take() == [SaveCheckpoint(3.0)]


def test_that_a_command_is_heard_in_a_file_that_was_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write(path, command_to_line(Pause(1.0)) * 3 + "\n")
    inbox = Inbox(path, skip_old=True, clock=Clock())
    path.unlink()
    assert inbox.take() == []
    write(path, command_to_line(Stop(2.0)) + "\n")
    assert inbox.stop_asked


def test_that_a_command_is_heard_behind_a_line_of_garbage_without_end(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write(path, "x" * 300_000 + "\n" + command_to_line(Stop(1.0)) + "\n")
    inbox = Inbox(path, skip_old=False, clock=Clock())
    assert any(inbox.stop_asked for _ in range(10))


def test_that_a_command_given_before_the_run_looked_is_heard_in_a_fresh_run_only(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    write(path, command_to_line(Stop(1.0)) + "\n")
    assert Inbox(path, skip_old=False, clock=Clock()).stop_asked
    assert not Inbox(path, skip_old=True, clock=Clock()).stop_asked


def test_that_half_a_line_waits_for_its_rest(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    inbox = Inbox(path, skip_old=False, clock=Clock())
    line = command_to_line(Stop(1.0)) + "\n"
    write(path, line[:9])
    assert inbox.take() == []
    write(path, line[9:])
    assert inbox.take() == [Stop(1.0)]
    assert inbox.stop_asked


def test_that_lines_which_are_no_commands_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(
        b'\xff\xfe garbage\n{"type":"Dance","time":1}\n[]\n' + command_to_line(Pause(1.0)).encode() + b"\n"
    )
    assert Inbox(path, skip_old=False, clock=Clock()).take() == [Pause(1.0)]


def test_that_the_file_is_looked_at_no_more_than_twenty_times_a_second(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    now = [0.0]
    inbox = Inbox(path, skip_old=False, clock=lambda: now[0])
    assert inbox.take() == []
    write(path, command_to_line(Stop(1.0)) + "\n")
    now[0] = 0.01
    assert inbox.take() == []
    now[0] = 0.06
    assert inbox.take() == [Stop(1.0)]
