"""What augmentation makes of one picture, as small PNGs for the window."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import torch
from PIL import Image

from studio.core.project import Project
from studio.dataset.loading import load_working
from studio.engine.augment import augmenter_of, draws_for
from studio.engine.batches import Bytes, resolved_statistics

LARGEST_SIDE_PX = 192
MOST_PICTURES = 64
# Training never sees what the preview draws.
_EPOCH = 2**31


def previews(project: Project, path: Path, count: int, turn: int = 0) -> list[bytes]:
    """PNGs of the picture at `path`: as it is, and `count` as training would see it; another `turn` draws others.

    Raises:
        Refused: the picture cannot be used.
    """
    pixels = load_working(path, project.preprocessing)
    # What is erased gets the mean colour of the data set; before a run has measured it, that of the picture.
    own = (pixels.mean((1, 2)) / 255).tolist()
    mean, _ = resolved_statistics(project.preprocessing, lambda: (project.preprocessing.mean or own, own))
    known = replace(project, preprocessing=replace(project.preprocessing, mean=mean))
    pictures = torch.tensor(pixels).expand(max(0, min(count, MOST_PICTURES)), -1, -1, -1)
    changed = augmenter_of(known).changed(pictures, draws_for(project.recipe.seed, _EPOCH, turn))
    return [_png(picture) for picture in (pixels, *changed.round().to(torch.uint8).numpy())]


def _png(picture: Bytes) -> bytes:
    """C x H x W to a PNG."""
    image = Image.fromarray(picture[0] if len(picture) == 1 else picture.transpose(1, 2, 0).copy())
    image.thumbnail((LARGEST_SIDE_PX, LARGEST_SIDE_PX))
    stream = io.BytesIO()
    image.save(stream, "PNG", compress_level=1)
    return stream.getvalue()
