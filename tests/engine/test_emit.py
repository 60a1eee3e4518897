"""Events are written whole, paced, and late rather than never."""

from __future__ import annotations

import errno
import os
import time
from itertools import pairwise
from pathlib import Path

import pytest

from studio.core.events import (
    Beat,
    Ended,
    Event,
    Failed,
    HostMemory,
    MemorySampled,
    Progressed,
    Stepped,
    Unknown,
    Warned,
    event_from_line,
)
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.engine.emit import Emitter, Heartbeat


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def events(path: Path) -> list[Event]:
    return [event_from_line(line) for line in path.read_text("utf-8").splitlines()]


def step(emitter: Emitter, number: int, epoch: int = 1) -> None:
    emitter.stepped(number, epoch, loss=1 / number, accuracy=0.5, pictures=8, learning_rate=0.1)


def test_that_steps_are_packed_and_none_is_lost(tmp_path: Path) -> None:
    clock = Clock()
    emitter = Emitter(tmp_path / "e.jsonl", clock, clock)
    for number in range(1, 1001):
        clock.now += 0.002
        step(emitter, number)
    emitter.close()
    packs = [event for event in events(tmp_path / "e.jsonl") if isinstance(event, Stepped)]
    assert len(packs) <= 2.0 * 10 + 2
    assert [loss for pack in packs for loss in pack.losses] == [1 / number for number in range(1, 1001)]
    last = 0
    for pack in packs:
        last += len(pack.losses)
        assert pack.step == last
    assert packs[-2].images_per_second == pytest.approx(8 / 0.002, rel=0.05)


def test_that_images_per_second_count_training_alone(tmp_path: Path) -> None:
    clock = Clock()
    emitter = Emitter(tmp_path / "e.jsonl", clock, clock)
    for epoch in (1, 2, 3):
        emitter.pace_from_here()
        clock.now += 0.15  # the first batch of an epoch takes longer
        for number in range(1, 501):
            clock.now += 0.004
            step(emitter, number, epoch)
        clock.now += 30  # a validation, in which the heartbeat goes on
        emitter.tick()
        clock.now += 30
        emitter.emit(Beat(clock.now))
    emitter.close()
    packs = [event for event in events(tmp_path / "e.jsonl") if isinstance(event, Stepped)]
    assert all(0.8 * 8 / 0.004 <= pack.images_per_second <= 1.05 * 8 / 0.004 for pack in packs if pack.epoch > 1)


def test_that_a_clock_that_is_set_back_delays_nothing(tmp_path: Path) -> None:
    clock, ticks = Clock(), Clock()
    clock.now = 1e6
    emitter = Emitter(tmp_path / "e.jsonl", clock, ticks)
    for number in range(1, 101):
        clock.now += 0.02 if number != 50 else -360
        ticks.now += 0.02
        step(emitter, number)
    emitter.tick()
    packs = [event for event in events(tmp_path / "e.jsonl") if isinstance(event, Stepped)]
    emitter.close()
    assert packs[-1].step >= 95
    assert max(len(pack.losses) for pack in packs) <= 6
    assert packs[-1].images_per_second == pytest.approx(8 / 0.02, rel=0.05)


def test_that_nothing_follows_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, write = Clock(), os.write

    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    emitter = Emitter(tmp_path / "e.jsonl", clock, clock)
    step(emitter, 1)
    monkeypatch.setattr(os, "write", full)
    emitter.emit(Ended(clock.now, "finished"))
    monkeypatch.setattr(os, "write", write)
    clock.now += 5
    emitter.tick()
    emitter.sampled(MemorySampled(clock.now, 1, 1, HostMemory(1)))
    emitter.close()
    assert [type(event).__name__ for event in events(tmp_path / "e.jsonl")] == ["Stepped", "Ended"]


def test_that_ordinary_lines_stay_within_twenty_a_second(tmp_path: Path) -> None:
    clock = Clock()
    emitter = Emitter(tmp_path / "e.jsonl", clock, clock)
    for tick in range(1, 2001):
        clock.now += 0.005
        step(emitter, tick)
        emitter.progressed(Progressed(clock.now, "train", tick))
        emitter.tick()
    emitter.close()
    per_second: dict[int, int] = {}
    for event in events(tmp_path / "e.jsonl"):
        per_second[int(event.time)] = per_second.get(int(event.time), 0) + 1
    assert max(per_second.values()) <= 20


def test_that_a_record_has_one_writer_at_a_time(tmp_path: Path) -> None:
    first = Emitter(tmp_path / "e.jsonl")
    with pytest.raises(OSError, match="another program"):
        Emitter(tmp_path / "e.jsonl")
    first.close()
    Emitter(tmp_path / "e.jsonl").close()


def test_that_important_events_are_written_at_once_after_what_came_before(tmp_path: Path) -> None:
    clock = Clock()
    emitter = Emitter(tmp_path / "e.jsonl", clock, clock)
    step(emitter, 1)
    clock.now += 0.01
    step(emitter, 2)
    emitter.emit(Failed(clock.now, "ValueError", "no", "", FrozenMap()))
    kinds = [type(event).__name__ for event in events(tmp_path / "e.jsonl")]
    assert kinds == ["Stepped", "Stepped", "Failed"]
    emitter.close()


def test_that_steps_of_two_epochs_are_not_packed_together(tmp_path: Path) -> None:
    emitter = Emitter(tmp_path / "e.jsonl", Clock(), Clock())
    for number, epoch in ((1, 1), (2, 1), (3, 2)):
        step(emitter, number, epoch)
    emitter.close()
    packs = [event for event in events(tmp_path / "e.jsonl") if isinstance(event, Stepped)]
    assert [(pack.epoch, pack.step) for pack in packs] == [(1, 1), (1, 2), (2, 3)]


def test_that_a_beat_comes_while_nothing_else_does(tmp_path: Path) -> None:
    clock = Clock()
    emitter = Emitter(tmp_path / "e.jsonl", clock, clock)
    for _ in range(21):
        clock.now += 0.25
        emitter.tick()
    emitter.close()
    beats = [event.time for event in events(tmp_path / "e.jsonl") if isinstance(event, Beat)]
    assert len(beats) >= 5
    assert all(later - earlier <= 1.0 for earlier, later in pairwise(beats))


def test_that_a_torn_last_line_of_a_killed_run_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('{"type":"Beat","time":1.0}\n{"type":"Stepp')
    emitter = Emitter(path, Clock())
    emitter.emit(Beat(2.0))
    emitter.close()
    assert [type(event) for event in events(path)] == [Beat, Unknown, Beat]


def test_that_a_name_that_is_not_unicode_travels(tmp_path: Path) -> None:
    emitter = Emitter(tmp_path / "e.jsonl", Clock(), Clock())
    warned = Warned(1.0, Problem("pictures_left_out", files=("caf\udce9/1.png", "图.png")))
    emitter.emit(warned)
    emitter.close()
    assert events(tmp_path / "e.jsonl") == [warned]


def test_that_a_full_disk_delays_the_record_and_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, full, write = Clock(), [False], os.write

    def maybe_full(file: int, data: bytes) -> int:
        if full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    emitter = Emitter(tmp_path / "e.jsonl", clock, clock)
    monkeypatch.setattr(os, "write", maybe_full)
    emitter.emit(Beat(1.0))
    full[0] = True
    emitter.emit(Beat(2.0))
    assert emitter.is_failing
    clock.now += 30
    full[0] = False
    emitter.emit(Beat(3.0))
    assert emitter.close() is None
    written = events(tmp_path / "e.jsonl")
    told = written[2]
    assert [event.time for event in written if isinstance(event, Beat)] == [1.0, 2.0, 3.0]
    assert isinstance(told, Warned)
    assert (told.problem.code, told.problem.facts["seconds"], told.problem.facts["dropped"]) == (
        "events_delayed",
        30,
        0,
    )


def test_that_what_a_full_disk_keeps_waiting_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("studio.engine.emit.BACKLOG_BYTES", 2000)
    emitter = Emitter(tmp_path / "e.jsonl", Clock(), Clock())
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        for number in range(200):
            emitter.emit(Beat(float(number)))
    emitter.emit(Beat(999.0))
    emitter.close()
    written = events(tmp_path / "e.jsonl")
    told = [event.problem for event in written if isinstance(event, Warned)]
    assert told[0].facts["dropped"] == 200 - sum(event.time < 999 for event in written if isinstance(event, Beat))


def test_that_the_heartbeat_calls_and_is_joined() -> None:
    calls: list[float] = []
    heartbeat = Heartbeat(lambda: calls.append(time.monotonic()))
    heartbeat.start()
    deadline = time.monotonic() + 10
    while len(calls) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    heartbeat.stop()
    after = len(calls)
    assert after >= 2
    assert not heartbeat._thread.is_alive()
    Heartbeat().stop()


def test_that_a_record_that_is_not_whole_at_its_end_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    emitter = Emitter(tmp_path / "e.jsonl", Clock(), Clock())
    monkeypatch.setattr(os, "write", full)
    emitter.emit(Beat(1.0))
    refused = emitter.close()
    assert refused is not None and refused.errno == errno.ENOSPC
