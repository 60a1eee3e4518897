"""Random changes of whole batches of training pictures, on the device, with parameters of its own for each picture.

What is drawn depends on the seed, the epoch and the number of the batch, and on nothing else: a run that goes on in
the middle of an epoch draws what it would have drawn. The distributions are those of torchvision's transforms (v2):
RandomHorizontalFlip, RandomVerticalFlip, RandomRotation, RandomResizedCrop, RandomCrop with padding, ColorJitter,
RandomErasing and MixUp (with a share for each picture). Turning, cropping and shifting resample once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from studio.core.augmentation import Augmentation
from studio.core.project import Project
from studio.dataset.loading import BACKGROUNDS
from studio.engine.colour import grey_of, with_hue_moved

# RandomResizedCrop's usual proportions, and RandomErasing's share of the area and proportions; width to height.
_CROP_RATIO = (3 / 4, 4 / 3)
_ERASED_SHARE = (0.02, 0.33)
_ERASED_RATIO = (1 / 3.3, 1 / 0.3)
# So often both draw another box before they give up.
_TRIES = 10
# Keeps these draws apart from all others that are made from the same seed.
_STREAM = 0xA06

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A batch as the network gets to see it: pictures as numbers from 0 to 255 (N, C, H, W) and what they show.

    `targets` are class numbers (N,), or shares of each class (N, classes) after mixup. `labels` (N,) are what counts
    as right: after mixup, the class with the larger share.
    """

    pictures: torch.Tensor
    targets: torch.Tensor
    labels: torch.Tensor


def draws_for(seed: int, epoch: int, batch: int) -> np.random.Generator:
    """The generator of one batch."""
    return np.random.default_rng((_STREAM, seed, epoch, batch))


class Augmenter:
    """Changes batches as `wanted` says.

    Args:
        background: the grey level (0..255) of what turns or shifts into view.
        mean: per channel, 0..1: the colour of what is erased.
    """

    def __init__(
        self, wanted: Augmentation, *, background: float, mean: Sequence[float], class_count: int, seed: int
    ) -> None:
        self._wanted, self._background, self._mean = wanted, background, tuple(mean)
        self._class_count, self._seed = class_count, seed

    @property
    def is_on(self) -> bool:
        return self._wanted.is_on

    def lesson(self, pictures: torch.Tensor, labels: torch.Tensor, epoch: int, batch: int) -> Lesson:
        """The pictures (uint8, N x C x H x W) and labels of a batch, changed; all tensors on the device of `pictures`.

        With nothing to change, the very tensors that came.
        """
        if not self.is_on:
            return Lesson(pictures, labels, labels)
        draws = draws_for(self._seed, epoch, batch)
        changed = self.changed(pictures, draws)
        if not self._wanted.mixup:
            return Lesson(changed, labels, labels)
        return mixed(changed, labels, self._class_count, self._wanted.mixup, draws)

    def changed(self, pictures: torch.Tensor, draws: np.random.Generator) -> torch.Tensor:
        """The pictures with everything but mixup."""
        wanted = self._wanted
        pictures = flipped(pictures, wanted.flip_horizontal, wanted.flip_vertical, draws)
        if wanted.rotation or wanted.crop_share < 1 or wanted.shift_px:
            background = self._background if wanted.rotation or wanted.shift_px else None
            pictures = resampled(pictures, _placements(pictures, wanted, draws), background)
        pictures = jittered(pictures, wanted, draws)
        return erased(pictures, wanted.erasing, self._mean, draws)


def flipped(pictures: torch.Tensor, left_right: float, top_bottom: float, draws: np.random.Generator) -> torch.Tensor:
    """Each picture mirrored with these probabilities."""
    for chance, axis in ((left_right, -1), (top_bottom, -2)):
        if chance:
            is_flipped = _column(draws.random(len(pictures)) < chance, pictures.device, torch.bool)
            pictures = torch.where(is_flipped, pictures.flip(axis), pictures)
    return pictures


def _placements(pictures: torch.Tensor, wanted: Augmentation, draws: np.random.Generator) -> Floats:
    """Where each picture's points are taken from: (N, 2, 3), from output to input, both from -1 to 1."""
    count, height, width = len(pictures), pictures.shape[-2], pictures.shape[-1]
    angle = np.radians(draws.uniform(-wanted.rotation, wanted.rotation, count))
    top, left, high, wide = _crops(count, height, width, wanted.crop_share, draws)
    shift = draws.integers(-wanted.shift_px, wanted.shift_px + 1, (2, count))
    scale_x, scale_y = wide / width, high / height
    move_x = (2 * (left + shift[0] * scale_x) + wide) / width - 1
    move_y = (2 * (top + shift[1] * scale_y) + high) / height - 1
    cos, sin = np.cos(angle), np.sin(angle)
    across, down = sin * height / width, sin * width / height
    rows = (
        (cos * scale_x, -across * scale_y, cos * move_x - across * move_y),
        (down * scale_x, cos * scale_y, down * move_x + cos * move_y),
    )
    return np.moveaxis(np.asarray(rows), -1, 0)


def _crops(
    count: int, height: int, width: int, least_share: float, draws: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """Top, left, height and width of a random part of each picture."""
    if least_share >= 1:
        zeros = np.zeros(count)
        return zeros, zeros, np.full(count, float(height)), np.full(count, float(width))
    high, wide, fits = _boxes(draws, (count, height * width), (least_share, 1.0), _CROP_RATIO, (height, width))
    # Where none fitted: the largest part in the middle that keeps to the proportions.
    ratio = min(max(width / height, _CROP_RATIO[0]), _CROP_RATIO[1])
    high = np.where(fits, high, min(height, round(width / ratio)))
    wide = np.where(fits, wide, min(width, round(height * ratio)))
    top = np.where(fits, np.floor(draws.random(count) * (height - high + 1)), (height - high) // 2)
    left = np.where(fits, np.floor(draws.random(count) * (width - wide + 1)), (width - wide) // 2)
    return top, left, high, wide


def _boxes(
    draws: np.random.Generator,
    shape: tuple[int, int],
    shares: tuple[float, float],
    ratios: tuple[float, float],
    most: tuple[int, int],
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Height and width of the first of several random boxes that fits, and whether one does, for each picture.

    Args:
        shape: how many boxes are wanted, and the area that they take a share of.
        most: the height and the width that still fit.
    """
    count, area = shape
    areas = area * draws.uniform(*shares, (count, _TRIES))
    ratio = np.exp(draws.uniform(math.log(ratios[0]), math.log(ratios[1]), (count, _TRIES)))
    high, wide = np.rint(np.sqrt(areas / ratio)), np.rint(np.sqrt(areas * ratio))
    fits = (high >= 1) & (high <= most[0]) & (wide >= 1) & (wide <= most[1])
    at = np.arange(count), fits.argmax(1)
    return high[at], wide[at], fits[at]


def resampled(pictures: torch.Tensor, placements: Floats, background: float | None) -> torch.Tensor:
    """Each picture seen through its placement (bilinear), on `background`; None where all of it lies inside."""
    theta = torch.from_numpy(placements.astype(np.float32)).to(pictures.device)
    grid = functional.affine_grid(theta, list(pictures.shape), align_corners=False)
    if background is None:
        return functional.grid_sample(pictures.float(), grid, padding_mode="border", align_corners=False)
    # What lies outside counts as 0.
    above = functional.grid_sample(pictures.float() - background, grid, align_corners=False)
    return above.add_(background).clamp_(0, 255)


def jittered(pictures: torch.Tensor, wanted: Augmentation, draws: np.random.Generator) -> torch.Tensor:
    """Brightness, contrast, saturation and hue varied, in an order that is drawn for each batch."""
    ranges = {
        _with_brightness: wanted.brightness,
        _with_contrast: wanted.contrast,
        _with_saturation: wanted.saturation,
        with_hue_moved: wanted.hue,
    }
    is_grey = pictures.shape[1] == 1
    steps: list[Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = list(ranges)
    for number in draws.permutation(len(steps)):
        step = steps[number]
        reach = ranges[step]
        middle = 0.0 if step is with_hue_moved else 1.0
        amounts = draws.uniform(middle - reach, middle + reach, len(pictures))
        if reach and not (is_grey and step in (_with_saturation, with_hue_moved)):
            pictures = step(pictures.float(), _column(amounts, pictures.device, torch.float32))
    return pictures


def _with_brightness(pictures: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return (pictures * factor).clamp_(0, 255)


def _with_contrast(pictures: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    grey = grey_of(pictures).mean((1, 2, 3), keepdim=True)
    return torch.lerp(grey, pictures, factor).clamp_(0, 255)


def _with_saturation(pictures: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    return torch.lerp(grey_of(pictures), pictures, factor).clamp_(0, 255)


def erased(pictures: torch.Tensor, chance: float, mean: Sequence[float], draws: np.random.Generator) -> torch.Tensor:
    """A random rectangle of some pictures covered with the mean colour."""
    if not chance:
        return pictures
    count, height, width = len(pictures), pictures.shape[-2], pictures.shape[-1]
    is_erased = draws.random(count) < chance
    most = height - 1, width - 1
    high, wide, fits = _boxes(draws, (count, height * width), _ERASED_SHARE, _ERASED_RATIO, most)
    top = np.floor(draws.random(count) * (height - high + 1))
    left = np.floor(draws.random(count) * (width - wide + 1))
    wide = np.where(is_erased & fits, wide, 0)
    device = pictures.device
    rows = torch.arange(height, device=device).view(1, 1, -1, 1)
    columns = torch.arange(width, device=device).view(1, 1, 1, -1)
    is_row = (rows >= _column(top, device)) & (rows < _column(top + high, device))
    is_column = (columns >= _column(left, device)) & (columns < _column(left + wide, device))
    colour = torch.tensor(mean, device=device).mul_(255).view(1, -1, 1, 1)
    return torch.where(is_row & is_column, colour, pictures)


def mixed(
    pictures: torch.Tensor, labels: torch.Tensor, class_count: int, alpha: float, draws: np.random.Generator
) -> Lesson:
    """Each picture laid over another of the batch; the shares follow a beta distribution (mixup)."""
    count = len(pictures)
    share = draws.beta(alpha, alpha, count)
    partner = torch.from_numpy(draws.permutation(count)).to(pictures.device)
    own = _column(share, pictures.device, torch.float32)
    shown = torch.lerp(pictures[partner].float(), pictures.float(), own)
    one_hot = functional.one_hot(labels, class_count).float()
    targets = torch.lerp(one_hot[partner], one_hot, own.view(-1, 1))
    return Lesson(shown, targets, targets.argmax(1))


def _column(values: NDArray[np.generic], device: torch.device, kind: torch.dtype = torch.int64) -> torch.Tensor:
    """One value for each picture, in a shape that goes with (N, C, H, W)."""
    return torch.from_numpy(values).to(device, kind).view(-1, 1, 1, 1)


def augmenter_of(project: Project) -> Augmenter:
    """What the project says; its preprocessing has mean and standard deviation filled in."""
    return Augmenter(
        project.augmentation,
        background=float(BACKGROUNDS[project.preprocessing.background]),
        mean=project.preprocessing.mean,
        class_count=project.class_count,
        seed=project.recipe.seed,
    )
