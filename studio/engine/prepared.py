"""From a project's folder to what the loop needs: labels, the two splits, decoded pictures and their statistics."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Project
from studio.dataset.arrays import DecodedCache, mean_std
from studio.dataset.inspect import inspect
from studio.dataset.inspection import Inspection
from studio.dataset.repairs import repaired
from studio.dataset.scan import scan
from studio.dataset.split import never_trained, split
from studio.engine.batches import Bytes, Places, resolved_statistics
from studio.engine.session import Session
from studio.engine.trouble import Stopped, Trouble

# So many names of pictures that are left out go into the record; the rest is counted.
_NAMED_FILES = 100
# So many large pictures are decoded well within the time in which a Stop must be heard.
_FEW_PICTURES = 8
# Pictures that are measured for mean and standard deviation.
_MEASURED_PICTURES = 2000


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """Pictures ready for batches. `project` has the folder's classes filled in; `labels` follow the index."""

    project: Project
    inspection: Inspection
    cache: DecodedCache
    labels: NDArray[np.int64]
    train: Places
    validation: Places

    @property
    def digest(self) -> str:
        """Stands for the contents, labels and order of both splits: equal only where all of these are."""
        told = hashlib.sha256()
        for places in (self.train, self.validation):
            told.update(np.ascontiguousarray(self.inspection.hashes[places]).tobytes())
            told.update(self.labels[places].tobytes() + b"/")
        return told.hexdigest()

    def paths(self, places: Places) -> tuple[str, ...]:
        """Relative paths of pictures."""
        return tuple(self.inspection.index.pictures.paths[place] for place in places.tolist())


def prepare(project: Project, cache_folder: Path, session: Session) -> Prepared:
    """Scan, inspect and split the project's folder.

    Raises:
        Trouble: the folder cannot be trained on.
        Stopped, Cancelled: asked to stop.
    """
    session.enter("scan")
    folder = Path(project.data.folder)
    if not project.data.folder:
        raise Trouble(Problem("project.no_data"))
    report = session.dataset_progress
    index = scan(folder, reading=project.data.reading, progress=report, cancelled=session.stop_asked)
    _refuse_errors(index.problems)
    session.enter("inspect")
    seen = inspect(index, cache_folder, progress=report, cancelled=session.stop_asked)
    inspection = repaired(seen, project.data)
    _refuse_errors(inspection.problems)
    if inspection.refused:
        session.warn(_left_out(inspection))
    for problem in inspection.problems:
        if problem.code == "repairs_lost":
            session.warn(problem)
    known = project.data.classes
    if known and known != index.classes:
        facts: FrozenMap[Value] = FrozenMap(before=", ".join(known[:20]), now=", ".join(index.classes[:20]))
        session.warn(Problem("classes_changed", Severity.WARNING, facts=facts))
    project = replace(project, data=replace(project.data, classes=index.classes))
    sides = split(inspection, project.data)
    if not len(sides.train):
        raise Trouble(Problem("nothing_to_train_on", facts=FrozenMap(count=len(index.pictures))))
    if not len(sides.validation):
        session.warn(Problem("nothing_to_validate_on", Severity.WARNING))
    untaught = never_trained(inspection, sides)
    if untaught is not None:
        session.warn(untaught)
    cache = DecodedCache(inspection, project.preprocessing, cache_folder)
    labels = inspection.index.pictures.labels.astype(np.int64)
    return Prepared(project, inspection, cache, labels, sides.train, sides.validation)


def _refuse_errors(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        if problem.severity is Severity.ERROR:
            raise Trouble(problem)


def _left_out(inspection: Inspection) -> Problem:
    files = tuple(inspection.refused)
    facts: FrozenMap[Value] = FrozenMap(count=len(files), first=files[0])
    return Problem("pictures_left_out", Severity.WARNING, facts=facts, files=files[:_NAMED_FILES])


class _Watched:
    """A cache that can be interrupted, for tasks that only call `get`."""

    def __init__(self, cache: DecodedCache, before_get: Callable[[int], None]) -> None:
        self._cache, self._before_get = cache, before_get

    def get(self, indices: Places) -> Bytes:
        parts = [indices[start : start + _FEW_PICTURES] for start in range(0, len(indices), _FEW_PICTURES)]
        decoded: list[Bytes] = []
        for part in parts:
            self._before_get(len(part))
            decoded.append(self._cache.get(part))
        return np.concatenate(decoded)


def with_statistics(prepared: Prepared, session: Session) -> Project:
    """The project with the mean and standard deviation that its preprocessing means filled in.

    Raises:
        Stopped: asked to stop while pictures were measured.
    """
    done = 0

    def before_get(count: int) -> None:
        nonlocal done
        if session.stop_asked():
            raise Stopped
        done += count
        session.progress(done, min(len(prepared.train), _MEASURED_PICTURES))

    def measured() -> tuple[tuple[float, ...], tuple[float, ...]]:
        watched = cast(DecodedCache, _Watched(prepared.cache, before_get))
        return mean_std(watched, prepared.train, _MEASURED_PICTURES)

    project = prepared.project
    mean, std = resolved_statistics(project.preprocessing, measured)
    return replace(project, preprocessing=replace(project.preprocessing, mean=mean, std=std))
