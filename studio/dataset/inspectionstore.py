"""What earlier inspections found, kept in the user's cache folder and believed while size and time of a file stay."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import __version__ as pillow_version

from studio.core.fields import Value
from studio.core.files import write_atomically
from studio.dataset.prints import NO_PRINT, PRINT_BYTES

# Part of every stored file: findings of another rule set or another decoder are not believed.
_RULES = f"2/{pillow_version}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found in one file. `code` is "" for a usable picture, else why it is refused, with the `facts`.

    `print` is its fingerprint (`studio.dataset.prints`).
    """

    content_hash: bytes
    width: int
    height: int
    mode: str
    turned: bool = False
    misnamed: bool = False
    code: str = ""
    facts: tuple[tuple[str, Value], ...] = ()
    print: bytes = NO_PRINT


@dataclass(slots=True)
class Store:
    """Findings by path, with the size and the time of the file that they are of."""

    path: Path
    findings: dict[str, tuple[int, int, Finding]] = field(default_factory=dict)
    # Pairs of near copies, and the hash of all that they follow from.
    near: tuple[bytes, NDArray[np.int64]] = (b"", np.zeros((0, 2), np.int64))

    def find(self, path: str, size_bytes: int, mtime_ns: int) -> Finding | None:
        """The finding on this very state of the file; None where there is none."""
        known = self.findings.get(path)
        return known[2] if known is not None and known[:2] == (size_bytes, mtime_ns) else None

    def keep(self, path: str, size_bytes: int, mtime_ns: int, finding: Finding) -> None:
        self.findings[path] = (size_bytes, mtime_ns, finding)

    def save(self) -> None:
        """Write all findings; a full or read-only disk costs the next opening time and nothing else."""
        try:
            write_atomically(self.path, _packed(self.findings, self.near))
        except OSError:
            return


def store_for(root: Path, cache_folder: Path) -> Store:
    """The findings on the pictures below `root`; empty where none are stored or they cannot be believed."""
    key = blake2b(os.fsencode(root.absolute()), digest_size=12).hexdigest()
    path = cache_folder / "inspections" / f"{key}.npz"
    try:
        return Store(path, *_unpacked(path))
    except Exception:  # noqa: BLE001  # a torn or foreign file breaks in many ways; all mean the same: look again
        return Store(path)


def _print(stored: bytes) -> bytes:
    """One object for all pictures without a fingerprint."""
    return NO_PRINT if stored == NO_PRINT else stored


def _packed(findings: Mapping[str, tuple[int, int, Finding]], near: tuple[bytes, NDArray[np.int64]]) -> bytes:
    paths = "\0".join(findings).encode("utf-8", "surrogateescape")
    rows = list(findings.values())
    modes = sorted({row[2].mode for row in rows})
    place_of = {mode: place for place, mode in enumerate(modes)}
    refused = {place: [row[2].code, dict(row[2].facts)] for place, row in enumerate(rows) if row[2].code}
    notes = json.dumps({"rules": _RULES, "modes": modes, "refused": refused}).encode()
    columns: dict[str, Any] = {
        "notes": np.frombuffer(notes, np.uint8),
        "paths": np.frombuffer(paths, np.uint8),
        "states": np.array([row[:2] for row in rows], np.int64).reshape(-1, 2),
        "hashes": np.frombuffer(b"".join(row[2].content_hash for row in rows), np.uint8).reshape(-1, 16),
        "prints": np.frombuffer(b"".join(row[2].print for row in rows), np.uint8).reshape(-1, PRINT_BYTES),
        "near_key": np.frombuffer(near[0], np.uint8),
        "near": near[1],
        "sizes": np.array([(row[2].width, row[2].height) for row in rows], np.int32).reshape(-1, 2),
        "modes": np.array([place_of[row[2].mode] for row in rows], np.uint8),
        "flags": np.array([row[2].turned + 2 * row[2].misnamed for row in rows], np.uint8),
    }
    content = io.BytesIO()
    np.savez(content, **columns)
    return content.getvalue()


def _unpacked(path: Path) -> tuple[dict[str, tuple[int, int, Finding]], tuple[bytes, NDArray[np.int64]]]:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as columns:
        notes = json.loads(columns["notes"].tobytes())
        if notes["rules"] != _RULES:
            raise ValueError("of another version")
        near = columns["near_key"].tobytes(), columns["near"].astype(np.int64).reshape(-1, 2)
        names = columns["paths"].tobytes().decode("utf-8", "surrogateescape").split("\0")
        states, sizes = columns["states"].tolist(), columns["sizes"].tolist()
        prints = columns["prints"].tobytes()
        hashes, modes, flags = columns["hashes"].tobytes(), columns["modes"].tolist(), columns["flags"].tolist()
    refused = {int(place): (code, tuple(facts.items())) for place, (code, facts) in notes["refused"].items()}
    findings: dict[str, tuple[int, int, Finding]] = {}
    for place, (state, size) in enumerate(zip(states, sizes, strict=True)):
        code, facts = refused.get(place, ("", ()))
        finding = Finding(
            hashes[16 * place : 16 * place + 16],
            size[0],
            size[1],
            notes["modes"][modes[place]],
            bool(flags[place] & 1),
            bool(flags[place] & 2),
            code,
            facts,
            _print(prints[PRINT_BYTES * place : PRINT_BYTES * (place + 1)]),
        )
        findings[names[place]] = (state[0], state[1], finding)
    return findings, near
