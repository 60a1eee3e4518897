"""One pass over a folder with `scandir` and `stat`: what lies where, without opening a picture or following a loop."""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from studio.dataset.formats import (
    ARCHIVE_SUFFIXES,
    PICTURE_SUFFIXES,
    TABLE_SUFFIXES,
    TEXT_SUFFIXES,
    head_of,
    is_hidden_folder,
    is_left_behind,
    is_system_file,
    may_be_picture_without_suffix,
    picture_format,
    suffix_of,
)
from studio.dataset.progress import Pace

# The size recorded for a name that is no regular file (a pipe, a dangling link): inspection refuses it with the reason.
NOT_A_FILE = -1
_CHECK_EVERY = 256
# Deeper folders are loops made by mounts or mistakes; the longest path of Linux allows about 2,000 levels.
_DEEPEST = 200
# Sets with a text file beside every picture hold boxes, not labels; more than this many texts are not noted.
MOST_TEXTS = 20


@dataclass(slots=True)
class Folder:
    """One folder: its pictures as columns (`names`, `sizes`, `mtimes`) and the folders in it.

    `path` is relative to the chosen folder, "" for itself; `total` counts the pictures here and below.
    """

    name: str
    path: str
    depth: int = 0
    names: list[str] = field(default_factory=list)
    sizes: array[int] = field(default_factory=lambda: array("q"))
    mtimes: array[int] = field(default_factory=lambda: array("q"))
    children: list[Folder] = field(default_factory=list)
    others: int = 0
    readable: bool = True
    total: int = 0

    @property
    def filled(self) -> list[Folder]:
        """The folders in this one that hold pictures at any depth."""
        return [child for child in self.children if child.total]

    def below(self) -> Iterator[Folder]:
        """This folder and all below it that hold pictures themselves."""
        waiting = [self]
        while waiting:
            folder = waiting.pop()
            if folder.names:
                yield folder
            waiting.extend(reversed(folder.children))

    def within(self, name: str) -> str:
        """The path of a file of this folder, relative to the chosen folder."""
        return f"{self.path}/{name}" if self.path else name


@dataclass(slots=True)
class Walk:
    """What a walk found besides the folders."""

    root: Folder
    system_files: int = 0
    left_behind: list[str] = field(default_factory=list)
    hidden_folders: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    skipped_links: list[str] = field(default_factory=list)
    found_by_content: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    archives: list[str] = field(default_factory=list)
    seen: int = 0


@dataclass(slots=True)
class _Task:
    folder: Folder
    ancestors: tuple[tuple[int, int], ...]


class Walker:
    """Walks one tree. Links to folders are followed, each target once and never into a folder it is in."""

    def __init__(self, root: str, pace: Pace) -> None:
        self._root, self._pace = root, pace
        self._real_root = Path(os.path.realpath(root))
        self._linked: set[tuple[int, int]] = set()
        self.walk = Walk(Folder(os.path.basename(os.path.abspath(root)), ""))  # noqa: PTH100, PTH119  # keeps links

    def run(self) -> Walk:
        """Raises:
        Cancelled: asked to stop.
        """
        waiting = [_Task(self.walk.root, ())]
        order: list[Folder] = []
        while waiting:
            task = waiting.pop()
            order.append(task.folder)
            waiting.extend(self._list(task))
        for folder in reversed(order):
            folder.children.reverse()
            folder.total = len(folder.names) + sum(child.total for child in folder.children)
        self._pace.finish(self.walk.seen)
        return self.walk

    def _list(self, task: _Task) -> list[_Task]:
        folder = task.folder
        here = os.path.join(self._root, folder.path) if folder.path else self._root  # noqa: PTH118  # hot, str names
        deeper: list[_Task] = []
        try:
            status = os.stat(here)  # noqa: PTH116
            identity = (status.st_dev, status.st_ino)
            if identity in task.ancestors:  # a mount or a junction that leads back up
                self.walk.skipped_links.append(folder.path)
                return []
            ancestors = (*task.ancestors, identity)
            with os.scandir(here) as entries:
                links: list[os.DirEntry[str]] = []
                for entry in entries:
                    self._count()
                    child = self._take(folder, entry, ancestors, links)
                    if child is not None:
                        folder.children.append(child)
                # In the order of their names, so that it does not depend on the disk which of two links counts.
                for entry in sorted(links, key=lambda link: link.name):
                    child = self._linked_folder(folder, entry, ancestors)
                    if child is not None:
                        folder.children.append(child)
                folder.children.sort(key=lambda child: child.name, reverse=True)
                deeper = [_Task(child, ancestors) for child in folder.children]
        except OSError:
            folder.readable = False
            self.walk.unreadable.append(folder.path)
        return deeper

    def _count(self) -> None:
        self.walk.seen += 1
        if self.walk.seen % _CHECK_EVERY == 0:
            self._pace.at(self.walk.seen)

    def _take(
        self,
        folder: Folder,
        entry: os.DirEntry[str],
        ancestors: tuple[tuple[int, int], ...],
        links: list[os.DirEntry[str]],
    ) -> Folder | None:
        """Note a file or a link to a folder, or return the folder to walk next."""
        name = entry.name
        try:
            is_folder = entry.is_dir()
        except OSError:  # a link that leads back to itself
            is_folder = False
        if is_folder:
            if entry.is_symlink() and not is_hidden_folder(name):
                links.append(entry)
                return None
            return self._subfolder(folder, entry)
        if is_system_file(name):
            self.walk.system_files += 1
            return None
        if is_left_behind(name):
            self.walk.left_behind.append(folder.within(name))
            return None
        suffix = suffix_of(name)
        if suffix in PICTURE_SUFFIXES:
            self._picture(folder, entry)
        elif may_be_picture_without_suffix(suffix) and self._is_picture(entry):
            self.walk.found_by_content.append(folder.within(name))
            self._picture(folder, entry)
        else:
            folder.others += 1
            if suffix in TABLE_SUFFIXES:
                self.walk.tables.append(folder.within(name))
            elif suffix in TEXT_SUFFIXES and len(self.walk.texts) <= MOST_TEXTS:
                self.walk.texts.append(folder.within(name))
            elif suffix in ARCHIVE_SUFFIXES:
                self.walk.archives.append(folder.within(name))
        return None

    def _linked_folder(
        self, folder: Folder, entry: os.DirEntry[str], ancestors: tuple[tuple[int, int], ...]
    ) -> Folder | None:
        path = folder.within(entry.name)
        try:
            status = entry.stat()
        except OSError:
            self.walk.skipped_links.append(path)
            return None
        target = (status.st_dev, status.st_ino)
        if target in ancestors or target in self._linked or self._is_walked(entry.path):
            self.walk.skipped_links.append(path)
            return None
        self._linked.add(target)
        return self._subfolder(folder, entry)

    def _subfolder(self, folder: Folder, entry: os.DirEntry[str]) -> Folder | None:
        path = folder.within(entry.name)
        if is_hidden_folder(entry.name):
            self.walk.hidden_folders.append(path)
            return None
        if folder.depth >= _DEEPEST:
            self.walk.unreadable.append(path)
            return None
        return Folder(entry.name, path, folder.depth + 1)

    def _is_walked(self, link: str) -> bool:
        """Whether a link leads to a folder that this walk counts under its own name anyway, or to one around it."""
        try:
            target = Path(os.path.realpath(link))
        except OSError:
            return False
        if self._real_root.is_relative_to(target):
            return True
        if not target.is_relative_to(self._real_root):
            return False
        return not any(is_hidden_folder(step) for step in target.relative_to(self._real_root).parts)

    @staticmethod
    def _picture(folder: Folder, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat()
            regular = stat.S_ISREG(status.st_mode)
            size, mtime = (status.st_size, status.st_mtime_ns) if regular else (NOT_A_FILE, 0)
        except OSError:
            size, mtime = NOT_A_FILE, 0
        folder.names.append(entry.name)
        folder.sizes.append(size)
        folder.mtimes.append(mtime)

    @staticmethod
    def _is_picture(entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_file() and bool(picture_format(head_of(entry.path)))
        except OSError:
            return False
