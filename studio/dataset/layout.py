"""Which pictures belong to which class: every sensible way to read a folder, the likeliest first.

The rules, in the order in which they are tried:

1. A folder with pictures in one single folder is only a wrapping; the inner one is used, and that is said. Stray
   pictures beside it do not change that, nor do `masks` beside `images`.
2. A table of labels (`studio.dataset.tables`) beside pictures that are not sorted into folders gives the classes.
3. `train`, `val`, `test` (under their many names) with class folders inside are splits, not classes.
4. Class folders that hold `train`, `val`, `test` folders are the same, the other way round.
5. Otherwise each folder is a class, with everything below it. Where the folders below could be the classes just as
   well, that is another reading, which a person can choose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from studio.core.frozen import FrozenMap
from studio.core.text import tr
from studio.dataset.index import Reading
from studio.dataset.labels import natural_order, same_name_key, shown
from studio.dataset.splitnames import role, roles
from studio.dataset.walk import Folder

# Folder names that say only "here are pictures": beside a table they are storage, not classes.
_STORAGE_WORDS = (
    "images image img imgs pictures picture pics photos photo data dataset files raw jpg jpeg jpegimages png all "
    "samples 图片 图像 照片 数据"
)
_STORAGE = frozenset(_STORAGE_WORDS.split())
_NOTES = frozenset(("masks", "mask", "annotations", "annotation", "labels", "segmentation", "segmentations", "标注"))
_PART = re.compile(r"[\W_]*(part|batch|chunk|shard)[\W_]*\d+$")
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


def unwrapped(folder: Folder, kept: frozenset[str] = frozenset()) -> Folder:
    """The folder inside all wrappings: down as long as one single folder holds the pictures, and has folders in it.

    A folder named `train` is a split and no wrapping; names in `kept` are none either.
    """
    while (inner := _wrapped(folder)) is not None and inner.name not in kept:
        folder = inner
    return folder


def _wrapped(folder: Folder) -> Folder | None:
    """The one folder that matters in this one; None where there are several."""
    filled = folder.filled
    if len(filled) > 1 and all(_is_storage(child.name) or child.name.casefold() in _NOTES for child in filled):
        filled = [child for child in filled if child.name.casefold() not in _NOTES]
    if len(filled) != 1 or role(filled[0].name) == "train":
        return None
    inner = filled[0]
    # Pictures beside the folder or beside the classes are strays as long as they are few.
    strays = len(folder.names) + len(inner.names)
    are_few = strays < inner.total / 2
    is_wrapping = bool(inner.filled) and (not strays or (are_few and len(unwrapped(inner).filled) > 1))
    return inner if is_wrapping else None


def beside(root: Folder, base: Folder) -> list[Folder]:
    """The folders with pictures on the way from `root` down to `base` that are not in it."""
    found: list[Folder] = []
    folder = root
    while folder is not base:
        found.extend([folder] if folder.names else [])
        inner = next(child for child in folder.children if f"{base.path}/".startswith(f"{child.path}/"))
        for child in folder.filled:
            if child is not inner:
                found.extend(child.below())
        folder = inner
    return found


def _is_storage(name: str) -> bool:
    return name.casefold() in _STORAGE


def generic_names(folder: Folder) -> bool:
    """Whether the folders here are named like storage rather than like classes: `images`, `part_1` and `part_2`."""
    names = [child.name.casefold() for child in folder.filled]
    if all(name in _STORAGE or name in _NOTES for name in names):
        return True
    stems = {_PART.sub("", name) for name in names}
    return len(names) > 1 and len(stems) == 1 and all(_PART.search(name) for name in names)


def plans(base: Folder) -> list[Plan]:
    """Every reading of the folder `base` by its folders, the likeliest first; empty without class folders."""
    filled = base.filled
    if not filled:
        return []
    split_of = splits_here(base)
    if split_of:
        split = _presplit(base, split_of)
        # Splits without class folders in them have no labels; their names are still no classes.
        return [split, _folders(base), *_deeper(base, by_path=False)] if split.parts else []
    found = []
    inside = _split_inside(base)
    if inside is not None:
        found.append(inside)
    found.append(_folders(base))
    found.extend(_deeper(base))
    return found


def splits_here(base: Folder) -> dict[str, str]:
    """Path -> split, "" for none, where the folders here are splits; empty where they are classes."""
    named = dict(zip((child.path for child in base.children), roles([c.name for c in base.children]), strict=True))
    filled = base.filled
    found = {named[child.path] for child in filled} - {""}
    if len(found) >= 2:
        return named
    # Training alone: nothing beside it, or one folder of pictures without labels.
    others = [child for child in filled if not named[child.path]]
    is_alone = found == {"train"} and len(others) <= 1 and not any(child.filled for child in others)
    return named if is_alone and any(child.filled for child in filled) else {}


def empty_in_splits(base: Folder, classes: tuple[str, ...]) -> tuple[list[Folder], list[Folder]]:
    """Folders without pictures where the folders here are splits: those of classes that have none, and whole splits."""
    split_of = splits_here(base)
    splits = [child for child in base.children if split_of.get(child.path)]
    known = {same_name_key(name) for name in classes}
    empty: dict[str, Folder] = {}
    for child in splits:
        for group in unwrapped(child).children:
            if not group.total and group.readable and same_name_key(group.name) not in known:
                empty.setdefault(same_name_key(group.name), group)
    return list(empty.values()), [child for child in splits if not child.total and child.readable]


def _folders(base: Folder) -> Plan:
    parts = [Part(folder, child.name) for child in base.filled for folder in child.below()]
    return Plan("folders", "folders", parts, [base] if base.names else [])


def _presplit(base: Folder, split_of: dict[str, str]) -> Plan:
    plan = Plan("presplit", "presplit", [], [base] if base.names else [])
    names = Counter(group.name for child in base.filled for group in child.filled)
    shared = frozenset(name for name, count in names.items() if count > 1)
    for child in base.filled:
        split = split_of[child.path]
        if not split:
            plan.left_out.extend(child.below())
            continue
        inner = unwrapped(child, kept=shared)
        plan.parts.extend(Part(folder, group.name, split) for group in inner.filled for folder in group.below())
        plan.left_out.extend(beside(child, inner))
        if inner.names:
            plan.left_out.append(inner)
    plan.parts = _spelled_alike(plan.parts)
    return plan


def _spelled_alike(parts: list[Part]) -> list[Part]:
    """A class that one split calls `Cat` and another `cat` is one class; two spellings in one split stay two."""
    spellings: dict[str, dict[str, set[str]]] = {}
    for part in parts:
        spelled = spellings.setdefault(same_name_key(part.label).casefold().strip(), {})
        spelled.setdefault(part.split, set()).add(part.label)
    one: dict[str, str] = {}
    for by_split in spellings.values():
        if all(len(labels) == 1 for labels in by_split.values()):
            first = next(iter(by_split.get("train") or next(iter(by_split.values()))))
            one.update(dict.fromkeys(set().union(*by_split.values()), first))
    return [replace(part, label=one.get(part.label, part.label)) for part in parts]


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


def _deeper(base: Folder, *, by_path: bool = True) -> list[Plan]:
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
        if by_path and len(ways) > len(leaves):
            parts = [Part(f, "/".join(way)) for f, way in zip(folders, steps, strict=True)]
            found.append(Plan(f"{plan_id}:path", "paths", parts, left_out))
    return found


def depth_is_ambiguous(base: Folder) -> bool:
    """Whether the folders of the second level could be the classes just as well as those of the first."""
    children = base.filled
    deeper = {same_name_key(group.name) for child in children for group in child.filled}
    in_deeper = sum(child.total - len(child.names) for child in children)
    return len(deeper) >= 2 and in_deeper > sum(len(child.names) for child in children)
