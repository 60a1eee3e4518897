from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.core.events import Beat, Ended, Event, Failed, MemorySampled, Started, Warned, event_to_line
from studio.core.problem import Problem, Severity
from studio.core.runstate import RunState
from studio.runs.folder import events_file
from studio.runs.follow import QUIET_SECONDS, Follower, LineTail, replay
from tests.runs.records import alive, ended, make_run, sampled, started, stepped, story, written


def _reduced(events: list[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = state.after(event)
    return state


def _append(folder: Path, content: bytes, rank: int = 0) -> None:
    with events_file(folder, rank).open("ab") as file:
        file.write(content)


def test_that_a_run_is_followed_from_its_first_event_as_it_grows(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [])
    follower = Follower(folder)
    assert follower.poll() == []
    _append(folder, written([alive()]))
    assert follower.poll() == [alive()]
    _append(folder, written([stepped(1), stepped(2)]))
    assert follower.poll() == [stepped(1), stepped(2)]
    assert follower.poll() == []


def test_that_a_torn_last_line_is_kept_until_it_is_whole(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [alive()])
    follower = Follower(folder)
    follower.poll()
    line = written([stepped(1)])
    _append(folder, line[:20])
    assert follower.poll() == []
    _append(folder, line[20:])
    assert follower.poll() == [stepped(1)]


def test_that_a_letter_torn_in_the_middle_of_its_bytes_is_read_whole(tmp_path: Path) -> None:
    event = Failed(1.0, "ValueError", "花 cannot be read", "")
    line = written([event])
    at = line.index("花".encode()) + 1
    folder = make_run(tmp_path, [alive()])
    follower = Follower(folder)
    follower.poll()
    _append(folder, line[:at])
    follower.poll()
    _append(folder, line[at:])
    assert follower.poll() == [event]


def test_that_each_poll_reads_a_bounded_piece(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [alive(), *(stepped(n) for n in range(1, 200))])
    follower = Follower(folder)
    pieces = []
    while True:
        pieces.append(follower.poll(limit_bytes=1000))
        if not follower.is_behind:
            break
    assert len(pieces) > 10
    assert max(len(piece) for piece in pieces) < 12
    assert sum(len(piece) for piece in pieces) == 200


def test_that_a_file_that_was_begun_anew_is_read_from_its_start(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [alive(), stepped(1), stepped(2)])
    follower = Follower(folder)
    state = _reduced(follower.poll())
    events_file(folder).write_bytes(written([alive(), stepped(1)]))
    for event in follower.poll():
        state = state.after(event)
    assert (state.step, len(state.losses)) == (1, 1)


def test_that_a_line_beyond_any_event_is_passed_over_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"x" * 5000 + b"\nafter\n")
    tail = LineTail(path, longest_bytes=1000)
    lines = []
    while True:
        lines += tail.read(300)
        if not tail.behind_bytes:
            break
    assert lines == ["...", "after"]


def test_that_a_host_that_is_gone_without_a_word_makes_the_run_dead(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [started(), stepped(1)])
    events = Follower(folder).poll()
    assert isinstance(events[-1], Ended)
    assert events[-1].outcome == "died"
    assert events[-1].reason


def test_that_a_death_is_told_once(tmp_path: Path) -> None:
    follower = Follower(make_run(tmp_path, [started()]), check_seconds=0.0)
    assert len(follower.poll()) == 2
    assert follower.poll() == []


def test_that_last_words_written_while_looking_for_the_host_are_not_missed(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [started()])

    def dies_after_its_last_words(_started: Started | None) -> bool:
        _append(folder, written([ended()]))
        return False

    events = Follower(folder, is_host_alive=dies_after_its_last_words).poll()
    assert [event.outcome for event in events if isinstance(event, Ended)] == ["finished"]


def test_that_a_resumed_run_is_followed_past_its_death(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [started(), stepped(1)])
    follower = Follower(folder, check_seconds=0.0)
    state = _reduced(follower.poll())
    assert state.ended is not None
    _append(folder, written([alive(time=500.0), stepped(1)]))
    for event in follower.poll():
        state = state.after(event)
    assert state.ended is None
    assert state.is_running


def test_that_a_living_host_keeps_the_run_running(tmp_path: Path) -> None:
    state = replay(make_run(tmp_path, [alive(), stepped(1)]))
    assert state.is_running


def test_that_another_process_with_the_same_number_is_not_the_host(tmp_path: Path) -> None:
    impostor = started(pid=alive().pid, process_started=1000.0)
    state = replay(make_run(tmp_path, [impostor, stepped(1)]))
    assert state.ended is not None
    assert state.ended.outcome == "died"


def test_that_a_run_without_beats_is_quiet_until_it_ends(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [alive(), Beat(150.0)])
    follower = Follower(folder)
    follower.poll()
    assert not follower.is_quiet(150.0 + QUIET_SECONDS)
    assert follower.is_quiet(151.0 + QUIET_SECONDS)
    _append(folder, written([ended()]))
    follower.poll()
    assert not follower.is_quiet(10_000.0)


def test_that_other_ranks_tell_only_failures_warnings_and_memory(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [alive(), stepped(1)])
    warned = Warned(1.0, Problem("slow", Severity.WARNING))
    failed = Failed(2.0, "E", "m", "t")
    _append(folder, written([alive(), stepped(1), warned, sampled(1), failed, ended()]), rank=1)
    events = Follower(folder).poll()
    assert events == [alive(), stepped(1), warned, sampled(1), failed]


def test_that_a_run_without_a_record_replays_to_nothing(tmp_path: Path) -> None:
    assert replay(make_run(tmp_path, [])) == RunState()
    assert replay(tmp_path / "absent") == RunState()


garbage = st.binary(max_size=30).filter(lambda piece: b"\n" not in piece)
lines = st.one_of(
    st.sampled_from([event_to_line(event).encode() for event in story()]),
    garbage,
    st.sampled_from([b'{"type":"Later","time":3}', b'{"type":"Stepped"', b"[1]", b"\xff\xfe", b"null"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.lists(lines, max_size=30), cuts=st.lists(st.integers(0, 4000), max_size=12), limit=st.integers(1, 500)
)
def test_that_any_chunks_torn_lines_and_garbage_lead_to_the_state_of_a_whole_read(
    tmp_path: Path, content: list[bytes], cuts: list[int], limit: int
) -> None:
    whole = b"".join(line + b"\n" for line in content)
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    events_file(folder).write_bytes(b"")
    follower = Follower(folder, is_host_alive=lambda _started: True)
    state, at = RunState(), 0
    for cut in [*sorted(cuts), len(whole)]:
        _append(folder, whole[at:cut])
        at = max(at, min(cut, len(whole)))
        while True:
            events = follower.poll(limit)
            for event in events:
                state = state.after(event)
            if not follower.is_behind:
                break
    expected = _reduced(Follower(folder, is_host_alive=lambda _started: True).poll(10**6))
    assert state == expected


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_that_no_bytes_make_the_follower_raise(pieces: list[bytes]) -> None:
    tail = LineTail(Path("nowhere"))
    for piece in pieces:
        assert all("\n" not in line for line in tail._lines(piece))


@pytest.mark.parametrize("outcome", ["finished", "stopped", "failed"])
def test_that_a_whole_story_replays_to_its_outcome(tmp_path: Path, outcome: str) -> None:
    state = replay(make_run(tmp_path, story(outcome)))  # type: ignore[arg-type]
    assert state.ended is not None
    assert state.ended.outcome == outcome
    assert len(state.losses) == 12
    assert len(state.epochs) == 3
    assert state.unknown_count == 0
    assert isinstance(state.memory.latest, MemorySampled)


def test_that_unknown_lines_are_counted_and_change_nothing_else(tmp_path: Path) -> None:
    folder = make_run(tmp_path, story())
    plain = replay(folder)
    _append(folder, b'{"type":"FromTheFuture","time":1}\nnonsense\n')
    state = replay(folder)
    assert state.unknown_count == 2
    assert state.losses == plain.losses
