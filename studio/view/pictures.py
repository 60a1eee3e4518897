"""The pictures of the open project, scanned and inspected off the window's thread whenever the folder changes.

What reads pictures is imported with the first folder: numpy and Pillow would hold up the welcome.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.core.check import with_classes
from studio.core.problem import Problem
from studio.core.project import Data, Project
from studio.core.templates import default_network
from studio.core.text import tr
from studio.dataset.progress import IsCancelled, Progress, ReportProgress
from studio.view.background import BackgroundTask
from studio.view.document import Document

if TYPE_CHECKING:
    from studio.dataset.index import Index
    from studio.dataset.inspect import Inspection
    from studio.dataset.split import Split

CHOOSE_FOLDER = "choose-folder"
# Splitting and repairing so many takes about 40 ms; more is done off the window's thread.
_AT_ONCE = 10_000


class Pictures(QObject):
    """What is known of the project's folder so far.

    `index` comes first (names and labels, no file opened), `inspection` and `split` when every picture was decoded
    once. `changed()` follows each of these and every start and end; `progressed(Progress)` the work in between.
    `replaced(Project)` gives the project as it was before it took its pictures from another folder than before.
    """

    changed = Signal()
    progressed = Signal(object)
    replaced = Signal(object)
    _found_index = Signal(object, object)

    def __init__(self, document: Document, cache_folder: Path) -> None:
        super().__init__()
        self._document = document
        self._cache_folder = cache_folder
        self._task: BackgroundTask | None = None
        self._token: object = None
        self._chosen_folder = ""  # until it has been looked at for the first time
        self._found_index.connect(self._on_index)
        self.index: Index | None = None
        self.inspection: Inspection | None = None
        self.split: Split | None = None
        self._problems: tuple[Problem, ...] = ()
        self.error: Exception | None = None
        self.progress: Progress | None = None
        document.changed.connect(self._on_project)

    @property
    def is_busy(self) -> bool:
        return self._task is not None

    @property
    def premature_codes(self) -> frozenset[str]:
        """The codes of problems that are none yet: while pictures are looked at, their classes are not known."""
        return frozenset({"project.too_few_classes", "block.no_classes"}) if self.is_busy else frozenset()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the scan and the inspection found, worst first as they give it."""
        if self.inspection is not None:
            return self._problems
        return self.index.problems if self.index is not None else ()

    def choose(self, folder: Path) -> None:
        """Make `folder` the project's pictures: one undoable step, into which what is found there is merged.

        A project without a network gets the usual one in the same step. The same folder again is looked at again.
        """
        before = self._document.project
        if before.data.folder == str(folder):
            self.rescan()
            return
        self._chosen_folder = str(folder)
        # Nobody has named or saved a project that is called after its folder and has no file.
        is_fresh = self._document.path is None and before.name in ("", Path(before.data.folder).name)

        def edit(project: Project) -> Project:
            data = Data(str(folder), validation_share=project.data.validation_share)
            network = project.network if project.network.blocks else default_network()
            name = folder.name if is_fresh or not project.name else project.name
            return replace(project, data=data, network=network, name=name)

        self._document.edit(tr("Choose pictures"), edit, merge=CHOOSE_FOLDER)
        if before.data.folder and not is_fresh:
            self.replaced.emit(before)

    def rescan(self) -> None:
        """Look at the folder again, whatever is known of it."""
        self.cancel()
        data = self._document.project.data
        self.index = self.inspection = self.split = self.error = self.progress = None
        if not data.folder:
            self.changed.emit()
            return

        token = object()

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[Index, Inspection]:
            from studio.dataset.inspect import inspect
            from studio.dataset.scan import scan

            index = scan(Path(data.folder), reading=data.reading, progress=report, cancelled=is_cancelled)
            self._found_index.emit(token, index)
            return index, inspect(index, self._cache_folder, progress=report, cancelled=is_cancelled)

        task = BackgroundTask("pictures", work)
        task.progressed.connect(lambda progress: self._on_progress(task, progress))
        task.done.connect(lambda found: self._on_inspected(task, *found))
        task.failed.connect(lambda error: self._on_failed(task, error))
        task.cancelled.connect(lambda: self._on_cancelled(task))
        self._task, self._token = task, token
        task.start()
        self.changed.emit()

    def cancel(self) -> None:
        """Stop looking; what is known so far stays."""
        if self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            self.changed.emit()

    def _on_progress(self, task: BackgroundTask, progress: Progress) -> None:
        if task is self._task:
            self.progress = progress
            self.progressed.emit(progress)

    def _on_index(self, token: object, index: Index) -> None:
        """The names and labels are known while the files are still being opened."""
        if self._task is not None and token is self._token:
            self.index = index
            self.changed.emit()

    def _on_inspected(self, task: BackgroundTask, index: Index, inspection: Inspection) -> None:
        if task is not self._task:
            return
        self._task, self.progress = None, None
        self.index, self.inspection, self._problems = index, inspection, inspection.problems
        self._record(inspection)
        self._consider(inspection)
        self.changed.emit()

    def _consider(self, inspection: Inspection) -> None:
        """Apply the project's repairs and split, at once or, for large sets, off the window's thread."""
        data = self._document.project.data

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[Inspection, Split, tuple[Problem, ...]]:
            from studio.dataset.repairs import repaired
            from studio.dataset.report import problems_of
            from studio.dataset.split import split

            mended = repaired(inspection, data)
            parts = split(mended, data)
            return mended, parts, problems_of(mended, parts)

        if len(inspection.index.pictures) <= _AT_ONCE:
            self.inspection, self.split, self._problems = work(lambda _: None, lambda: False)
            self.index = self.inspection.index
            return
        task = BackgroundTask("split", work)
        task.done.connect(lambda found: self._on_considered(data, *found))
        task.failed.connect(lambda error: self._on_failed(self._task, error))
        task.start()

    def _on_considered(self, data: Data, inspection: Inspection, parts: Split, problems: tuple[Problem, ...]) -> None:
        """Take the result over, unless the project has moved on."""
        if data == self._document.project.data and self.inspection is not None:
            self.index, self.inspection, self.split, self._problems = inspection.index, inspection, parts, problems
            self.changed.emit()

    def _record(self, inspection: Inspection) -> None:
        """Write what the folder holds into the project: its classes and, at the first look, a fitting working size."""
        from studio.dataset.suggest import suggest_preprocessing

        project = self._document.project
        classes = inspection.index.classes
        is_first = project.data.folder == self._chosen_folder
        self._chosen_folder = ""
        if project.data.classes == classes and not is_first:
            return

        def edit(old: Project) -> Project:
            new = with_classes(old, classes)
            return replace(new, preprocessing=suggest_preprocessing(inspection, new.preprocessing)) if is_first else new

        self._document.edit(tr("Choose pictures"), edit, merge=CHOOSE_FOLDER)
        self._document.seal()

    def _on_failed(self, task: BackgroundTask | None, error: Exception) -> None:
        if task is self._task:
            self._task, self.error = None, error
            self.changed.emit()

    def _on_cancelled(self, task: BackgroundTask) -> None:
        if task is self._task:
            self._task = None
            self.changed.emit()

    def _on_project(self, old: Project, new: Project) -> None:
        if (old.data.folder, old.data.reading) != (new.data.folder, new.data.reading):
            self.rescan()
        elif old.data != new.data and self.inspection is not None:
            self._consider(self.inspection)
            self.changed.emit()
