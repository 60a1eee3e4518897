"""How long until the window is first painted, beside an empty Qt window: `python -m benchmarks.startup [PAIRS]`.

Both are measured from the start of their process, in turns A B A B, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAIRS = 7
MOST_RATIO = 1.3
FORBIDDEN = ("torch", "torchvision")


def empty_window() -> None:
    """The smallest Qt program that can tell when it has painted."""
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Empty(QMainWindow):
        def paintEvent(self, event: QPaintEvent) -> None:
            super().paintEvent(event)
            QTimer.singleShot(0, finish)

    def finish() -> None:
        report(first_paint_ns=time.time_ns())
        application.quit()

    application = QApplication([])
    window = Empty()
    window.resize(1360, 860)
    window.show()
    application.exec()


def studio_window() -> None:
    """The program as it starts; also when its parts are there and have been painted."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from studio.app import Studio
    from studio.folders import user_folders

    times: dict[str, int] = {}
    application = QApplication([])
    studio = Studio(user_folders())

    def finish() -> None:
        loaded = [name for name in FORBIDDEN if name in sys.modules]
        report(**times, ready_ns=time.time_ns(), loaded=loaded)
        if studio.shell is not None:
            studio.shell.closing.leave_now()

    def on_painted() -> None:
        times["first_paint_ns"] = time.time_ns()
        # The program furnishes the window on this very signal; what is painted after that is the welcome.
        QTimer.singleShot(0, lambda: QTimer.singleShot(0, finish))

    # Before the application's own slot, which builds all the rest.
    studio.window.painted.disconnect()
    studio.window.painted.connect(on_painted)
    studio.window.painted.connect(studio.furnish)
    studio.open([])
    application.exec()


def report(**values: object) -> None:
    print(json.dumps(values), flush=True)


def measure(kind: str, home: str) -> dict[str, Any]:
    """One start in a process of its own; times in seconds from its start."""
    environment = {**os.environ, "LANTERN_HOME": home, "PYTHONPATH": str(ROOT)}
    environment.setdefault("QT_QPA_PLATFORM", "" if environment.get("DISPLAY") else "offscreen")
    command = [sys.executable, "-m", "benchmarks.startup", "--child", kind]
    start_ns = time.time_ns()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0 or not done.stdout:
        raise RuntimeError(f"{kind}: exit code {done.returncode}\n{done.stderr}")
    said = json.loads(done.stdout.splitlines()[0])
    return {
        name.removesuffix("_ns"): (value - start_ns) / 1e9 if name.endswith("_ns") else value
        for name, value in said.items()
    }


def main(pairs: int) -> int:
    with tempfile.TemporaryDirectory(prefix="lantern-startup-") as home:
        for kind in ("empty", "studio"):
            measure(kind, home)  # once unmeasured: byte code and the disk's cache
        runs = [(measure("empty", home), measure("studio", home)) for _ in range(pairs)]
    empty = [first["first_paint"] for first, _ in runs]
    studio = [second["first_paint"] for _, second in runs]
    ready = [second["ready"] for _, second in runs]
    loaded = sorted({name for _, second in runs for name in second["loaded"]})
    ratio = statistics.median(ours / theirs for ours, theirs in zip(studio, empty, strict=True))
    print(f"{'pair':>4}  {'empty window':>12}  {'Lantern Studio':>14}  {'ready':>7}  {'ratio':>5}")
    for number, (theirs, ours, whole) in enumerate(zip(empty, studio, ready, strict=True), start=1):
        print(f"{number:>4}  {theirs:>10.3f} s  {ours:>12.3f} s  {whole:>5.3f} s  {ours / theirs:>5.2f}")
    summary = {
        "pairs": pairs,
        "empty_median_seconds": round(statistics.median(empty), 4),
        "studio_median_seconds": round(statistics.median(studio), 4),
        "studio_ready_median_seconds": round(statistics.median(ready), 4),
        "ratio_median": round(ratio, 3),
        "most_ratio": MOST_RATIO,
        "torch_modules_loaded": loaded,
        "is_good": ratio <= MOST_RATIO and not loaded,
    }
    print(json.dumps(summary, indent=2))
    return 0 if summary["is_good"] else 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--child", "empty"]:
            empty_window()
        case ["--child", "studio"]:
            studio_window()
        case [number]:
            sys.exit(main(int(number)))
        case _:
            sys.exit(main(PAIRS))
