"""Every picture is decoded once before any run, so that trouble is known by name and copies by content."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.dataset.formats import suffix_disagrees, suffix_of
from studio.dataset.health import findings_of
from studio.dataset.index import Index
from studio.dataset.inspection import Inspection as Inspection
from studio.dataset.inspectionstore import Finding, Store, store_for
from studio.dataset.labels import shown
from studio.dataset.loading import Refused, content_hash, load
from studio.dataset.near import MOST_PICTURES, Pairs, near_pairs
from studio.dataset.prints import PRINT_BYTES, fingerprint
from studio.dataset.progress import Cancelled, IsCancelled, Pace, ReportProgress, never, unreported

_CHUNK = 16
_NO_HASH = bytes(16)
# What is kept when the process is killed is at most this old, or costs at most a twentieth of the time.
_SAVE_EVERY_SECONDS = 5.0
# Refusals that can end without the file changing, so they are never remembered.
_PASSING = frozenset(
    (
        "picture_missing",
        "picture_not_a_file",
        "picture_no_permission",
        "picture_unreadable",
        "picture_out_of_memory",
        "picture_crashes",  # or something else ended the decoder
    )
)


def inspect(
    index: Index,
    cache_folder: Path,
    *,
    progress: ReportProgress = unreported,
    cancelled: IsCancelled = never,
) -> Inspection:
    """Look into every picture of `index`, in threads; what is already known from `cache_folder` is not looked at again.

    Raises:
        Cancelled: asked to stop; what was found until then is kept.
    """
    pictures = index.pictures
    pace = Pace("inspect", len(pictures), progress, cancelled)
    store = store_for(index.root, cache_folder)
    pace.check()
    known: list[Finding | None] = [
        store.find(path, int(size), int(mtime))
        for path, size, mtime in zip(pictures.paths, pictures.sizes.tolist(), pictures.mtimes.tolist(), strict=True)
    ]
    missing = [place for place, finding in enumerate(known) if finding is None]
    pace.check()
    try:
        _look(index, missing, known, store, pace)
    finally:
        if missing:
            store.save()
    findings = [finding for finding in known if finding is not None]
    inspection = _columns(index, findings)
    inspection = replace(inspection, near=_near(inspection, findings, store, pace))
    pace.finish(len(pictures))
    return replace(inspection, problems=findings_of(inspection))


def _near(inspection: Inspection, findings: list[Finding], store: Store, pace: Pace) -> Pairs:
    """The pairs of near copies, searched only where the pictures differ from those of the last time."""
    if not 1 < len(findings) <= MOST_PICTURES:
        return np.zeros((0, 2), np.int64)
    prints = np.frombuffer(b"".join(finding.print for finding in findings), np.uint8).reshape(-1, PRINT_BYTES)
    key = blake2b(prints.data, digest_size=16)
    for column in (inspection.hashes, inspection.widths, inspection.heights):
        key.update(np.ascontiguousarray(column).data)
    if store.near[0] != key.digest():
        store.near = key.digest(), near_pairs(inspection, prints, pace)
        store.save()
    return store.near[1]


def _look(index: Index, missing: list[int], known: list[Finding | None], store: Store, pace: Pace) -> None:
    """Fill the gaps in `known` and note them in `store`."""
    done, stop = len(known) - len(missing), [False]
    last_save, save_seconds = time.monotonic(), 0.0
    workers = min(8, os.cpu_count() or 1)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="inspect")
    chunks = iter([missing[start : start + _CHUNK] for start in range(0, len(missing), _CHUNK)])
    pending: set[Future[list[tuple[int, Finding]]]] = set()
    try:
        while True:
            for chunk in _next(chunks, 3 * workers - len(pending)):
                pending.add(pool.submit(_chunk, index, chunk, stop))
            if not pending:
                return
            finished, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in finished:
                for place, finding in future.result():
                    known[place] = finding
                    _keep(store, index, place, finding)
                    done += 1
            pace.at(done)
            if time.monotonic() - last_save > max(_SAVE_EVERY_SECONDS, 20 * save_seconds):
                last_save = time.monotonic()
                store.save()
                save_seconds = time.monotonic() - last_save
    finally:
        stop[0] = True
        # A cancelled caller is not kept waiting for pictures that are being decoded.
        pool.shutdown(wait=False, cancel_futures=True)


def _next(chunks: Iterator[list[int]], most: int) -> Iterator[list[int]]:
    for _, chunk in zip(range(most), chunks, strict=False):
        yield chunk


def _chunk(index: Index, places: list[int], stop: list[bool]) -> list[tuple[int, Finding]]:
    found = []
    for place in places:
        if stop[0]:
            raise Cancelled
        found.append((place, look(index.path(place), lambda: stop[0])))
    return found


def look(path: Path, cancelled: IsCancelled = never) -> Finding:
    """What one file holds. Raises `Cancelled`."""
    try:
        loaded = load(path, cancelled=cancelled)
    except Refused as refused:
        return _refusal(path, refused.problem)
    height, width = loaded.rgb.shape[:2]
    misnamed = suffix_disagrees(suffix_of(path.name), loaded.format)
    seen = fingerprint(loaded.rgb)
    return Finding(loaded.content_hash, width, height, loaded.mode, loaded.turned, misnamed, print=seen)


def _refusal(path: Path, problem: Problem) -> Finding:
    try:
        digest = _NO_HASH if problem.code == "picture_file_too_large" else content_hash(path)
    except Refused:
        digest = _NO_HASH
    return Finding(digest, 0, 0, "", code=problem.code, facts=tuple(problem.facts.items()))


def _keep(store: Store, index: Index, place: int, finding: Finding) -> None:
    if finding.code not in _PASSING:
        pictures = index.pictures
        store.keep(pictures.paths[place], int(pictures.sizes[place]), int(pictures.mtimes[place]), finding)


def _columns(index: Index, findings: list[Finding]) -> Inspection:
    paths = index.pictures.paths
    refused = {
        path: Problem(finding.code, place=shown(path), facts=FrozenMap(dict(finding.facts)), files=(path,))
        for path, finding in zip(paths, findings, strict=True)
        if finding.code
    }
    return Inspection(
        index,
        np.frombuffer(b"".join(finding.content_hash for finding in findings), np.uint8).reshape(-1, 16),
        np.array([finding.width for finding in findings], np.int32),
        np.array([finding.height for finding in findings], np.int32),
        tuple(finding.mode for finding in findings),
        np.array([finding.turned for finding in findings], np.bool_),
        np.array([finding.misnamed for finding in findings], np.bool_),
        FrozenMap(refused),
    )
