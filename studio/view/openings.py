"""Every way in which something comes into the window: a project, a run, a folder of pictures, a picture, the sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from studio.core.project import (
    PROJECT_SUFFIX,
    Data,
    Preprocessing,
    Project,
    ProjectUnreadable,
    load_project,
)
from studio.core.templates import default_network
from studio.core.text import tr
from studio.dataset.formats import PICTURE_SUFFIXES, suffix_of
from studio.dataset.labels import shown
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.dataset.sample import SAMPLE_NAME, unpack_sample
from studio.runs.catalogue import RunSummary, list_runs
from studio.runs.folder import find_run, is_run, project_file
from studio.view.background import BackgroundTask
from studio.view.filedialogs import Purpose, file_dialog
from studio.view.notices import NoticeBar
from studio.view.question import Answer, ask
from studio.view.recovery import RecoveryCopy
from studio.view.workspace import Workspace

What = Literal["project", "run", "folder", "picture", "missing", "unknown"]

_RECENT = 8


def what_is(path: Path) -> What:
    """What a path that was dropped or given on the command line stands for."""
    try:
        if is_run(path):
            return "run"
        if path.is_dir():
            return "folder"
        if not path.exists():
            return "missing"
    except OSError:
        return "missing"
    if path.suffix.lower() == ".json":
        return "project"
    return "picture" if suffix_of(path.name) in PICTURE_SUFFIXES else "unknown"


class Openings(QObject):
    """`unpacking(bool)` follows the start and end of the sample's unpacking."""

    unpacking = Signal(bool)

    def __init__(self, workspace: Workspace, notices: NoticeBar, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._notices, self._window = workspace, notices, window
        self._task: BackgroundTask | None = None

    def new(self) -> None:
        """An empty project: the welcome."""
        self.guard(self._new)

    def _new(self) -> None:
        self._workspace.document.open(Project())
        self._workspace.navigator.go("data")

    def open_path(self, path: Path) -> None:
        """Open whatever `path` is."""
        match what_is(path):
            case "project":
                self.open_project(path)
            case "run":
                self.open_run(path)
            case "folder":
                self.choose_folder(path)
            case "picture":
                self.classify(path)
            case "missing":
                self._notices.say(tr("{path} is not there (any more). Was it moved or renamed?", path=path), "error")
            case "unknown":
                text = tr(
                    "{name} is nothing that can be opened here: a folder of pictures, a project (*{suffix}), a run's "
                    "folder or a picture can.",
                    name=path.name,
                    suffix=PROJECT_SUFFIX,
                )
                self._notices.say(text, "warning")

    def open_project(self, path: Path) -> None:
        self.guard(lambda: self._open_project(path))

    def _open_project(self, path: Path) -> None:
        run = find_run(str(path), path.parent)
        try:
            project = load_project(path)
        except ProjectUnreadable as error:
            self._notices.say(str(error), "error")
            return
        self._notices.hide()
        if run is not None:
            self._show_run(run, project)
            return
        self._workspace.document.open(project, path)
        self._remember(path)
        self._workspace.navigator.go("data")

    def open_run(self, folder: Path) -> None:
        """Show a run's record, with the project that it ran."""
        try:
            project = load_project(project_file(folder))
        except ProjectUnreadable as error:
            self._notices.say(str(error), "error")
            return
        self.guard(lambda: self._show_run(folder, project))

    def _show_run(self, folder: Path, project: Project) -> None:
        if self._workspace.training.is_active:
            self._notices.say(
                tr("A run goes on. Stop it, or wait for its end, before another one is opened."), "warning"
            )
            return
        self._workspace.document.open(project)
        self._workspace.training.open(folder, project)
        self._workspace.navigator.go("train")

    def offer_running(self) -> None:
        """Say so where a run goes on without this window: of one that is gone, another one, or the terminal."""
        runs_root = self._workspace.folders.runs

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> list[RunSummary]:
            return [run for run in list_runs(runs_root) if run.outcome == "running"]

        task = BackgroundTask("running", work)
        task.done.connect(self._on_running)
        task.start()

    def _on_running(self, runs: list[RunSummary]) -> None:
        if runs and self._workspace.training.run_folder is None:
            text = tr("A run of “{name}” goes on.", name=shown(runs[0].name))
            self._notices.say(text, "good", tr("Show it"), lambda: self.open_run(runs[0].folder))

    def choose_folder(self, folder: Path) -> None:
        """Make `folder` the project's pictures."""
        self._workspace.pictures.choose(folder.absolute())
        self._workspace.navigator.go("data")

    def classify(self, picture: Path) -> None:
        self._workspace.navigator.go("results", f"classify:{picture.absolute()}")

    def open_sample(self) -> None:
        """Unpack the sample, which takes about a second, and open it as a project."""
        if self._task is None:
            self.guard(self._unpack)

    def _unpack(self) -> None:
        data = self._workspace.folders.data

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> Path:
            return unpack_sample(data / "sample")

        self._task = BackgroundTask("sample", work)
        self._task.done.connect(self._open_sample)
        self._task.failed.connect(self._on_sample_failed)
        self._task.start()
        self.unpacking.emit(True)

    def _open_sample(self, folder: Path) -> None:
        self._task = None
        classes = tuple(sorted(entry.name for entry in folder.iterdir() if entry.is_dir()))
        project = Project(
            SAMPLE_NAME,
            Data(str(folder), classes=classes),
            Preprocessing(height=28, width=28, channels="grey"),
            default_network(),
        )
        self.unpacking.emit(False)
        self._workspace.document.open(project)
        self._workspace.navigator.go("data")

    def _on_sample_failed(self, error: Exception) -> None:
        self._task = None
        self.unpacking.emit(False)
        self._notices.say(tr("The sample could not be unpacked: {reason}", reason=str(error)), "error")

    def recover(self, copy: RecoveryCopy) -> None:
        """Open the project that a crashed window left behind, as unsaved work."""
        self._workspace.document.open(copy.project, copy.path, saved=False)
        self._workspace.navigator.go("data")

    def save(self, *, then: Callable[[], None] | None = None, otherwise: Callable[[], None] | None = None) -> None:
        """Save where it was opened from, or ask for a place; then `then`, or `otherwise` where it was not saved."""
        path = self._workspace.document.path
        if path is None:
            self.save_as(then=then, otherwise=otherwise)
        else:
            self.save_to(path, then, otherwise)

    def save_to(
        self, path: Path, then: Callable[[], None] | None = None, otherwise: Callable[[], None] | None = None
    ) -> None:
        path = path if path.name.lower().endswith(".json") else path.with_name(path.name + PROJECT_SUFFIX)
        try:
            self._workspace.document.save(path)
        except OSError as error:
            reason = error.strerror or str(error)
            text = tr("{path} could not be saved: {reason}. Choose another place.", path=path, reason=reason)
            self._notices.say(text, "error", tr("Save as…"), self.save_as)
            (otherwise or _nothing)()
            return
        self._remember(path)
        if then is not None:
            then()
        else:
            self._notices.say(tr("Saved as {path}", path=path))

    def save_as(self, *, then: Callable[[], None] | None = None, otherwise: Callable[[], None] | None = None) -> None:
        dialog = self._dialog(tr("Save the project"), "project", QFileDialog.FileMode.AnyFile)
        dialog.setNameFilter(_filter())
        name = self._workspace.document.project.name or "project"
        dialog.selectFile(name + PROJECT_SUFFIX)
        dialog.fileSelected.connect(lambda path: self.save_to(Path(path), then, otherwise))
        dialog.rejected.connect(otherwise or _nothing)
        dialog.open()

    def open_dialog(self) -> None:
        dialog = self._dialog(tr("Open a project"), "project", QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(_filter())
        dialog.fileSelected.connect(lambda path: self.open_project(Path(path)))
        dialog.open()

    def open_run_dialog(self) -> None:
        dialog = self._dialog(tr("Open a run's folder"), "pictures", QFileDialog.FileMode.Directory)
        dialog.setDirectory(str(self._workspace.folders.runs))
        dialog.fileSelected.connect(lambda path: self.open_run(Path(path)))
        dialog.open()

    def choose_folder_dialog(self) -> None:
        dialog = self._dialog(tr("Choose a folder of pictures"), "pictures", QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda path: self.choose_folder(Path(path)))
        dialog.open()

    def _dialog(self, title: str, purpose: Purpose, mode: QFileDialog.FileMode) -> QFileDialog:
        folder = self._workspace.document.project.data.folder
        start = Path(folder).parent if folder and purpose == "pictures" else None
        return file_dialog(self._window, self._workspace.settings, title, purpose, mode, start=start)

    def guard(self, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        """Do `then`, after asking about unsaved work where there is some; `otherwise` follows a refusal."""
        document = self._workspace.document
        if document.is_saved or document.is_untouched:
            then()
            return
        name = document.project.name or tr("this project")
        ask(
            self._window,
            tr("Save the changes to {name}?", name=name),
            tr("They are lost otherwise."),
            [
                Answer("save", tr("Save"), "accept", lambda: self.save(then=then, otherwise=otherwise)),
                Answer("discard", tr("Don’t save"), "discard", then),
                Answer("cancel", tr("Cancel"), "cancel", otherwise or _nothing),
            ],
        )

    def _remember(self, path: Path) -> None:
        settings = self._workspace.settings
        shown = str(path.absolute())
        recent = (shown, *(other for other in settings.value.recent if other != shown))[:_RECENT]
        settings.change(replace(settings.value, recent=recent))

    def forget(self, path: str) -> None:
        """Take a project out of the recent ones; its file stays."""
        settings = self._workspace.settings
        settings.change(replace(settings.value, recent=tuple(p for p in settings.value.recent if p != path)))


def _filter() -> str:
    return tr("Projects") + f" (*{PROJECT_SUFFIX} *.json)"


def _nothing() -> None:
    """A refusal that needs nothing done."""
