"""Which pictures belong to which class: every sensible way to read a folder, the likeliest first.

The rules, in the order in which they are tried:

1. A folder that holds nothing but one folder is only a wrapping; the inner one is used, and that is said.
2. A table of labels (`studio.dataset.table`) beside pictures that are not sorted into folders gives the classes.
3. `train`, `val`, `test` (under their many names) with class folders inside are splits, not classes.
4. Class folders that hold `train`, `val`, `test` folders are the same, the other way round.
5. Otherwise each folder is a class, with everything below it. Where the folders below could be the classes just as
   well, that is another reading, which a person can choose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from studio.core.frozen import FrozenMap
from studio.core.text import tr
from studio.dataset.index import Reading
from studio.dataset.labels import natural_order, same_name_key, shown
from studio.dataset.splitnames import role, roles
from studio.dataset.walk import Folder

# Folder names that say only "here are pictures": beside a table they are storage, not classes.
_GENERIC_WORDS = (
    "images image img imgs pictures picture pics photos photo data dataset files raw jpg jpeg png all samples "
    "masks mask annotations labels 图片 图像 照片 数据"
)
_GENERIC = frozenset(_GENERIC_WORDS.split())
_DEEPEST_READING = 4


@dataclass(frozen=True, slots=True)
class Part:
    """The pictures that lie directly in one folder, with what a reading says of them."""

    folder: Folder
    label: str
    split: str = ""


@dataclass(slots=True)
class Plan:
    """A reading with the folders it takes. `left_out` are folders whose pictures it cannot label."""

    id: str
    code: str
    parts: list[Part]
    left_out: list[Folder] = field(default_factory=list)

    def reading(self) -> Reading:
        """Classes that are spelled alike (composed or decomposed accents) are one."""
        names = class_names(part.label for part in self.parts)
        counts: dict[str, int] = dict.fromkeys(names.values(), 0)
        for part in self.parts:
            counts[names[same_name_key(part.label)]] += len(part.folder.names)
        ordered = natural_order(counts)
        facts = FrozenMap({"classes": in_words(ordered)})
        return Reading(self.id, ordered, tuple(counts[name] for name in ordered), self.code, facts)


def class_names(labels: Iterable[str]) -> dict[str, str]:
    """Key of a name -> the name that is shown, for labels as the disk spells them."""
    names: dict[str, str] = {}
    for label in labels:
        names.setdefault(same_name_key(label), shown(label))
    return names


def in_words(names: tuple[str, ...], most: int = 6) -> str:
    """The first names as a phrase: "cat, dog, ..."."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def describe(reading: Reading) -> str:
    """What a reading takes for the classes, as a sentence."""
    facts = dict(reading.facts)
    match reading.code:
        case "folders":
            return tr("Each folder is a class: {classes}", **facts)
        case "deeper":
            return tr("The folders further down are the classes: {classes}", **facts)
        case "paths":
            return tr("The classes are named by the whole way to the folder: {classes}", **facts)
        case "presplit":
            return tr("The folders are splits (training, validation, test) with the classes inside: {classes}", **facts)
        case "split-inside":
            return tr("Each class holds its own splits (training, validation, test): {classes}", **facts)
        case "csv":
            return tr("The table {table} gives the classes: {classes}", **facts)
        case _:
            return tr("No classes were found.")


def unwrapped(folder: Folder) -> Folder:
    """The folder inside all wrappings: down as long as there is one single folder, and folders in that."""
    while not folder.names and len(folder.filled) == 1 and folder.filled[0].filled and not folder.filled[0].names:
        folder = folder.filled[0]
    return folder


def generic_names(folder: Folder) -> bool:
    """Whether the folders here are named like storage rather than like classes."""
    return all(child.name.casefold() in _GENERIC for child in folder.filled)


def plans(base: Folder) -> list[Plan]:
    """Every reading of the folder `base` by its folders, the likeliest first; empty without class folders."""
    filled = base.filled
    if not filled:
        return []
    named = roles([child.name for child in filled])
    if len(set(named) - {""}) >= 2 and "train" in named:
        split = _presplit(base, dict(zip((child.path for child in filled), named, strict=True)))
        # Splits without class folders in them have no labels; their names are still no classes.
        return [split, _folders(base)] if split.parts else []
    found = []
    inside = _split_inside(base)
    if inside is not None:
        found.append(inside)
    found.append(_folders(base))
    found.extend(_deeper(base))
    return found


def _folders(base: Folder) -> Plan:
    parts = [Part(folder, child.name) for child in base.filled for folder in child.below()]
    return Plan("folders", "folders", parts, [base] if base.names else [])


def _presplit(base: Folder, split_of: dict[str, str]) -> Plan:
    plan = Plan("presplit", "presplit", [], [base] if base.names else [])
    for child in base.filled:
        split = split_of[child.path]
        if not split:
            plan.left_out.extend(child.below())
            continue
        inner = unwrapped(child)
        plan.parts.extend(Part(folder, group.name, split) for group in inner.filled for folder in group.below())
        if inner.names:
            plan.left_out.append(inner)
    return plan


def _split_inside(base: Folder) -> Plan | None:
    """class/train/picture: every class folder holds only folders named like splits."""
    found: set[str] = set()
    parts: list[Part] = []
    for child in base.filled:
        for group in child.filled:
            split = role(group.name)
            if not split:
                return None
            found.add(split)
            parts.extend(Part(folder, child.name, split) for folder in group.below())
        if child.names:
            parts.append(Part(child, child.name, "train"))
    if len(found) < 2 or "train" not in found:
        return None
    return Plan("split-inside", "split-inside", parts, [base] if base.names else [])


def _deeper(base: Folder) -> list[Plan]:
    """Readings by folders further down, where those have names of their own."""
    found: list[Plan] = []
    folders = [folder for child in base.filled for folder in child.below()]
    deepest = max(folder.depth - base.depth for folder in folders)
    for depth in range(2, min(deepest, _DEEPEST_READING) + 1):
        steps = [tuple(folder.path.split("/")[base.depth :][:depth]) for folder in folders]
        leaves = {same_name_key(way[-1]) for way in steps}
        ways = {tuple(map(same_name_key, way)) for way in steps}
        if len(leaves) < 2:
            continue
        plan_id = f"folders@{depth}"
        left_out = [base] if base.names else []
        found.append(
            Plan(plan_id, "deeper", [Part(f, way[-1]) for f, way in zip(folders, steps, strict=True)], left_out)
        )
        if len(ways) > len(leaves):
            by_path = [Part(f, "/".join(way)) for f, way in zip(folders, steps, strict=True)]
            found.append(Plan(f"{plan_id}:path", "paths", by_path, left_out))
    return found


def depth_is_ambiguous(base: Folder) -> bool:
    """Whether the folders of the second level could be the classes just as well as those of the first."""
    children = base.filled
    deeper = {same_name_key(group.name) for child in children for group in child.filled}
    return bool(children) and not any(child.names for child in children) and len(deeper) >= 2
