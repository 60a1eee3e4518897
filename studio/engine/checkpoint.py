"""Checkpoints: one file each, whole or absent, with a checksum, read without running any code.

A checkpoint is a safetensors file. Its tensors are the weights (`weights.*`), the optimiser's state (`optimiser.*`)
and the random generators (`random.*`); its metadata holds one JSON text with everything else and the checksum over
both. It is written beside its place, synced and renamed, so that a kill at any moment leaves the one before.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from studio.core.files import replacing, sync_folder

FORMAT = "lantern-checkpoint"
VERSION = 1
KEPT = 2
FOLDER = "checkpoints"
BEST = "best.safetensors"
_SUFFIX = ".safetensors"


class CheckpointDamaged(Exception):
    """A checkpoint file cannot be used; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A run at one step border. `facts` are JSON values; `tensors` lie on the CPU and are nobody else's."""

    step: int
    epoch: int
    facts: Mapping[str, Any]
    tensors: Mapping[str, torch.Tensor]

    def part(self, name: str) -> dict[str, torch.Tensor]:
        """The tensors whose names begin with `name.`, without that."""
        start = f"{name}."
        return {key[len(start) :]: tensor for key, tensor in self.tensors.items() if key.startswith(start)}


def _checksum(text: str, tensors: Mapping[str, torch.Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(cast(Any, tensor.contiguous().reshape(-1).view(torch.uint8).numpy()))
    return digest.hexdigest()


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> int:
    """Write `checkpoint` to `path` as a whole; returns its size in bytes. Raises OSError where it cannot."""
    facts = {"format": FORMAT, "version": VERSION, "step": checkpoint.step, "epoch": checkpoint.epoch}
    text = json.dumps({**checkpoint.facts, **facts}, sort_keys=True)
    metadata = {"lantern": text, "sha256": _checksum(text, checkpoint.tensors)}
    with replacing(path) as temporary:
        try:
            save_file(dict(checkpoint.tensors), temporary, metadata)
            temporary.chmod(0o644)  # the library makes files that only their owner may read
        except SafetensorError as error:  # how the library reports a full disk
            raise OSError(f"{path} cannot be written: {error}") from None
    return path.stat().st_size


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint at `path`, checked against its checksum.

    Raises:
        CheckpointDamaged: the file cannot be read, is incomplete, or was changed.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            # Copies, so that nothing maps the file when it is replaced or deleted.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a mapping
        text = metadata["lantern"]
        facts = json.loads(text)
        if facts["format"] != FORMAT or facts["version"] != VERSION:
            raise CheckpointDamaged(f"{path} is of a format that this version does not read.")
        if _checksum(text, tensors) != metadata["sha256"]:
            raise CheckpointDamaged(f"{path} is damaged: its content does not match its checksum.")
        return Checkpoint(int(facts["step"]), int(facts["epoch"]), facts, tensors)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointDamaged(f"{path} cannot be read as a checkpoint: {error}.") from None


@dataclass(frozen=True, slots=True)
class Latest:
    """What can be resumed: the newest whole checkpoint, and the newer files that are damaged."""

    checkpoint: Checkpoint | None = None
    path: Path | None = None
    damaged: tuple[str, ...] = ()


def latest(run_folder: Path) -> Latest:
    """The newest checkpoint of a run that is whole; a damaged one is passed over and named."""
    damaged: list[str] = []
    folder = run_folder / FOLDER
    candidates = [*reversed(_numbered(folder)), folder / BEST]
    for path in candidates:
        if not path.is_file():
            continue
        try:
            return Latest(read_checkpoint(path), path, tuple(damaged))
        except CheckpointDamaged:
            damaged.append(f"{FOLDER}/{path.name}")
    return Latest(damaged=tuple(damaged))


def best(run_folder: Path) -> Checkpoint | None:
    """The checkpoint with the best validation; None where there is none that is whole."""
    path = run_folder / FOLDER / BEST
    if not path.is_file():
        return None
    try:
        return read_checkpoint(path)
    except CheckpointDamaged:
        return None


def _numbered(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"step-*{_SUFFIX}"))


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint that is whole on disk; `path` is relative to the run folder."""

    path: str
    step: int
    epoch: int
    bytes: int
    is_best: bool


@dataclass(slots=True)
class CheckpointWriter:
    """Writes checkpoints from a thread of its own, so that training pays only for the copy that it hands over.

    `saved` and `failed` are called from that thread; `failed` not again until one was saved, since a full disk stays
    full for many epochs. One write at a time: the next one waits for the one before.
    """

    run_folder: Path
    saved: Callable[[Saved], None]
    failed: Callable[[OSError], None]
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="lantern-checkpoint")
    )
    _writing: Future[None] | None = None
    _is_failing: bool = False

    def save(self, checkpoint: Checkpoint, *, is_best: bool) -> None:
        """Write `checkpoint` soon; it must not be changed afterwards."""
        self.wait()
        self._writing = self._thread.submit(self._write, checkpoint, is_best)

    def wait(self) -> None:
        """Until nothing is being written."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def close(self) -> None:
        """Finish what is being written and end the thread."""
        self._thread.shutdown(wait=True)

    def _write(self, checkpoint: Checkpoint, is_best: bool) -> None:
        folder = self.run_folder / FOLDER
        path = folder / f"step-{checkpoint.step:010d}{_SUFFIX}"
        try:
            size = write_checkpoint(path, checkpoint)
            if is_best:
                _place_copy(path, folder / BEST)
            self._forget_old(folder, path)
        except OSError as error:
            if not self._is_failing:
                self.failed(error)
            self._is_failing = True
            return
        self._is_failing = False
        self.saved(Saved(f"{FOLDER}/{path.name}", checkpoint.step, checkpoint.epoch, size, is_best))

    def _forget_old(self, folder: Path, newest: Path) -> None:
        older = [path for path in _numbered(folder) if path < newest]
        # A damaged file of a later step, passed over at a resumption, must not be found again.
        later = [path for path in _numbered(folder) if path > newest]
        half_written = folder.glob(".*.tmp")  # by a run that was killed; this one writes nothing at the moment
        for path in (*older[: max(0, len(older) - (KEPT - 1))], *later, *half_written):
            path.unlink(missing_ok=True)


def _place_copy(source: Path, target: Path) -> None:
    """`target` becomes the content of `source`, whole or not at all: a hard link where the disk can, else a copy."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            os.link(source, temporary)
        except OSError:
            shutil.copyfile(source, temporary)
        temporary.replace(target)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)
