"""Decoded pictures at the working size, kept in one memory-mapped file that a run fills during its first epoch.

A store is a folder: `pixels` holds the pictures one after the other (uint8, height x width x channels), `entries` says
which content each slot holds. An entry is appended only after its pixels were written and carries their checksum, so
a kill at any moment costs at most the picture in hand, and a power cut shows as a checksum that does not match.
Entries name contents, not files: renamed files are found again, changed files are not believed.
Pixels are written with ordinary writes and only read through the map: a full disk is an error here, never a signal.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import struct
import threading
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studio.core.project import Preprocessing
from studio.dataset.inspection import Inspection
from studio.dataset.loading import Pixels, load, to_working_size
from studio.dataset.storelock import StoreLock

DEFAULT_BUDGET_BYTES = 20 * 1024**3
# content hash, slot, checksum of the pixels
_ENTRY = struct.Struct("<16sII")
_LAYOUT = "2"
_ABSENT = -1
_MOST_MAPPED_BYTES = 64 * 1024**2


class DecodedCache:
    """Inputs of the pictures of an inspection, decoded when first asked for.

    Only one process writes to a store at a time; others read what it holds when they open it and decode the rest
    themselves. What would exceed `budget_bytes` (of this store and its sisters together) is decoded each time.
    """

    def __init__(
        self,
        inspection: Inspection,
        preprocessing: Preprocessing,
        cache_folder: Path,
        *,
        budget_bytes: int = DEFAULT_BUDGET_BYTES,
        threads: int | None = None,
    ) -> None:
        self._inspection, self._preprocessing = inspection, preprocessing
        channels, height, width = preprocessing.shape
        self._shape = (height, width, channels)
        self._item_bytes = int(np.prod(self._shape))
        self._pool = ThreadPoolExecutor(threads or min(8, os.cpu_count() or 1), thread_name_prefix="decode")
        self._guard = threading.Lock()
        self._slots = np.full(len(inspection.index.pictures), _ABSENT, np.int64)
        self._free: list[int] = []
        self._checksums: dict[int, int] = {}
        self._copies: dict[bytes, list[int]] = {}
        self._pixels: NDArray[np.uint8] | None = None
        self._map: mmap.mmap | None = None
        self._mapped_bytes = 0
        self._pixel_file = self._entry_file = -1
        self._lock: StoreLock | None = None
        self.folder = cache_folder / "decoded" / _store_name(inspection, preprocessing)
        try:
            self._open(budget_bytes)
        except OSError:  # a disk that cannot be written to makes training slower, not impossible
            self._let_go()

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def stored(self) -> int:
        """How many of the inspection's pictures the store holds."""
        return int((self._slots != _ABSENT).sum())

    def get(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[np.uint8]:
        """The inputs of these pictures (places in the index): uint8, B x C x H x W, in memory of the caller's own.

        In memory they lie as B x H x W x C, which is how devices take them fastest.

        Raises:
            Refused: a file that is not in the store has become unreadable since it was inspected; names it.
        """
        places = np.asarray(indices, np.int64)
        batch = np.empty((len(places), *self._shape), np.uint8)
        slots = self._slots[places]
        held = np.flatnonzero(slots != _ABSENT)
        if self._pixels is not None and len(held):
            batch[held] = self._pixels[slots[held]]
            self._let_pages_go(len(held) * self._item_bytes)
        wanted: dict[int, list[int]] = {}
        for at in [*np.flatnonzero(slots == _ABSENT).tolist(), *self._spoilt(batch, held, slots)]:
            wanted.setdefault(int(places[at]), []).append(at)
        for place, pixels in zip(wanted, self._pool.map(self._rows, wanted), strict=True):
            batch[wanted[place]] = pixels
        return batch.transpose(0, 3, 1, 2)

    def close(self) -> None:
        """Let the store go; what it holds stays for the next run."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._let_go()

    def __enter__(self) -> DecodedCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spoilt(self, batch: NDArray[np.uint8], held: NDArray[np.int64], slots: NDArray[np.int64]) -> list[int]:
        """Which of the pictures just read do not have their checksum; each slot is checked once."""
        spoilt: list[int] = []
        for at in held.tolist():
            slot = int(slots[at])
            expected = self._checksums.get(slot)
            if expected is None:
                continue
            if zlib.crc32(batch[at].data) == expected:
                # Without the lock another process may use the slot again at any time: check every time.
                if self._lock is not None:
                    self._checksums.pop(slot, None)
            else:
                spoilt.append(at)
        return spoilt

    def _let_pages_go(self, read_bytes: int) -> None:
        """Take read pages out of this process from time to time; they stay in the system's cache of files.

        Otherwise the whole store would count as this process's memory by the end of an epoch.
        """
        self._mapped_bytes += read_bytes
        if self._mapped_bytes > _MOST_MAPPED_BYTES and self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)
            self._mapped_bytes = 0

    def _rows(self, place: int) -> Pixels:
        """Decoded: height x width x channels."""
        loaded = load(self._inspection.index.path(place), self._preprocessing.background)
        pixels = to_working_size(loaded.rgb, self._preprocessing).transpose(1, 2, 0)
        # A file that changed since it was inspected is used as it is now, and not stored under its old content.
        if loaded.content_hash == self._inspection.hashes[place].tobytes():
            self._store(place, pixels)
        return pixels

    def _store(self, place: int, pixels: Pixels) -> None:
        with self._guard:
            slot = int(self._slots[place])
            if self._pixel_file < 0:
                return
            if slot == _ABSENT:
                if not self._free:
                    return
                slot = self._free.pop()
            content, raw = self._inspection.hashes[place].tobytes(), pixels.tobytes()
            try:
                _write_at(self._pixel_file, raw, slot * self._item_bytes)
                entry = _ENTRY.pack(content, slot, zlib.crc32(raw))
                _write_at(self._entry_file, entry, os.lseek(self._entry_file, 0, os.SEEK_END))
            except OSError:  # the disk is full: go on without storing more
                self._free.clear()
                return
            self._checksums.pop(slot, None)
            self._slots[self._copies[content]] = slot

    def _open(self, budget_bytes: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = StoreLock.take(self.folder / "lock")
        slot_of = self._entries()
        for place in np.flatnonzero(self._inspection.usable()).tolist():
            self._copies.setdefault(self._inspection.hashes[place].tobytes(), []).append(place)
        held = {content: slot for content, (slot, _) in slot_of.items() if content in self._copies}
        for content, slot in held.items():
            self._slots[self._copies[content]] = slot
            self._checksums[slot] = slot_of[content][1]
        if self._lock is not None:
            self._open_for_writing(set(held.values()), budget_bytes)
        size = (self.folder / "pixels").stat().st_size // self._item_bytes if (self.folder / "pixels").exists() else 0
        self._slots[self._slots >= size] = _ABSENT
        if size:
            with (self.folder / "pixels").open("rb") as file:
                self._map = mmap.mmap(file.fileno(), size * self._item_bytes, access=mmap.ACCESS_READ)
            self._pixels = np.frombuffer(self._map, np.uint8).reshape(size, *self._shape)

    def _open_for_writing(self, taken: set[int], budget_bytes: int) -> None:
        """Make room for every picture, as far as the budget goes; slots of contents that are gone are used again."""
        own = _size_bytes(self.folder / "pixels")
        budget_bytes = min(budget_bytes, shutil.disk_usage(self.folder).free // 2 + own)
        others = _make_room(self.folder, budget_bytes, self._item_bytes * len(self._copies))
        most = max(0, budget_bytes - others) // self._item_bytes
        capacity = max(min(len(self._copies), most), max(taken, default=-1) + 1)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._pixel_file = os.open(self.folder / "pixels", flags, 0o644)
        os.ftruncate(self._pixel_file, capacity * self._item_bytes)
        self._entry_file = os.open(self.folder / "entries", flags, 0o644)
        size = os.fstat(self._entry_file).st_size
        os.ftruncate(self._entry_file, size - size % _ENTRY.size)  # a torn last entry
        self._free = [slot for slot in range(min(capacity, most) - 1, -1, -1) if slot not in taken]

    def _entries(self) -> dict[bytes, tuple[int, int]]:
        """content -> (slot, checksum); a later entry of the same slot replaces an earlier one."""
        try:
            log = (self.folder / "entries").read_bytes()
        except FileNotFoundError:
            return {}
        by_slot = {
            slot: (content, checksum)
            for content, slot, checksum in _ENTRY.iter_unpack(log[: len(log) - len(log) % _ENTRY.size])
        }
        return {content: (slot, checksum) for slot, (content, checksum) in by_slot.items()}

    def _let_go(self) -> None:
        with self._guard:
            self._pixels = self._map = None
            self._slots[:] = _ABSENT
            for descriptor in (self._pixel_file, self._entry_file):
                if descriptor >= 0:
                    os.close(descriptor)
            self._pixel_file = self._entry_file = -1
            if self._lock is not None:
                self._lock.release()
                self._lock = None


def mean_std(
    cache: DecodedCache, indices: Sequence[int] | NDArray[np.int64], sample: int = 2000
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each channel of the inputs scaled to 0..1, over at most `sample` pictures.

    The sample is spread evenly over `indices`, so that the same split always gives the same numbers. A channel without
    any variation gets the smallest step of a pixel, 1/255, to divide by.
    """
    places = np.asarray(indices, np.int64)
    if not len(places):
        raise ValueError("there are no pictures to measure")
    if len(places) > sample:
        places = places[np.linspace(0, len(places) - 1, sample).astype(np.int64)]
    total = squares = np.zeros(1)
    count = 0
    for start in range(0, len(places), 64):
        batch = cache.get(places[start : start + 64])
        count += batch.shape[0] * batch.shape[2] * batch.shape[3]
        total = total + batch.sum(axis=(0, 2, 3), dtype=np.int64)
        squares = squares + np.square(batch, dtype=np.uint32).sum(axis=(0, 2, 3), dtype=np.int64)
    mean = total / count
    variance = np.maximum(squares / count - mean**2, 0.0)
    std = np.maximum(np.sqrt(variance) / 255, 1 / 255)
    return tuple((mean / 255).tolist()), tuple(std.tolist())


def _store_name(inspection: Inspection, preprocessing: Preprocessing) -> str:
    """One store for each folder of pictures and each geometry."""
    kept = ("height", "width", "channels", "fit", "background")
    geometry = json.dumps([_LAYOUT, *(getattr(preprocessing, name) for name in kept)])
    root = os.fsencode(inspection.index.root.absolute())
    return blake2b(geometry.encode() + b"\0" + root, digest_size=12).hexdigest()


def _make_room(folder: Path, budget_bytes: int, needed_bytes: int) -> int:
    """Remove the stores that were not used for longest until this one fits; the bytes that the others still take."""
    stores = sorted(
        (path for path in folder.parent.iterdir() if path.is_dir() and path != folder),
        key=lambda path: path.stat().st_mtime,
    )
    sizes = {path: _size_bytes(path / "pixels") for path in stores}
    for path in stores:
        if sum(sizes.values()) + needed_bytes <= budget_bytes:
            break
        lock = StoreLock.take(path / "lock")
        if lock is None:
            continue  # in use
        lock.release()
        shutil.rmtree(path, ignore_errors=True)
        del sizes[path]
    os.utime(folder)
    return sum(sizes.values())


def _size_bytes(path: Path) -> int:
    """What a file takes on the disk, which for a half-filled store is less than its length."""
    try:
        status = path.stat()
    except OSError:
        return 0
    blocks = getattr(status, "st_blocks", None)
    return status.st_size if blocks is None else int(blocks) * 512


def _write_at(descriptor: int, content: bytes, offset: int) -> None:
    """Write all of `content`; the callers hold the store's guard, so seeking is safe."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
