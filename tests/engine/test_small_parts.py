"""The allocator's settings, the step clock, and the facts of failures."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from studio.engine.allocator import keep_freed_memory, return_freed_memory
from studio.engine.stepclock import EVERY, StepClock

pytest.importorskip("torch")

import torch

from studio.engine.failure import Place, asked_bytes, explain, is_out_of_memory
from studio.engine.proof import prove
from studio.engine.threads import computing_with, threads_for

pytestmark = pytest.mark.torch


def test_that_the_allocator_is_left_alone_off_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert keep_freed_memory() is False
    return_freed_memory()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_that_big_blocks_are_kept_in_a_process_that_asks_for_it() -> None:
    """With the settings, freed 32 MiB blocks stay resident; without them they go back at once."""
    code = (
        "import sys\n"
        "from studio.engine.allocator import keep_freed_memory\n"
        "from studio.engine.probes.host import resident_bytes\n"
        "took = keep_freed_memory() if sys.argv[1] == 'yes' else True\n"
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)\n"
        "libc.free.argtypes = (ctypes.c_void_p,)\n"
        "before = resident_bytes()\n"
        "block = libc.malloc(32 << 20)\n"
        "ctypes.memset(block, 1, 32 << 20)\n"
        "libc.free(block)\n"
        "print(took, (resident_bytes() - before) >> 20)\n"
    )

    def kept(asked: str) -> int:
        ran = subprocess.run([sys.executable, "-c", code, asked], capture_output=True, text=True, check=True)
        took, mebibytes = ran.stdout.split()
        if took != "True":
            pytest.skip("this C library is not glibc")
        return int(mebibytes)

    assert kept("yes") >= 31
    assert kept("no") <= 2


def test_that_waiting_threads_sleep_unless_the_user_decides_otherwise() -> None:
    code = "import os, studio.engine; print(os.environ['OMP_WAIT_POLICY'])"

    def policy(**environment: str) -> str:
        kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, check=True).stdout

    assert policy() == "PASSIVE\n"
    assert policy(OMP_WAIT_POLICY="ACTIVE") == "ACTIVE\n"


def test_that_small_steps_are_computed_with_one_thread_and_the_number_is_given_back() -> None:
    assert threads_for(39_000_000, 8) == 1
    assert threads_for(240_000_000, 8) == 8
    before = torch.get_num_threads()
    with computing_with(3):
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before


def test_that_a_proof_does_not_disturb_the_dice_of_a_run() -> None:
    before = torch.get_rng_state()
    assert prove()["devices"][-1]["ok"] is True
    assert torch.equal(torch.get_rng_state(), before)


def test_that_only_every_eighth_step_is_measured_and_waited_for() -> None:
    now, waits = [0.0], [0]

    def wait() -> None:
        waits[0] += 1

    clock = StepClock(wait, lambda: now[0])
    shares = []
    for step in range(1, 2 * EVERY + 1):
        clock.begin(step)
        for part, seconds in (("data", 1.0), ("forward", 3.0), ("backward", 4.0)):
            now[0] += seconds
            clock.lap(part)  # type: ignore[arg-type]
        now[0] += 100.0
        clock.skip()
        now[0] += 2.0
        clock.lap("optimiser")
        shares.append(clock.end())
    measured = [share for share in shares if share is not None]
    assert len(measured) == 2
    assert waits[0] == 2 * 6
    assert dict(measured[-1]) == pytest.approx({"data": 0.1, "forward": 0.3, "backward": 0.4, "optimiser": 0.2})


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 1 GiB", 20 * 1024**2),
        ("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 4000 bytes.", 4000),
        ("Unable to allocate 1.5 GiB for an array with shape (3,)", 3 * 1024**3 // 2),
        ("something else", None),
    ],
)
def test_that_the_asked_bytes_are_read_from_the_message(message: str, asked: int | None) -> None:
    assert asked_bytes(message) == asked


def test_that_running_out_of_memory_is_told_with_numbers() -> None:
    place = Place("train", step=7, epoch=2, part="forward", batch_size=64)
    error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 512.00 MiB.")
    found = explain(error, place, torch.device("cpu"))
    assert found.kind == "OutOfMemoryError"
    assert found.facts["asked_bytes"] == 512 * 1024**2
    assert (found.facts["step"], found.facts["part"], found.facts["batch_size"]) == (7, "forward", 64)
    assert isinstance(found.facts["free_bytes"], int)
    assert found.problem is not None and found.problem.code == "out_of_memory"
    assert found.problem.facts["asked"] == "512 MiB"


def test_that_a_real_allocation_beyond_all_memory_is_recognised() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
    assert asked_bytes(str(caught.value)) == 2**60
    assert not is_out_of_memory(RuntimeError("shapes cannot be multiplied"))


def test_that_an_explained_error_keeps_no_frames() -> None:
    def fail() -> None:
        held = torch.zeros(10)
        raise ValueError(f"no {len(held)}")

    try:
        fail()
    except ValueError as error:
        found = explain(error, Place(), torch.device("cpu"))
        assert error.__traceback__ is None
    assert found.problem is None
    assert "in fail" in found.trace


@pytest.mark.skipif(sys.platform == "win32", reason="Unix niceness")
def test_that_the_engine_gives_way_once_and_never_takes_more() -> None:
    code = (
        "import os\n"
        "from studio.engine.priority import NICENESS, give_way\n"
        "before = os.nice(0)\n"
        "give_way(); give_way()\n"
        "print(os.nice(0) == max(before, NICENESS))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
