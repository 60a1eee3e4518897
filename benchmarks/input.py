"""What feeding costs: ratios against the usual script and against batches that lie in memory already.

Usage: `python -m benchmarks.input SOURCE [--pictures 4000] [--pairs 5] [--work FOLDER]`. SOURCE is a folder of JPEGs
of any size, from which pictures of 500 x 375 px are put together. All ratios are medians over interleaved pairs (A B A
B), of the time on the clock and, because that suffers from whatever else the machine does, of processor time:

- later: training SimpleCNN (batch 32, 224 px, fp32) from the cache, against the same steps on resident batches;
- first: from the unknown folder to the end of epoch 1, against torchvision's ImageFolder with Resize, ToTensor and
  Normalize, a DataLoader with 0, 1 and 2 workers, and a plain loop; with and without glibc's three `mallopt` settings;
- feed: the same, with the pictures only brought to the network's input and nothing trained;
- the most memory that each took, with its child processes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil
from PIL import Image

from studio.core.project import Data, Preprocessing, Project, Recipe, save_project
from studio.core.quantities import size_text
from studio.core.templates import default_network

SIZE, SIDE, BATCH = (500, 375), 224, 32
TILES = 3
CLASSES = 10
SAMPLE_SECONDS = 0.25
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
WORKERS = (0, 1, 2)
STEPS = 20

# On the clock, and of the processor.
Seconds = tuple[float, float]


def make_pictures(source: Path, folder: Path, count: int) -> None:
    """`count` JPEGs of `SIZE` in `CLASSES` folders: mosaics of the small ones, with the detail of photographs."""
    found = sorted(path for path in source.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    drawn = random.Random(0)
    size = (SIZE[0] // TILES + 1, SIZE[1] // TILES + 1)
    for number in range(count):
        canvas = Image.new("RGB", SIZE)
        for place in range(TILES**2):
            with Image.open(drawn.choice(found)) as tile:
                scaled = tile.convert("RGB").resize(size, Image.Resampling.BICUBIC)
            canvas.paste(scaled, (place % TILES * size[0], place // TILES * size[1]))
        path = folder / f"class{number % CLASSES}" / f"{number:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        canvas.save(path, quality=90)


def project_of(folder: Path, epochs: int = 1) -> Project:
    return Project(
        "benchmark",
        Data(str(folder), classes=tuple(f"class{n}" for n in range(CLASSES)), validation_share=0.01),
        Preprocessing(height=SIDE, width=SIDE, fit="stretch", normalise="imagenet", mean=MEAN, std=STD),
        default_network(),
        Recipe(epochs=epochs, batch_size=BATCH, device="cpu"),
    )


def now() -> Seconds:
    """The clock and the processor time of this process and of its children that are over."""
    used = os.times()
    return time.perf_counter(), used.user + used.system + used.children_user + used.children_system


def since(began: Seconds) -> Seconds:
    clock, processor = now()
    return clock - began[0], processor - began[1]


# Each arm runs in a process of its own and tells how long it took; importing torch is not counted.


def ours_first(folder: Path, work: Path) -> Seconds:
    """The engine's whole way to the end of epoch 1: scan, inspection, cache, training."""
    from studio.engine import train

    run_folder = work / "run"
    run_folder.mkdir()
    save_project(project_of(folder), run_folder / "project.json")
    (run_folder / "commands.jsonl").touch()
    began, ended = now(), (0.0, 0.0)
    end_epoch = train._end_epoch

    def note(*given: Any) -> bool:  # what follows is validation, which the script does not have
        nonlocal ended
        ended = since(began)
        return end_epoch(*given)

    vars(train)["_end_epoch"] = note
    outcome = train.run(run_folder, work / "cache", launcher="thread")
    if outcome != "finished":
        raise SystemExit(f"the run {outcome}; see {run_folder}")
    return ended


def ours_feed(folder: Path, work: Path) -> Seconds:
    """From the unknown folder to every picture's input, once."""
    from studio.engine.batches import Normaliser

    began = now()
    batches, device = our_batches(folder, work)
    normaliser = Normaliser(MEAN, STD, device)
    for batch in batches.of_epoch():
        normaliser(batch.pictures)
    return since(began)


def our_batches(folder: Path, work: Path) -> tuple[Any, Any]:
    """The engine's batches of all pictures of the folder."""
    import numpy as np
    import torch

    from studio.dataset.arrays import DecodedCache
    from studio.dataset.inspect import inspect
    from studio.dataset.scan import scan
    from studio.engine.batches import Batches

    inspection = inspect(scan(folder), work / "cache")
    cache = DecodedCache(inspection, project_of(folder).preprocessing, work / "cache")
    labels = inspection.index.pictures.labels.astype(np.int64)
    return Batches(cache, np.arange(len(labels)), labels, BATCH, seed=0), torch.device("cpu")


def script(folder: Path, workers: int, *, trains: bool) -> Seconds:
    """The usual script."""
    import torch
    from torch.nn import functional
    from torch.utils.data import DataLoader
    from torchvision import datasets, transforms

    from studio.engine.build import build

    began = now()
    steps = [transforms.Resize((SIDE, SIDE)), transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    pictures = datasets.ImageFolder(str(folder), transforms.Compose(steps))
    loader = DataLoader(pictures, BATCH, shuffle=True, num_workers=workers)
    net = build(default_network(), (3, SIDE, SIDE), CLASSES, 0)
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    for inputs, labels in loader:
        if not trains:
            continue
        loss = functional.cross_entropy(net(inputs), labels)
        optimiser.zero_grad()
        torch.autograd.backward(loss)
        optimiser.step()
        loss.item()
    del loader  # its workers are over, and count
    return since(began)


def later(folder: Path, work: Path, pairs: int) -> list[tuple[Seconds, Seconds]]:
    """Times of as many steps on resident batches and from the filled cache, `pairs` times."""
    import torch

    from studio.engine.batches import Batch, Normaliser
    from studio.engine.build import build
    from studio.engine.learner import Learner

    project = project_of(folder)
    batches, device = our_batches(folder, work)
    normaliser = Normaliser(MEAN, STD, device)
    steps = min(STEPS, len(batches))
    learner = Learner(build(project.network, project.preprocessing.shape, CLASSES, 0), project.recipe, device)
    resident = [(normaliser(batch.pictures), batch.labels) for batch in islice(batches.of_epoch(), 4)]
    for _ in batches.of_epoch():  # fills the cache
        pass

    def fed(source: Iterator[Batch]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for batch in islice(source, steps):
            yield normaliser(batch.pictures), batch.labels

    def seconds(source: Iterator[tuple[torch.Tensor, torch.Tensor]]) -> Seconds:
        began = now()
        for inputs, labels in source:
            loss = torch.nn.functional.cross_entropy(learner.net(inputs), labels)
            learner.optimiser.zero_grad()
            torch.autograd.backward(loss)
            learner.optimiser.step()
            loss.item()
        return since(began)

    measured = []
    for number in range(pairs + 1):
        a = seconds(islice(cycle(resident), steps))
        epoch = batches.of_epoch(number)
        b = seconds(fed(epoch))
        epoch.close()
        measured.append((a, b))
    return measured[1:]  # the first one warms up


def arm(name: str, folder: Path, work: Path, pairs: int) -> None:
    """Run one arm in this process and print what it measured."""
    kind, _, workers = name.partition("-")
    if not kind.startswith("script") or kind.endswith("mallopt"):
        from studio.engine.allocator import keep_freed_memory

        keep_freed_memory()
    import torch  # noqa: F401 - not part of what is measured

    match kind:
        case "later":
            told: Any = later(folder, work, pairs)
        case "first":
            told = ours_first(folder, work)
        case "feed":
            told = ours_feed(folder, work)
        case _:
            told = script(folder, int(workers), trains="feed" not in kind)
    print(json.dumps(told))


def measured(name: str, folder: Path, pairs: int = 0) -> tuple[Any, int]:
    """What an arm told, and the most memory that its processes took together, in bytes."""
    with tempfile.TemporaryDirectory() as work:
        command = [sys.executable, "-m", "benchmarks.input", "--arm", name, "--work", work, "--pairs", str(pairs)]
        with subprocess.Popen([*command, str(folder)], stdout=subprocess.PIPE, text=True) as process:
            most = 0
            while process.poll() is None:
                most = max(most, own_bytes(process.pid))
                time.sleep(SAMPLE_SECONDS)
            assert process.stdout is not None
            told = process.stdout.read()
        if process.returncode:
            raise SystemExit(f"{name} failed")
        return json.loads(told), most


def own_bytes(pid: int) -> int:
    """Memory of a process and its children that is theirs alone or shared among them: not libraries, not files."""
    total = 0
    try:
        root = psutil.Process(pid)
        for one in (root, *root.children(recursive=True)):
            account = Path(f"/proc/{one.pid}/smaps_rollup")
            if account.exists():
                lines = dict(line.split(":") for line in account.read_text().splitlines()[1:])
                total += sum(int(lines[name].split()[0]) * 1024 for name in ("Pss_Anon", "Pss_Shmem"))
            else:
                total += one.memory_full_info().uss
    except (psutil.Error, OSError):
        return 0
    return total


def compare(ours: str, peer: str, folder: Path, count: int, pairs: int) -> None:
    """Interleaved pairs of an arm and its peer with each number of workers."""
    names = [ours, *(f"{peer}-{workers}" for workers in WORKERS), *(f"{peer}mallopt-{workers}" for workers in WORKERS)]
    found: dict[str, list[tuple[Seconds, int]]] = {name: [] for name in names}
    for _ in range(pairs):
        for name in names:
            found[name].append(measured(name, folder))
    print(f"{ours}: {count} pictures, medians of {pairs}")
    for name in names:
        seconds = statistics.median(clock for (clock, _), _ in found[name])
        clock, processor = (
            [one[kind] / mine[kind] for (one, _), (mine, _) in zip(found[name], found[ours], strict=True)]
            for kind in (0, 1)
        )
        memory = size_text(max(most for _, most in found[name]))
        print(
            f"  {name:24} {count / seconds:7.1f} pictures/s   {statistics.median(clock):5.2f} x ours on the clock   "
            f"{statistics.median(processor):5.2f} x of the processor   {memory}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--pictures", type=int, default=4000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--only", choices=("later", "first", "feed"))
    parser.add_argument("--arm")
    given = parser.parse_args()
    if given.arm:
        arm(given.arm, given.source, given.work, given.pairs)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.work or Path(temporary)) / f"photos{given.pictures}"
        if not folder.exists():
            make_pictures(given.source, folder, given.pictures)
        if given.only in (None, "later"):
            pairs, _ = measured("later", folder, given.pairs)
            for kind, name in enumerate(("on the clock", "of the processor")):
                ratios = sorted(b[kind] / a[kind] for a, b in pairs)
                middle = statistics.median(ratios)
                print(f"later: {middle:.3f} of resident batches {name} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
        if given.only in (None, "first"):
            compare("first", "script", folder, given.pictures, given.pairs)
        if given.only in (None, "feed"):
            compare("feed", "scriptfeed", folder, given.pictures, given.pairs)


if __name__ == "__main__":
    main()
