"""Events and commands survive their lines; lines that nobody knows never raise."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core import commands, events
from studio.core.events import Event, Failed, Metrics, Stepped, Unknown, event_from_line, event_to_line
from studio.core.frozen import FrozenMap

numbers = st.floats(allow_nan=False)
stepped = st.builds(
    Stepped,
    time=numbers,
    step=st.integers(1, 10**9),
    epoch=st.integers(1, 1000),
    losses=st.lists(numbers, min_size=1, max_size=5).map(tuple),
    accuracies=st.lists(numbers, max_size=5).map(tuple),
    learning_rate=numbers,
    images_per_second=numbers,
)


@given(stepped)
def test_that_steps_survive_their_line(event: Stepped) -> None:
    assert event_from_line(event_to_line(event)) == event


def test_that_every_event_class_can_be_named_in_a_line() -> None:
    for cls in get_args(Event):
        if cls is not Unknown:
            line = json.dumps({"type": cls.__name__, "time": 1.0})
            read = event_from_line(line)
            assert isinstance(read, (cls, Unknown))


@given(st.one_of(st.text(), st.binary().map(lambda raw: raw.decode("utf-8", "replace"))))
def test_that_no_line_ever_raises(line: str) -> None:
    assert event_to_line(event_from_line(line)) is not None
    commands.command_from_line(line)


def test_that_a_later_versions_event_is_kept_as_it_came() -> None:
    line = '{"type":"Teleported","time":12.5,"where":"elsewhere"}'
    event = event_from_line(line)
    assert event == Unknown(12.5, "Teleported", line)
    assert event_to_line(event) == line


def test_that_a_later_versions_field_is_passed_over() -> None:
    assert event_from_line('{"type":"Beat","time":3,"mood":"good"}') == events.Beat(3.0)


def test_that_an_infinite_loss_survives() -> None:
    event = Stepped(1.0, 2, 1, (float("inf"),), (0.5,), 0.1, 10.0)
    assert event_from_line(event_to_line(event)) == event


def test_that_a_failure_keeps_its_facts() -> None:
    event = Failed(1.0, "RuntimeError", "no\nmemory", "trace", FrozenMap(asked_bytes=5, device="cpu"))
    line = event_to_line(event)
    assert "\n" not in line
    assert event_from_line(line) == event


@pytest.mark.parametrize("cls", get_args(commands.Command))
def test_that_every_command_survives_its_line(cls: type) -> None:
    command = cls(5.0)
    assert commands.command_from_line(commands.command_to_line(command)) == command


def test_that_metrics_without_a_number_are_not_invented() -> None:
    assert isinstance(event_from_line('{"type":"EpochEnded","time":1,"epoch":1}'), Unknown)
    assert Metrics(0.5, 0.9, 10).accuracy == 0.9
