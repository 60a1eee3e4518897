"""Opening a folder of many pictures: how the scan compares with a bare walk, and what a second opening saves.

Limits: the scan takes at most 3 times a bare `os.scandir` + `stat` walk of the same tree, a second opening (scan and
inspection from the cache) at most 0.3 times the first, a million rows less than 400 MB, stopping less than a second.
Run: `python -m benchmarks.scan [FILES] [--inspect]`; ratios are medians of interleaved rounds.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
import tracemalloc
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from studio.dataset import scan as scanning
from studio.dataset.inspect import inspect
from studio.dataset.progress import Cancelled, Pace
from studio.dataset.scan import scan
from studio.dataset.walk import Folder, Walk

CLASSES = 100
ROUNDS = 5
MILLION = 1_000_000


def make_tree(root: Path, files: int) -> None:
    """`files` small pictures in 100 class folders; all different where they are inspected later."""
    draw = np.random.default_rng(0)
    for label in range(CLASSES):
        (root / f"class_{label:03d}").mkdir(parents=True)
    for at in range(files):
        noise = draw.integers(0, 256, (28, 28), np.uint8)
        Image.fromarray(noise).save(root / f"class_{at % CLASSES:03d}" / f"picture_{at:07d}.png", compress_level=1)


def bare_walk(root: str) -> int:
    """The least that any program does: list every folder and stat every entry."""
    count, waiting = 0, [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    waiting.append(entry.path)
                else:
                    entry.stat()
                    count += 1
    return count


def seconds_of(task: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def seconds_to_cancel(task: Callable[[Callable[[], bool]], object], after_seconds: float) -> float:
    """How long `task` goes on after it was asked to stop `after_seconds` into its work."""
    start = time.perf_counter()
    try:
        task(lambda: time.perf_counter() - start > after_seconds)
    except Cancelled:
        return time.perf_counter() - start - after_seconds
    return 0.0


class GeneratedWalk:
    """Stands in for the walker of the scan: a million names without a million files."""

    def __init__(self, root: str, pace: Pace) -> None:
        top = Folder(Path(root).name, "")
        for label in range(1000):
            names = [f"picture_{label:04d}_{at:07d}.jpg" for at in range(MILLION // 1000)]
            zeros = array("q", bytes(8 * len(names)))
            name = f"class_{label:04d}"
            top.children.append(Folder(name, name, 1, names, zeros, zeros, total=len(names)))
        top.total = MILLION
        self._walk = Walk(top, seen=MILLION)

    def run(self) -> Walk:
        return self._walk


def million_row_bytes(root: Path) -> tuple[int, int]:
    """Bytes of an index of a million rows: what stays, and the most while it is made."""
    names = vars(scanning)
    real, names["Walker"] = names["Walker"], GeneratedWalk
    gc.collect()
    tracemalloc.start()
    try:
        index = scan(root)
        gc.collect()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        names["Walker"] = real
    if len(index.pictures) != MILLION:
        raise SystemExit(f"expected a million rows, found {len(index.pictures)}")
    return kept, peak


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="?", type=int, default=100_000)
    parser.add_argument("--inspect", action="store_true", help="also open every picture, twice")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root, cache = Path(made) / "set", Path(made) / "cache"
        make_tree(root, options.files)
        bare_walk(str(root))
        rounds = [(seconds_of(lambda: bare_walk(str(root))), seconds_of(lambda: scan(root))) for _ in range(ROUNDS)]
        ratio = statistics.median(ours / bare for bare, ours in rounds)
        print(
            f"{options.files:,} files: bare walk {min(bare for bare, _ in rounds):.2f} s, scan {ratio:.2f} x (limit 3)"
        )
        late = seconds_to_cancel(lambda stop: scan(root, cancelled=stop), rounds[0][1] / 2)
        print(f"scan: {late:.2f} s from asking to stop until it stops (limit 1)")
        if options.inspect:
            index = scan(root)
            late = seconds_to_cancel(lambda stop: inspect(index, cache / "cancelled", cancelled=stop), 1.0)
            print(f"inspection: {late:.2f} s from asking to stop until it stops (limit 1)")
            first = seconds_of(lambda: inspect(scan(root), cache))
            second = seconds_of(lambda: inspect(scan(root), cache))
            print(f"first opening {first:.1f} s, second {second:.2f} s: {second / first:.3f} x (limit 0.3)")
            late = seconds_to_cancel(
                lambda stop: inspect(scan(root, cancelled=stop), cache, cancelled=stop), second / 2
            )
            print(f"second opening: {late:.2f} s from asking to stop until it stops (limit 1)")
        kept, peak = million_row_bytes(root)
        print(f"a million rows: {kept / 1e6:.0f} MB, {peak / 1e6:.0f} MB while they are made (limit 400)")


if __name__ == "__main__":
    main()
