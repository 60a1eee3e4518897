"""How smooth the window stays while the sample trains: `python -m benchmarks.responsiveness [EPOCHS]`.

A timer of 4 ms runs in the window's process; the gaps between its calls are what a hand on the mouse would feel. The
Train page with its plots is shown; training runs in the engine process, with the real application around it.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtGui import QGuiApplication

from studio.core.edits import SetPart
from studio.core.settings import Settings
from tests.e2e.driver import open_window

EPOCHS = 5
IDLE_MS = 3000
TIMER_MS = 4
MOST_P99_MS = 16.0


class GapTimer:
    """Collects the times between calls of a 4 ms timer while `is_counting`."""

    def __init__(self) -> None:
        self.gaps_ms: list[float] = []
        self.is_counting = False
        self._last: float | None = None
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TIMER_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def take(self) -> list[float]:
        gaps, self.gaps_ms = self.gaps_ms, []
        return gaps

    def _tick(self) -> None:
        now = time.perf_counter()
        if self.is_counting and self._last is not None:
            self.gaps_ms.append((now - self._last) * 1000)
        self._last = now


def run_until(quit_on: Callable[[Callable[[], None]], object]) -> None:
    """A real event loop, as the program has it, until the signal that `quit_on` connects."""
    loop = QEventLoop()
    quit_on(loop.quit)
    loop.exec()


def summary(gaps_ms: Sequence[float]) -> dict[str, float]:
    ordered = sorted(gaps_ms)
    return {
        "count": len(ordered),
        "p50_ms": round(statistics.median(ordered), 2),
        "p99_ms": round(ordered[int(0.99 * (len(ordered) - 1))], 2),
        "max_ms": round(ordered[-1], 2),
    }


def main(epochs: int) -> int:
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    settings = Settings(language="en", theme="light", launcher="process")
    with tempfile.TemporaryDirectory(prefix="lantern-gaps-") as home, open_window(Path(home), settings) as driver:
        driver.studio.window.resize(1360, 860)
        driver.click("welcome.sample")
        driver.wait(lambda: driver.workspace.pictures.split is not None, "the sample", 120)
        driver.workspace.document.apply(SetPart("recipe", "epochs", epochs), "Epochs")
        driver.wait(lambda: driver.workspace.engine.state == "ready", "the engine", 120)
        driver.go("train")
        driver.settle(1.0)
        timer = GapTimer()
        timer.is_counting = True
        run_until(lambda end: QTimer.singleShot(IDLE_MS, end))
        idle = summary(timer.take())
        training = driver.workspace.training
        driver.workspace.actions.trigger("run.start")
        timer.take()
        run_until(training.ended.connect)
        timer.is_counting = False
        busy = summary(timer.take())
        state = training.state
        result = {
            "platform": QGuiApplication.platformName(),
            "epochs": len(state.epochs),
            "steps": state.step,
            "images_per_second": round(state.ended.images_per_second, 1) if state.ended else None,
            "idle": idle,
            "training": busy,
            "most_p99_ms": MOST_P99_MS,
            "is_good": busy["p99_ms"] < MOST_P99_MS and state.step > 0,
        }
    print(f"{'':>10}  {'gaps':>6}  {'p50':>8}  {'p99':>8}  {'max':>8}")
    for name, row in (("idle", idle), ("training", busy)):
        figures = "  ".join(f"{row[key]:>5.2f} ms" for key in ("p50_ms", "p99_ms", "max_ms"))
        print(f"{name:>10}  {row['count']:>6.0f}  {figures}")
    print(json.dumps(result, indent=2))
    return 0 if result["is_good"] else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else EPOCHS))
