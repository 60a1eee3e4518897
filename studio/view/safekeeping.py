"""Nothing is lost: recovery copies while work is unsaved, and what happens when a bug comes up."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from studio.core.text import tr
from studio.view.crash import BugCatcher, BugDialog
from studio.view.notices import NoticeBar
from studio.view.recovery import RecoveryCopy, RecoveryFile, left_behind
from studio.view.report import private_words
from studio.view.welcome import Welcome
from studio.view.workspace import Workspace

_EVERY_MS = 30_000


class Safekeeping(QObject):
    """Keeps a recovery copy of unsaved work and shows uncaught exceptions as reports."""

    def __init__(self, workspace: Workspace, window: QWidget, notices: NoticeBar) -> None:
        super().__init__(window)
        self._workspace, self._window, self._notices = workspace, window, notices
        self._folder = workspace.folders.data / "recovery"
        self.file = RecoveryFile(self._folder)
        self.catcher = BugCatcher(self.keep, self._private)
        self.catcher.caught.connect(self._show)
        self._dialog: BugDialog | None = None
        self._has_complained = False
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY_MS)
        self._timer.timeout.connect(self.keep)
        workspace.document.saved_changed.connect(self._on_saved)

    def start(self) -> None:
        self._timer.start()
        self.catcher.install()

    def stop(self) -> None:
        self._timer.stop()
        self.catcher.remove()

    def keep(self) -> bool:
        """Write the copy where there is unsaved work; False where it cannot be written.

        A full disk is said once and never interrupts.
        """
        document = self._workspace.document
        if document.is_saved or document.is_untouched:
            return True
        try:
            self.file.write(document.project, document.path)
        except OSError as error:
            if not self._has_complained:
                self._has_complained = True
                reason = error.strerror or str(error)
                text = tr("No recovery copy can be kept in {folder}: {reason}", folder=self._folder, reason=reason)
                self._notices.say(text, "warning")
            return False
        return True

    def report(self, error: Exception) -> None:
        """Treat an exception that was caught as the bug that it is."""
        self.catcher.take(type(error), error, error.__traceback__)

    def offer(self, welcome: Welcome) -> None:
        """Show on the welcome what windows that are gone left behind."""

        def forget(copy: RecoveryCopy) -> None:
            # Recovered work is unsaved: it is kept anew before the copy that it came from goes.
            if self.keep():
                copy.file.unlink(missing_ok=True)
            welcome.show_recovered(left_behind(self._folder), forget)

        welcome.show_recovered(left_behind(self._folder), forget)

    def _on_saved(self) -> None:
        if self._workspace.document.is_saved:
            self.file.remove()

    def _private(self) -> tuple[tuple[str, str], ...]:
        workspace = self._workspace
        document = workspace.document
        return private_words(
            [
                (document.project.data.folder, "<pictures>"),
                (document.path.parent if document.path else "", "<project>"),
                (workspace.folders.runs, "<runs>"),
                (workspace.folders.data, "<data>"),
                (workspace.folders.cache, "<cache>"),
                (workspace.folders.config, "<config>"),
                (document.project.name if document.path else "", "<name>"),
            ]
        )

    def _show(self, report: str) -> None:
        if self._dialog is None:
            self._dialog = BugDialog(self._window)
        self._dialog.show_report(report)
