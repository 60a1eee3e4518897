"""What an engine process holds before any run: the figure behind `FRAMEWORK_BYTES` in `studio/core/forecast.py`.

Starts the engine several times, waits until it is ready (torch imported, a first optimiser step done) and reads its
resident memory. Run: `python -m benchmarks.framework [REPEATS]`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

import psutil

from studio.core.forecast import FRAMEWORK_BYTES
from studio.core.quantities import size_text


def resident_when_ready() -> tuple[int, str]:
    """Resident bytes of a fresh engine at the moment it says that it is ready, and its version of torch."""
    with subprocess.Popen(
        [sys.executable, "-m", "studio.engine"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        ready = json.loads(engine.stdout.readline())
        resident: int = psutil.Process(engine.pid).memory_info().rss
        engine.stdin.close()
        engine.wait(30)
    if ready.get("type") != "ready":
        raise SystemExit(f"the engine did not start: {ready}")
    return resident, str(ready.get("torch"))


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    measured = [resident_when_ready() for _ in range(repeats)]
    sizes = sorted(resident for resident, _ in measured)
    median = statistics.median(sizes)
    print(f"torch {measured[0][1]}, {repeats} starts")
    print(f"resident when ready: median {size_text(median)}, least {size_text(sizes[0])}, most {size_text(sizes[-1])}")
    print(f"FRAMEWORK_BYTES is {size_text(FRAMEWORK_BYTES)}: {FRAMEWORK_BYTES / median:.2f} of the median")


if __name__ == "__main__":
    main()
