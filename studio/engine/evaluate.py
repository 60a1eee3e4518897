"""How well a network does on pictures that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from studio.core.events import Metrics
from studio.engine.batches import Batches, Normaliser
from studio.engine.trouble import Stopped


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`confusion[true][predicted]` counts pictures."""

    metrics: Metrics
    confusion: tuple[tuple[int, ...], ...]


def evaluate(
    net: nn.Module,
    batches: Batches,
    normaliser: Normaliser,
    class_count: int,
    *,
    stop_asked: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Evaluation:
    """Loss, accuracy and confusion over all of `batches`; the network is left in the mode it was in.

    Raises:
        Stopped: `stop_asked` said so between two batches.
    """
    was_training = net.training
    confusion = torch.zeros((class_count, class_count), dtype=torch.int64, device=normaliser.device)
    loss_sum = torch.zeros((), dtype=torch.float64)
    done = 0
    net.eval()
    try:
        with torch.inference_mode():
            for batch in batches.of_epoch():
                if stop_asked():
                    raise Stopped
                logits = net(normaliser(batch.pictures))
                labels = batch.labels.to(normaliser.device, non_blocking=True)
                loss_sum += functional.cross_entropy(logits, labels, reduction="sum").cpu()
                flat = labels * class_count + logits.argmax(1)
                confusion += torch.bincount(flat, minlength=class_count**2).view(class_count, class_count)
                done += len(batch.labels)
                progress(done, batches.picture_count)
    finally:
        net.train(was_training)
    right = int(confusion.diagonal().sum())
    seen = max(done, 1)
    metrics = Metrics(float(loss_sum) / seen, right / seen, done)
    return Evaluation(metrics, tuple(tuple(row) for row in confusion.tolist()))
