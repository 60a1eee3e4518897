"""Repairs that a person chose: pictures left out, pictures given another class. Files are never touched.

They are part of the project (`Data.left_out`, `Data.relabelled`), so they can be undone, travel with it and are kept
with every run. Names are stored as `studio.dataset.labels.shown` writes them, which any file can hold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from studio.core.project import Data
from studio.dataset.health import findings_of
from studio.dataset.inspection import Inspection
from studio.dataset.labels import same_name_key, shown


def repaired(inspection: Inspection, data: Data) -> Inspection:
    """`inspection` as the repairs in `data` make it: fewer usable pictures, other labels, findings anew.

    Repairs of an earlier `data` are forgotten first, so that undoing is nothing but calling this again. Repairs of
    pictures that are gone, or to classes that are gone, are told as a finding.
    """
    raw = inspection.raw if inspection.raw is not None else inspection
    if not data.left_out and not data.relabelled:
        return raw
    pictures = raw.index.pictures
    place_of = _places(pictures.paths, {*data.left_out, *data.relabelled})
    label_of = {same_name_key(name): label for label, name in enumerate(raw.index.classes)}
    labels = pictures.labels.copy()
    lost = [name for name in data.left_out if name not in place_of]
    moved: list[int] = []
    for name, label_name in data.relabelled.items():
        place, label = place_of.get(name), label_of.get(same_name_key(label_name))
        if place is None or label is None:
            lost.append(name)
        elif labels[place] != label:
            labels[place] = label
            moved.append(place)
    left_out = np.array(sorted(place_of[name] for name in data.left_out if name in place_of), np.int64)
    index = replace(raw.index, pictures=replace(pictures, labels=labels))
    changed = replace(
        raw,
        index=index,
        raw=raw,
        left_out=left_out,
        relabelled=np.array(sorted(moved), np.int64),
        lost_repairs=tuple(dict.fromkeys(lost)),
    )
    return replace(changed, problems=findings_of(changed))


def _places(paths: tuple[str, ...], names: set[str]) -> dict[str, int]:
    """The places of those of `names` that are there."""
    found: dict[str, int] = {}
    for place, path in enumerate(paths):
        if path in names:
            found[path] = place
        elif not path.isascii() and shown(path) in names:
            found[shown(path)] = place
    return found
