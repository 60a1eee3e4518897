"""What one click can do about a finding: edits of the project, never of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from studio.core.edits import LeaveOut, Relabel, SetPart
from studio.core.frozen import FrozenMap
from studio.core.problem import Fix, Problem
from studio.dataset.inspection import Inspection
from studio.dataset.labels import shown
from studio.dataset.near import groups_of


def with_fixes(problem: Problem, inspection: Inspection) -> Problem:
    """`problem` with the edits that mend it; unchanged where there are some already, or none."""
    return problem if problem.fixes else replace(problem, fixes=_fixes(problem, inspection))


def _fixes(problem: Problem, inspection: Inspection) -> tuple[Fix, ...]:
    match problem.code:
        # Unreadable pictures need no fix: they are left out already, and read again once they are whole.
        case "tiny_images" | "csv_conflicting_rows" | "duplicates_across_splits" | "near_duplicates_across_splits":
            return _leave_out("fix.leave_out", problem.files)
        case "duplicates":
            return _leave_out("fix.keep_one_copy", _all_but_first(inspection, copy_groups(inspection)))
        case "near_duplicates":
            return _leave_out("fix.keep_largest", _all_but_largest(inspection, groups_of(inspection.near)))
        case "conflicting_labels":
            return (*_by_majority(inspection), *_leave_out("fix.leave_out", problem.files))
        case "long_images":
            return (Fix("fix.pad", SetPart("preprocessing", "fit", "pad")),)
        case "imbalanced":
            weigh = Fix("fix.weigh_classes", SetPart("recipe", "class_weights", "balanced"))
            most = int(problem.facts["smallest_count"])  # type: ignore[arg-type]  # health writes a whole number
            limit = Fix("fix.limit_per_class", SetPart("data", "limit_per_class", most), FrozenMap({"count": most}))
            return (weigh, limit) if most >= 2 else (weigh,)
        case _:
            return ()


def copy_groups(inspection: Inspection) -> list[list[int]]:
    """Usable pictures with the same bytes, in groups of at least two."""
    places = np.flatnonzero(inspection.usable())
    if not len(places):
        return []
    _, group, sizes = np.unique(inspection.hashes[places], axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    copied = np.flatnonzero(sizes[group] > 1)
    if not len(copied):
        return []
    order = copied[np.argsort(group[copied], kind="stable")]
    starts = np.flatnonzero(np.diff(group[order])) + 1
    return [places[members].tolist() for members in np.split(order, starts)]


def _leave_out(code: str, files: Iterable[str]) -> tuple[Fix, ...]:
    names = tuple(shown(path) for path in files)
    return (Fix(code, LeaveOut(names), FrozenMap({"count": len(names)})),) if names else ()


def _all_but_first(inspection: Inspection, groups: list[list[int]]) -> list[str]:
    """The copies beyond the first of each label and split, so that no class and no split loses the picture."""
    pictures = inspection.index.pictures
    extra: list[str] = []
    for group in groups:
        seen: set[tuple[int, int]] = set()
        for place in group:
            home = int(pictures.labels[place]), int(pictures.splits[place])
            if home in seen:
                extra.append(pictures.paths[place])
            seen.add(home)
    return extra


def _all_but_largest(inspection: Inspection, groups: list[list[int]]) -> list[str]:
    """Of each group of one label everything but the picture with the most pixels; mixed labels are for a person."""
    pictures = inspection.index.pictures
    area = inspection.widths.astype(np.int64) * inspection.heights
    extra: list[str] = []
    for group in groups:
        if len(set(pictures.labels[group].tolist())) == 1:
            largest = max(group, key=lambda place: (int(area[place]), -place))
            extra.extend(pictures.paths[place] for place in group if place != largest)
    return extra


def _by_majority(inspection: Inspection) -> tuple[Fix, ...]:
    """Copies under several labels get the label that most of them have, where there is one."""
    pictures, classes = inspection.index.pictures, inspection.index.classes
    labels: dict[str, str] = {}
    for group in copy_groups(inspection):
        counted = Counter(pictures.labels[group].tolist()).most_common(2)
        if len(counted) == 2 and counted[0][1] > counted[1][1]:
            winner = counted[0][0]
            labels.update(
                {shown(pictures.paths[place]): classes[winner] for place in group if pictures.labels[place] != winner}
            )
    if not labels:
        return ()
    return (Fix("fix.label_of_most", Relabel(FrozenMap(labels)), FrozenMap({"count": len(labels)})),)
