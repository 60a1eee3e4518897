"""Augmentation changes training pictures only, each on its own, as torchvision does, and the same after a resume."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from studio.core.augmentation import Augmentation

pytest.importorskip("torch")

import torch
from torchvision.transforms import v2

from studio.core.commands import Stop
from studio.core.events import Evaluated, Started, Stepped
from studio.engine import session
from studio.engine.artefact import load_model
from studio.engine.augment import Augmenter, Lesson, draws_for
from studio.engine.predict import predict
from studio.engine.prepared import prepare
from studio.engine.preview import previews
from studio.engine.train import run
from tests.engine.making import events_of, make_project, make_run, only, say
from tests.engine.test_train import when

pytestmark = pytest.mark.torch

HEIGHT, WIDTH = 20, 28
EVERYTHING = Augmentation(
    flip_horizontal=0.5,
    flip_vertical=0.5,
    rotation=20,
    crop_share=0.6,
    shift_px=2,
    brightness=0.3,
    contrast=0.3,
    saturation=0.3,
    hue=0.1,
    erasing=0.5,
    mixup=0.4,
)
SAMPLES = 800


def sample_picture(channels: int = 3) -> torch.Tensor:
    """A smooth picture without symmetry whose channels differ: uint8, C x H x W."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    planes = [60 + 5 * columns, 40 + 3 * rows + 2 * columns, 200 - 6 * rows]
    return torch.from_numpy(np.clip(np.stack(planes[:channels]), 0, 255).astype(np.uint8))


def augmenter(wanted: Augmentation, background: float = 0.0, class_count: int = 4) -> Augmenter:
    return Augmenter(wanted, background=background, mean=(0.0, 0.0, 0.0), class_count=class_count, seed=5)


def ours(wanted: Augmentation) -> torch.Tensor:
    pictures = sample_picture().expand(SAMPLES, -1, -1, -1)
    return augmenter(wanted).lesson(pictures, torch.zeros(SAMPLES, dtype=torch.int64), 0, 0).pictures.float()


def theirs(transform: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    torch.manual_seed(11)
    picture = sample_picture().float() / 255
    return torch.stack([transform(picture) for _ in range(SAMPLES)]) * 255


def features(pictures: torch.Tensor) -> dict[str, NDArray[np.float32]]:
    """What tells changed pictures apart, one number each."""
    left, right = pictures[..., : WIDTH // 2].mean((1, 2, 3)), pictures[..., WIDTH // 2 :].mean((1, 2, 3))
    top, bottom = pictures[..., : HEIGHT // 2, :].mean((1, 2, 3)), pictures[..., HEIGHT // 2 :, :].mean((1, 2, 3))
    found = {
        "brightness": pictures.mean((1, 2, 3)),
        "left to right": left - right,
        "top to bottom": top - bottom,
        "spread": pictures.std((1, 2, 3)),
        "red to blue": (pictures[:, 0] - pictures[:, 2]).mean((1, 2)),
        "corner": pictures[:, 0, 1, 1],
        "black": (pictures.amax(1) < 1).float().mean((1, 2)),
    }
    return {name: values.numpy() for name, values in found.items()}


def distance(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """The largest difference between two empirical distributions (Kolmogorov-Smirnov), blind to differences of 0.5."""
    a, b = np.sort(np.round(a * 2)), np.sort(np.round(b * 2))
    at = np.union1d(a, b)
    share_a = np.searchsorted(a, at + 0.5, "right") / len(a)
    share_b = np.searchsorted(b, at + 0.5, "right") / len(b)
    return float(np.abs(share_a - share_b).max())


# The level of one in ten thousand for two samples of this size.
FAR = 2.2 * (2 / SAMPLES) ** 0.5
BILINEAR = v2.InterpolationMode.BILINEAR
PAIRS = {
    "flip_horizontal": (Augmentation(flip_horizontal=0.3), v2.RandomHorizontalFlip(0.3)),
    "flip_vertical": (Augmentation(flip_vertical=0.7), v2.RandomVerticalFlip(0.7)),
    "rotation": (
        Augmentation(rotation=40),
        v2.RandomRotation(40, BILINEAR, fill=None),
    ),  # a fill of 0 fades its edges twice
    "crop_share": (Augmentation(crop_share=0.3), v2.RandomResizedCrop((HEIGHT, WIDTH), (0.3, 1.0))),
    "shift_px": (Augmentation(shift_px=4), v2.RandomCrop((HEIGHT, WIDTH), padding=4)),
    "brightness": (Augmentation(brightness=0.5), v2.ColorJitter(brightness=0.5)),
    "contrast": (Augmentation(contrast=0.5), v2.ColorJitter(contrast=0.5)),
    "saturation": (Augmentation(saturation=0.8), v2.ColorJitter(saturation=0.8)),
    "hue": (Augmentation(hue=0.2), v2.ColorJitter(hue=0.2)),
    "erasing": (Augmentation(erasing=0.6), v2.RandomErasing(0.6)),
}


@pytest.mark.parametrize("name", list(PAIRS))
def test_that_each_change_has_the_distribution_of_torchvisions(name: str) -> None:
    wanted, transform = PAIRS[name]
    found, expected = features(ours(wanted)), features(theirs(transform))
    far = {feature: distance(found[feature], expected[feature]) for feature in found}
    assert all(value < FAR for value in far.values()), far
    none = features(sample_picture().expand(SAMPLES, -1, -1, -1).float())
    assert max(distance(none[feature], expected[feature]) for feature in none) > 2 * FAR  # so it can be told


def test_that_another_range_is_told_apart() -> None:
    """The comparison above would notice a wrong number."""
    for wanted, name in ((Augmentation(rotation=30), "rotation"), (Augmentation(hue=0.12), "hue")):
        found, expected = features(ours(wanted)), features(theirs(PAIRS[name][1]))
        assert max(distance(found[feature], expected[feature]) for feature in found) > FAR


@pytest.mark.parametrize("turn", [-0.5, -0.13, 0.0, 0.2, 0.41])
def test_that_hue_is_that_of_torchvision(turn: float) -> None:
    from studio.engine.colour import with_hue_moved

    pictures = torch.rand(2, 3, 9, 7, generator=torch.Generator().manual_seed(1))
    pictures[0, :, 0, 0] = 0.5  # grey, where hue has no meaning
    moved = with_hue_moved(pictures * 255, torch.full((2, 1, 1, 1), turn)) / 255
    torch.testing.assert_close(moved, v2.functional.adjust_hue(pictures, turn), atol=2e-3, rtol=0)


def test_that_pictures_of_a_batch_are_changed_independently() -> None:
    for wanted in (replace(EVERYTHING, mixup=0), Augmentation(rotation=30), Augmentation(brightness=0.4)):
        assert len({picture.numpy().tobytes() for picture in ours(wanted)}) > 0.95 * SAMPLES


def test_that_nothing_wanted_gives_back_the_very_tensors() -> None:
    pictures, labels = sample_picture()[None], torch.tensor([1])
    lesson = augmenter(Augmentation()).lesson(pictures, labels, 0, 0)
    assert lesson.pictures is pictures and lesson.targets is labels and lesson.labels is labels


def test_that_what_comes_into_view_has_the_background() -> None:
    white = augmenter(Augmentation(rotation=45), background=255.0)
    pictures = torch.full((50, 3, HEIGHT, WIDTH), 255, dtype=torch.uint8)
    shown = white.lesson(pictures, torch.zeros(50, dtype=torch.int64), 0, 0).pictures
    assert torch.allclose(shown, torch.full_like(shown, 255.0), atol=1e-3)
    assert not torch.allclose(ours(Augmentation(rotation=45))[:, :, 0, 0], sample_picture()[:, 0, 0].float())


@settings(max_examples=40, deadline=None)
@given(
    st.builds(
        Augmentation,
        flip_horizontal=st.floats(0, 1),
        rotation=st.floats(0, 180),
        crop_share=st.floats(0.05, 1),
        shift_px=st.integers(0, 40),
        brightness=st.floats(0, 1),
        contrast=st.floats(0, 1),
        saturation=st.floats(0, 1),
        hue=st.floats(0, 0.5),
        erasing=st.floats(0, 1),
        mixup=st.floats(0, 10),
    ),
    st.integers(1, 5),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from([1, 3]),
)
def test_that_any_setting_keeps_shape_and_range(
    wanted: Augmentation, count: int, height: int, width: int, channels: int
) -> None:
    pictures = torch.randint(0, 256, (count, channels, height, width), dtype=torch.uint8)
    before = pictures.clone()
    mean = (0.5,) * channels
    given_to = Augmenter(wanted, background=255.0, mean=mean, class_count=3, seed=0)
    lesson = given_to.lesson(pictures, torch.arange(count) % 3, 1, 2)
    assert lesson.pictures.shape == pictures.shape and torch.equal(pictures, before)
    assert float(lesson.pictures.min()) >= -1e-3 and float(lesson.pictures.max()) <= 255.001
    if wanted.mixup:
        torch.testing.assert_close(lesson.targets.sum(1), torch.ones(count))
    assert lesson.labels.dtype == torch.int64 and lesson.labels.shape == (count,)


def test_that_mixup_mixes_labels_as_it_mixes_pictures() -> None:
    pictures = torch.zeros(4, 1, 2, 2, dtype=torch.uint8)
    pictures[:] = torch.tensor([0, 80, 160, 240], dtype=torch.uint8).view(4, 1, 1, 1)
    levels = torch.tensor([0.0, 80.0, 160.0, 240.0])
    mixes = Augmenter(Augmentation(mixup=1.0), background=0.0, mean=(0.0,), class_count=4, seed=1)
    lessons = [mixes.lesson(pictures, torch.arange(4), 0, batch) for batch in range(200)]
    for lesson in lessons:
        torch.testing.assert_close(lesson.pictures.mean((1, 2, 3)), lesson.targets @ levels)
        assert torch.equal(lesson.labels, lesson.targets.argmax(1))
    shares = torch.cat([lesson.targets.amax(1) for lesson in lessons])
    assert 0.5 <= float(shares.min()) < 0.55 and float(shares.max()) > 0.95


def test_that_draws_depend_on_seed_epoch_and_batch_only() -> None:
    def drawn(seed: int, epoch: int, batch: int) -> list[float]:
        return list(draws_for(seed, epoch, batch).random(3))

    assert drawn(1, 2, 3) == drawn(1, 2, 3)
    assert len({tuple(drawn(*key)) for key in ((1, 2, 3), (2, 2, 3), (1, 3, 3), (1, 2, 4), (1, 3, 2))}) == 5


def test_that_a_stopped_run_resumed_equals_an_uninterrupted_one(tmp_path: Path, pictures: Path, cache: Path) -> None:
    project = replace(make_project(pictures, epochs=2), augmentation=replace(EVERYTHING, saturation=0, hue=0))
    whole, parted = (make_run(tmp_path / name, project) for name in ("whole", "parted"))
    assert run(whole, cache, launcher="thread") == "finished"
    with pytest.MonkeyPatch.context() as patch:
        when(patch, 4, lambda: say(parted, Stop(time.time())))
        assert run(parted, cache, launcher="thread") == "stopped"
    assert only(events_of(parted), Stepped)[-1].step == 4
    assert run(parted, cache, launcher="thread", resume=True) == "finished"
    weights = [load_model(folder).net.state_dict() for folder in (whole, parted)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    losses = [[loss for p in only(events_of(f), Stepped) for loss in p.losses] for f in (whole, parted)]
    assert losses[0] == losses[1]


def test_that_only_training_pictures_are_changed(
    tmp_path: Path, pictures: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The augmenter sees each training picture once an epoch and no other, and the evaluation is that of the files."""
    project = replace(make_project(pictures, epochs=2), augmentation=EVERYTHING)
    folder = make_run(tmp_path / "run", project)
    with session.Session(make_run(tmp_path / "look", project), "thread", resume=False) as talk:
        prepared = prepare(project, cache, talk)
    seen: list[bytes] = []
    lesson = Augmenter.lesson

    def watched(self: Augmenter, shown: torch.Tensor, labels: torch.Tensor, epoch: int, batch: int) -> Lesson:
        seen.extend(picture.numpy().tobytes() for picture in shown)
        return lesson(self, shown, labels, epoch, batch)

    monkeypatch.setattr(Augmenter, "lesson", watched)
    assert run(folder, cache, launcher="thread") == "finished"
    with prepared.cache as store:
        training = [picture.tobytes() for picture in store.get(prepared.train)]
    assert sorted(seen) == sorted(training * 2)
    evaluated = only(events_of(folder), Evaluated)[0]
    files = [pictures / path for path in prepared.paths(prepared.validation)]
    found = predict(load_model(folder), files)
    right = sum(one.top[0][0] == file.parent.name for one, file in zip(found, files, strict=True))
    assert right / len(files) == evaluated.metrics.accuracy
    assert only(events_of(folder), Started)[-1].validation_count == len(files)


def test_that_the_preview_shows_what_training_would_see(pictures: Path) -> None:
    project = make_project(pictures)
    path = next(pictures.rglob("*.png"))
    with Image.open(path) as image:
        original = np.asarray(image).astype(int)

    def shown(wanted: Augmentation, turn: int = 0) -> list[NDArray[np.uint8]]:
        found = previews(replace(project, augmentation=wanted), path, 5, turn)
        before, *after = (np.asarray(Image.open(io.BytesIO(png))) for png in found)
        assert np.array_equal(before, original)
        return after

    assert all(np.array_equal(picture, original) for picture in shown(Augmentation()))
    turned = shown(Augmentation(rotation=30))
    assert len({picture.tobytes() for picture in turned}) == 5
    assert not np.array_equal(turned, shown(Augmentation(rotation=30), turn=1))
    assert np.array_equal(turned, shown(Augmentation(rotation=30)))
    erased = shown(Augmentation(erasing=1.0))
    assert all(np.abs(picture[picture != original] - original.mean()).max() <= 1 for picture in erased)
