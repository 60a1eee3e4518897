"""Measures the forecast of memory: real peaks of training, validation and prediction on the CPU beside what was said.

Each network runs in a process of its own, with the engine's own parts in the engine's order, in a C allocator that
gives every large block back at once, so that the high-water mark of resident memory (proc(5), VmHWM) is what tensors
and compiled code took at their peak. Linux only. Run: `python -m benchmarks.forecast [PART_OF_A_NAME ...]`.
"""

from __future__ import annotations

import gc
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from studio.core.check import check
from studio.core.fields import Value
from studio.core.forecast import FRAMEWORK_BYTES, Forecast, Forecasts
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Data, Network, Preprocessing, Project, Recipe
from studio.core.quantities import size_text
from studio.core.templates import templates

CLASSES = tuple("0123456789")
USES = ("training", "validation", "prediction")
BATCHES = 3
RANDOM_NETWORKS = 24


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    project: Project


def _case(name: str, network: Network, side: int, **recipe: Any) -> Case:
    size = Preprocessing(height=side, width=side)
    return Case(name, Project(name, Data("folder", classes=CLASSES), size, network, Recipe(**recipe)))


def cases() -> list[Case]:
    """Every template, and random networks of everything else."""
    found = [
        _case("simple_cnn", templates()["simple_cnn"].network, 128, batch_size=64),
        _case("mlp", templates()["mlp"].network, 64, batch_size=64),
        _case("lenet", templates()["lenet"].network, 96, batch_size=128),
        _case("vgg_small", templates()["vgg_small"].network, 64, batch_size=32),
        _case("resnet18", templates()["resnet18"].network, 128, batch_size=16),
        _case("resnet34", templates()["resnet34"].network, 96, batch_size=16, optimiser="sgd"),
        _case("resnet50", templates()["resnet50"].network, 96, batch_size=16, optimiser="rmsprop"),
        _case("mobilenet_small", templates()["mobilenet_small"].network, 160, batch_size=32),
        _case("vit_tiny", templates()["vit_tiny"].network, 96, batch_size=16, optimiser="adamw"),
        _case("lstm_rows", templates()["lstm_rows"].network, 96, batch_size=64),
    ]
    return found + [_random_case(seed) for seed in range(RANDOM_NETWORKS)]


def _block(kind: str, **settings: Value) -> tuple[str, dict[str, Value]]:
    return kind, settings


def _random_case(seed: int) -> Case:
    """Stages of random blocks on a random picture size, then one of the ways to a head."""
    rng = random.Random(seed)
    side, batch = rng.choice((48, 64, 96)), rng.choice((8, 16, 24, 32))
    chosen = _random_tokens(rng) if seed % 6 == 5 else _random_stages(rng)
    blocks = [Block(f"b{n}", kind, FrozenMap(settings)) for n, (kind, settings) in enumerate(chosen)]
    optimiser = rng.choice(("adam", "sgd", "adamw", "rmsprop"))
    if seed % 8 == 3:  # as for transfer: the first half is kept as it is
        blocks = [replace(block, frozen=n < len(blocks) // 2) for n, block in enumerate(blocks)]
    return _case(f"random {seed}", Network(tuple(blocks)), side, batch_size=batch, optimiser=optimiser)


_BENDS = (
    "relu", "gelu", "silu", "leaky_relu", "prelu", "relu6", "hardswish", "mish", "elu", "softplus", "tanh",
    "hard_sigmoid",
)  # fmt: skip


def _random_stages(rng: random.Random) -> list[tuple[str, dict[str, Value]]]:
    chosen, width = [], rng.choice((16, 24, 32))
    for _ in range(rng.randint(2, 4)):
        for _ in range(rng.randint(1, 3)):
            chosen += _random_stage(rng, width)
        chosen.append(_block(rng.choice(("max_pool", "avg_pool", "max_pool"))))
        width *= 2
    return chosen + _random_head(rng)


def _random_stage(rng: random.Random, width: int) -> list[tuple[str, dict[str, Value]]]:
    norm = rng.choice(("batch_norm", "group_norm", "layer_norm", "instance_norm", None))
    match rng.randint(0, 6):
        case 0:
            return [_block("residual", out_channels=width)]
        case 1:
            return [_block("bottleneck_residual", out_channels=2 * width)]
        case 2:
            gate, bend = rng.random() < 0.5, rng.choice(("relu", "relu6", "hardswish"))
            return [_block("inverted_residual", out_channels=width, expansion=4, squeeze_excite=gate, activation=bend)]
        case 3:
            return [_block("depthwise_separable", out_channels=width)]
    found = [_block("conv2d", out_channels=width, kernel=rng.choice((1, 3, 3, 5)), padding=None)]
    found += [_block(norm)] if norm else []
    found.append(_block(rng.choice(_BENDS)))
    if rng.random() < 0.3:
        found.append(_block(rng.choice(("dropout", "spatial_dropout", "squeeze_excite"))))
    return found


def _random_head(rng: random.Random) -> list[tuple[str, dict[str, Value]]]:
    match rng.randint(0, 3):
        case 0:
            return [_block("global_pool"), _block("linear")]
        case 1:
            return [_block("adaptive_pool", size=4), _block("mlp", hidden="512, 128", rate=0.3), _block("linear")]
        case 2:
            rows = _block(rng.choice(("lstm_rows", "gru_rows")), hidden=128, bidirectional=rng.random() < 0.5)
            return [rows, _block("linear")]
    return [_block("flatten"), _block("linear", out_features=256), _block("relu"), _block("linear")]


def _random_tokens(rng: random.Random) -> list[tuple[str, dict[str, Value]]]:
    width = rng.choice((96, 128, 192))
    encoder = _block("transformer_encoder", depth=rng.randint(2, 5), heads=4, rate=rng.choice((0.0, 0.1)))
    patches = _block("patch_embedding", patch=rng.choice((6, 8, 12)), width=width)
    return [patches, encoder, _block("token_pool", takes=rng.choice(("mean", "class"))), _block("linear")]


class _Mark:
    """The high-water mark of resident memory since it was made."""

    def __init__(self) -> None:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")

    @property
    def bytes(self) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def measured(project: Project) -> dict[str, int]:
    """Peak bytes in each use: resident memory above that of a process that is ready for a run."""
    from studio.engine.batches import Batches, Normaliser

    _be_ready()
    gc.collect()
    base = _Mark().bytes
    peaks = _exercise(project, Batches, Normaliser)
    return {use: peak - base for use, peak in peaks.items()}


def _be_ready() -> None:
    """What an engine process has done before it says that it is ready, and what `FRAMEWORK_BYTES` holds."""
    import torch
    import torchvision.transforms.v2  # noqa: F401

    weight = torch.nn.Parameter(torch.zeros(4))
    torch.autograd.backward(weight.sum())
    torch.optim.Adam([weight], fused=True).step()


def _exercise(project: Project, batches_type: Any, normaliser_type: Any) -> dict[str, int]:
    """The steps of `studio.engine.train` and `evaluate`, with pictures of noise."""
    import numpy as np
    import torch

    from studio.core.check import check
    from studio.engine.build import build
    from studio.engine.evaluate import evaluate
    from studio.engine.learner import Learner
    from studio.engine.threads import computing_with, threads_for

    recipe, shape = project.recipe, project.preprocessing.shape
    count = recipe.batch_size * BATCHES
    pixels = np.random.default_rng(0).integers(0, 256, (recipe.batch_size, *shape), dtype=np.uint8)

    class Noise:
        def get(self, indices: Any) -> Any:
            return pixels[indices % len(pixels)]

    labels = np.arange(count, dtype=np.int64) % len(CLASSES)
    batches = batches_type(Noise(), np.arange(count), labels, recipe.batch_size)
    normaliser = normaliser_type((0.5,) * shape[0], (0.25,) * shape[0], torch.device("cpu"))
    peaks: dict[str, int] = {}
    report = check(project)
    with computing_with(threads_for(report.multiply_adds * recipe.batch_size, torch.get_num_threads())):
        mark = _Mark()
        learner = Learner(build(project.network, shape, len(CLASSES), 0), recipe, torch.device("cpu"))
        _train(learner, batches, normaliser)
        checkpoint = learner.captured({})  # being written while the next epoch trains
        _train(learner, batches, normaliser)
        peaks["training"] = mark.bytes - pixels.nbytes
        del checkpoint
        mark = _Mark()
        evaluate(learner.net, batches, normaliser, len(CLASSES))
        peaks["validation"] = mark.bytes - pixels.nbytes
        net = learner.net.eval()
        net.zero_grad()
        del learner
        mark = _Mark()
        with torch.inference_mode():
            net(normaliser(torch.from_numpy(pixels[:1].copy())))
        peaks["prediction"] = mark.bytes - pixels.nbytes
    return peaks


def _train(learner: Any, batches: Any, normaliser: Any) -> None:
    import torch
    from torch.nn import functional

    from studio.engine.optimisers import gradient_norm

    learner.net.train()
    for batch in batches.of_epoch():
        inputs = normaliser(batch.pictures)
        logits = learner.net(inputs)
        loss = functional.cross_entropy(logits, batch.labels)
        learner.optimiser.zero_grad()
        torch.autograd.backward(loss)
        gradient_norm(learner.net.parameters())
        learner.optimiser.step()


def _measured_apart(number: int) -> dict[str, int]:
    # Everything from 64 KiB on in a mapping of its own, which is gone as soon as it is freed.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_MMAP_MAX_": "1000000"}
    command = [sys.executable, "-m", "benchmarks.forecast", "--one", str(number)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{cases()[number].name} did not run:\n{done.stderr}")
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def _print_table(rows: list[tuple[str, Forecasts, dict[str, int]]], of: Callable[[Forecast], int], above: int) -> None:
    errors: dict[str, list[float]] = {use: [] for use in USES}
    for name, forecasts, actual in rows:
        parts = []
        for use in USES:
            said, was = of(getattr(forecasts, use)), actual[use] + above
            errors[use].append((said - was) / was)
            parts.append(f"{size_text(said):>9} {size_text(was):>9} {100 * errors[use][-1]:+6.1f}%")
        print(f"{name:<18}" + "  |".join(parts), flush=True)
    for use in USES:
        sizes = [abs(error) for error in errors[use]]
        middle, lowest = statistics.median(sizes), min(errors[use])
        print(f"{use}: median error {100 * middle:.1f}%, worst {100 * max(sizes):.1f}%, lowest {100 * lowest:+.1f}%")


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured(cases()[int(sys.argv[2])].project)))
        return
    wanted = sys.argv[1:]
    rows = []
    for number, case in enumerate(cases()):
        if wanted and not any(part in case.name for part in wanted):
            continue
        report = check(case.project)
        if report.forecast is None or not report.is_ready:
            raise SystemExit(f"{case.name}: {[problem.code for problem in report.all_problems]}")
        rows.append((case.name, report.forecast, _measured_apart(number)))
        _print_table(rows[-1:], lambda forecast: forecast.total - FRAMEWORK_BYTES, 0) if wanted else None
        print(f"{case.name}: measured", file=sys.stderr, flush=True)
    print("Beyond the framework: forecast, measured and error for training | validation | prediction of one picture")
    _print_table(rows, lambda forecast: forecast.total - FRAMEWORK_BYTES, 0)
    print(f"\nWith the framework ({size_text(FRAMEWORK_BYTES)}):")
    _print_table(rows, lambda forecast: forecast.total, FRAMEWORK_BYTES)


if __name__ == "__main__":
    main()
