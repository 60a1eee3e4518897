"""A finished model as one file to carry away: the model folder zipped, and what is inside it. No torch."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from studio.core.files import read_text, replacing
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.dataset.progress import IsCancelled, Pace, ReportProgress, never, unreported

SUFFIX = ".zip"
_FOLDER_IN_ZIP = "model"
_CHUNK_BYTES = 1024 * 1024
# The order in which a person wants to hear of them; what else lies in the folder follows.
_MEMBERS = ("weights.safetensors", "network.json", "preprocessing.json", "labels.txt", "model.json")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ModelContents:
    """What a model folder holds. `labels` are in the order of the outputs; `input_shape` is (channels, height, width)
    or () where the folder does not say."""

    files: tuple[ModelFile, ...]
    labels: tuple[str, ...]
    input_shape: tuple[int, ...]

    @property
    def total_bytes(self) -> int:
        return sum(file.bytes for file in self.files)


def contents_of(model_folder: Path) -> ModelContents | Problem:
    """What is in the model folder, or why it cannot be told."""
    try:
        files = tuple(ModelFile(path.name, path.stat().st_size) for path in _paths(model_folder))
        labels = tuple(read_text(model_folder / "labels.txt").replace("\r\n", "\n").removesuffix("\n").split("\n"))
        shape = json.loads(read_text(model_folder / "network.json")).get("input_shape", [])
        return ModelContents(files, labels, tuple(int(size) for size in shape))
    except OSError as error:
        return _problem("model.unreadable", error.filename or str(model_folder), error.strerror or str(error))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        return _problem("model.unreadable", str(model_folder), str(error))


def write_bundle(
    model_folder: Path,
    destination: Path,
    *,
    progress: ReportProgress = unreported,
    cancelled: IsCancelled = never,
) -> Problem | None:
    """Zip the model folder to `destination`, whole or not at all; a Problem where that cannot be done.

    Nothing is compressed, since weights hardly shrink, and the file can then be read without unpacking. Progress is in
    bytes.

    Raises:
        Cancelled: it was asked to stop; there is no file then.
    """
    try:
        paths = _paths(model_folder)
        total = sum(path.stat().st_size for path in paths)
    except OSError as error:
        return _problem("model.unreadable", error.filename or str(model_folder), error.strerror or str(error))
    pace = Pace("save", total, progress, cancelled)
    try:
        with replacing(destination) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
            done = 0
            for path in paths:
                done = _add(archive, path, done, pace)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return _problem("model.not_saved", str(destination), reason)
    pace.finish(total)
    return None


def _add(archive: zipfile.ZipFile, path: Path, done: int, pace: Pace) -> int:
    # Dates before 1980, which a zip cannot hold, are no reason to fail.
    info = zipfile.ZipInfo.from_file(path, f"{_FOLDER_IN_ZIP}/{path.name}", strict_timestamps=False)
    with path.open("rb") as source, archive.open(info, "w") as target:
        while chunk := source.read(_CHUNK_BYTES):
            target.write(chunk)
            done += len(chunk)
            pace.at(done)
    return done


def _paths(model_folder: Path) -> list[Path]:
    """The files of the folder, those that make a model first."""
    place = {name: number for number, name in enumerate(_MEMBERS)}
    files = (path for path in model_folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return sorted(files, key=lambda path: (place.get(path.name, len(place)), path.name))


def _problem(code: str, file: str, reason: str) -> Problem:
    return Problem(code, place=file, facts=FrozenMap(file=file, reason=reason))
