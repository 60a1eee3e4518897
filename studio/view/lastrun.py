"""Shows, with a project that is opened, the newest of its runs: who comes back finds what was reached."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject

from studio.core.project import Project, ProjectUnreadable, load_project
from studio.dataset.progress import IsCancelled, ReportProgress
from studio.runs.catalogue import is_run_of, list_runs
from studio.runs.folder import project_file
from studio.view.background import BackgroundTask
from studio.view.workspace import Workspace


class LastRun(QObject):
    """Follows the openings of projects. A run that goes on in this window stays on the screen."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._task: BackgroundTask | None = None
        workspace.document.opened.connect(self._on_opened)

    def _on_opened(self) -> None:
        training, project = self._workspace.training, self._workspace.document.project
        if training.is_active:
            return
        training.close()
        self._task = None
        if not project.data.folder:
            return
        runs_root = self._workspace.folders.runs

        def work(report: ReportProgress, is_cancelled: IsCancelled) -> tuple[Path, Project | None] | None:
            return newest_of(project, runs_root)

        task = BackgroundTask("last-run", work)
        task.done.connect(lambda found: self._on_found(task, found))
        self._task = task
        task.start()

    def _on_found(self, task: BackgroundTask, found: tuple[Path, Project | None] | None) -> None:
        training = self._workspace.training
        is_overtaken = task is not self._task or training.run_folder is not None
        if found is not None and not is_overtaken:
            training.open(*found)


def newest_of(project: Project, runs_root: Path) -> tuple[Path, Project | None] | None:
    """The folder of the project's newest run that has said something, with what it ran; None where there is none."""
    own = (run for run in list_runs(runs_root) if run.outcome != "new" and is_run_of(run, project))
    newest = next(own, None)
    if newest is None:
        return None
    what = None
    with suppress(ProjectUnreadable):
        what = load_project(project_file(newest.folder))
    return newest.folder, what
