"""Events and commands survive their lines; lines that nobody knows never raise."""

from __future__ import annotations

import json
import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core import commands, events
from studio.core.events import Event, Failed, Metrics, Stepped, Unknown, event_from_line, event_to_line
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.runstate import RunState

numbers = st.floats(allow_nan=False)
stepped = st.builds(
    Stepped,
    time=st.floats(0, 1e11),
    step=st.integers(1, 10**9),
    epoch=st.integers(1, 1000),
    losses=st.tuples(numbers, numbers),
    accuracies=st.tuples(numbers, numbers),
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


HUGE = "9" * 400
HOSTILE = (
    f'{{"type":"Beat","time":{HUGE}}}',
    '{"type":"Beat","time":NaN}',
    '{"type":"Beat","time":1e999}',
    '{"type":"Beat","time":-5}',
    f'{{"type":"Teleported","time":{HUGE}}}',
    '{"type":"Teleported","time":"nan"}',
    '{"type":"Stepped","time":1,"step":2,"epoch":1,"losses":[1,2],"accuracies":[1],"learning_rate":1,'
    '"images_per_second":1}',
    f'{{"type":"Stepped","time":1,"step":{HUGE},"epoch":1,"losses":[1],"accuracies":[1],"learning_rate":1,'
    '"images_per_second":1}',
    f'{{"type":"Stepped","time":1,"step":1,"epoch":1,"losses":[{HUGE}],"accuracies":[1],"learning_rate":1,'
    '"images_per_second":1}',
    f'{{"type":"MemorySampled","time":1,"step":1,"epoch":1,"host":{{"resident_bytes":-{HUGE}}}}}',
    f'{{"type":"Ended","time":1,"outcome":"finished","seconds":{HUGE}}}',
)


@pytest.mark.parametrize("line", HOSTILE)
def test_that_numbers_nobody_can_reckon_with_do_no_harm(line: str) -> None:
    event = event_from_line(line)
    assert isinstance(event, Unknown)
    assert math.isfinite(event.time)
    state = RunState().after(event)
    assert math.isfinite(state.seconds)


def test_that_a_file_name_of_many_digits_is_no_number() -> None:
    warned = events.Warned(1.0, Problem("pictures_left_out", files=("1" * 40 + ".png",)))
    assert event_from_line(event_to_line(warned)) == warned


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
