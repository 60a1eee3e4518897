"""A run whose host fails outside the run's own care still has a record that says so."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from studio.core.events import Ended, Failed
from tests.engine.making import events_of, make_project, make_run, only

pytest.importorskip("torch")

from studio.engine import train
from studio.engine.emit import Emitter
from studio.engine.process import Answers, Engine
from studio.engine.session import Session
from studio.engine.worker import start_training

pytestmark = pytest.mark.torch


def broken(*_arguments: Any, **_more: Any) -> None:
    raise TypeError("run() got an unexpected keyword argument")


def test_that_an_error_before_the_record_began_is_in_the_record_with_its_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "run", broken)
    folder = make_run(tmp_path / "run", make_project(tmp_path))
    thread = start_training(folder, tmp_path / "cache", "thread")
    thread.join()
    assert (thread.outcome, thread.error) == ("failed", None)
    failed, ended = events_of(folder)
    assert isinstance(failed, Failed) and isinstance(ended, Ended)
    assert (failed.kind, failed.message) == ("TypeError", "run() got an unexpected keyword argument")
    assert "in broken" in failed.trace
    assert (ended.outcome, ended.reason) == ("failed", "TypeError")


def test_that_an_error_after_the_run_told_its_end_is_not_told_as_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Session.__exit__

    def closing(self: Session, *error: Any) -> None:
        told(self, *error)
        raise TypeError("a counter does not close")

    monkeypatch.setattr(Session, "__exit__", closing)
    folder = make_run(tmp_path / "run", make_project(tmp_path / "nothing"))
    start_training(folder, tmp_path / "cache", "thread").join()
    assert [ended.reason for ended in only(events_of(folder), Ended)] == ["folder_missing"]


def test_that_a_record_that_another_program_writes_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "run", broken)
    folder = make_run(tmp_path / "run", make_project(tmp_path))
    other = Emitter(folder / "events.r0.jsonl")
    thread = start_training(folder, tmp_path / "cache", "thread")
    thread.join()
    other.close()
    assert isinstance(thread.error, TypeError)
    assert events_of(folder) == []


def test_that_the_engine_answers_with_the_error_that_no_record_could_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "run", broken)
    folder = make_run(tmp_path / "run", make_project(tmp_path))
    other = Emitter(folder / "events.r0.jsonl")
    ours, theirs = os.pipe()
    engine = Engine(Answers(theirs))
    engine.handle({"id": 1, "do": "train", "run": str(folder), "cache": str(tmp_path)})
    engine.close()
    other.close()
    os.close(theirs)
    with os.fdopen(ours, "rb") as answers:
        told = [json.loads(line) for line in answers]
    assert [answer["type"] for answer in told] == ["started", "error"]
    assert told[1]["message"] == "TypeError: run() got an unexpected keyword argument"
    assert "in broken" in told[1]["trace"]
