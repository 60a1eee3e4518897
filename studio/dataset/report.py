"""The health report as the JSON document of `studio data --json` (its keys are a promise; see docs)."""

from __future__ import annotations

from typing import Any

from studio.core.problem import Problem
from studio.core.text import problem_message, problem_repair, problem_why
from studio.dataset.fixes import with_fixes
from studio.dataset.health import in_order
from studio.dataset.index import Reading
from studio.dataset.inspection import Inspection
from studio.dataset.labels import shown
from studio.dataset.layout import describe
from studio.dataset.loading import Refused, load_rgb
from studio.dataset.near import given_split, near_copies_across
from studio.dataset.split import Split, class_counts, in_given_splits, never_trained


def data_report(inspection: Inspection, split: Split | None = None, *, pictures: bool = False) -> dict[str, Any]:
    """Classes, counts, given splits, readings and findings; with `pictures` also one record for each file.

    `split` adds the numbers of the split that training would use (`used_split`). All texts are in the user's language;
    names that are no text on the disk are escaped, so that the document can always be printed.
    """
    index = inspection.index
    counts = dict(zip(index.classes, inspection.counts(), strict=True))
    report: dict[str, Any] = {
        "folder": shown(str(index.root)),
        "classes": list(index.classes),
        "counts": counts,
        "total": sum(counts.values()),
        "splits": in_given_splits(inspection),
        "reading": index.reading.id,
        "readings": [_reading(reading) for reading in index.readings if reading.id != index.reading.id],
        "findings": [_finding(problem) for problem in problems_of(inspection, split)],
    }
    if split is not None:
        report["used_split"] = {
            name: dict(zip(index.classes, class_counts(inspection, places), strict=True))
            for name, places in (("train", split.train), ("val", split.validation), ("test", split.test))
        }
    if pictures:
        report["pictures"] = [_picture(inspection, place) for place in range(len(index.pictures))]
    return report


def problems_of(inspection: Inspection, split: Split | None) -> tuple[Problem, ...]:
    """The findings on the folder, and on the split that training would use where it is not the folder's own."""
    if split is None or given_split(inspection) is not None:
        return inspection.problems
    across = near_copies_across(inspection, split, drawn=True)
    drawn = (across and with_fixes(across, inspection), never_trained(inspection, split))
    return in_order((*inspection.problems, *(problem for problem in drawn if problem is not None)))


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        "id": reading.id,
        "description": describe(reading),
        "classes": list(reading.classes),
        "counts": dict(zip(reading.classes, reading.counts, strict=True)),
    }


def _finding(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem_message(problem),
        "why": problem_why(problem),
        "files": [shown(path) for path in problem.files],
        "repair": problem_repair(problem),
    }


def _picture(inspection: Inspection, place: int) -> dict[str, Any]:
    path = inspection.index.pictures.paths[place]
    refused = inspection.refused.get(path)
    mean = None
    if refused is None:
        try:
            mean = [round(float(value), 2) for value in load_rgb(inspection.index.path(place)).mean(axis=(0, 1))]
        except Refused as changed:  # since it was inspected
            refused = changed.problem
    return {
        "path": shown(path),
        "status": "loaded" if refused is None else "refused",
        "reason": "" if refused is None else problem_message(refused),
        "width": int(inspection.widths[place]) if refused is None else None,
        "height": int(inspection.heights[place]) if refused is None else None,
        "mean_rgb": mean,
    }
