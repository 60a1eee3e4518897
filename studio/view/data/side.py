"""The right column of the Data page: findings, working size with its preview, the split, and augmentation."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.core.edits import SetPart
from studio.core.fields import Value
from studio.core.project import Data, Preprocessing, fields_of
from studio.core.quantities import share_text
from studio.core.text import tr
from studio.view.data.findings import Findings
from studio.view.data.preview import Preview
from studio.view.data.variations import Variations
from studio.view.form import Form
from studio.view.pieces import card, wrapped
from studio.view.scroll import ColumnScroll
from studio.view.workspace import Workspace

SIDE_WIDTH_PX = 380
_LEAST_WIDTH_PX = 366


class SettingsColumn(ColumnScroll):
    """What can be set about the pictures, beside what was found in them. `show_files(problem)` follows a finding."""

    show_files = Signal(object)

    def __init__(self, workspace: Workspace) -> None:
        inner = QWidget()
        inner.setMinimumWidth(_LEAST_WIDTH_PX)
        super().__init__(inner)
        self._workspace = workspace
        self._path: Path | None = None
        self._findings = Findings()
        self._findings.show_files.connect(self.show_files)
        self._findings.fix_wanted.connect(workspace.document.apply_fix)
        self._preview = Preview()
        self._preprocessing = Form(fields_of(Preprocessing))
        self._preprocessing.edited.connect(self._edit_preprocessing)
        self._data = Form(fields_of(Data))
        self._data.edited.connect(self._edit_data)
        self._variations = Variations(workspace)
        self._split_text = wrapped("", "muted")
        column = QVBoxLayout(inner)
        column.setContentsMargins(8, 0, 14, 0)
        column.setSpacing(12)
        column.addWidget(card(tr("Findings"), self._findings))
        column.addWidget(card(tr("Working size"), self._preprocessing, self._preview))
        column.addWidget(card(tr("Split"), self._data, self._split_text))
        column.addWidget(card(tr("Augmentation"), self._variations))
        column.addStretch(1)

    def refresh(self) -> None:
        """Show what the project and its pictures say now."""
        project, pictures = self._workspace.document.project, self._workspace.pictures
        for form, part in ((self._preprocessing, project.preprocessing), (self._data, project.data)):
            form.show_values({field.name: getattr(part, field.name) for field in fields_of(part)})
        if pictures.error is not None:
            empty = tr("The folder could not be read: {reason}", reason=str(pictures.error))
        elif pictures.inspection is not None:
            empty = tr("Nothing to complain about: every picture can be used.")
        elif pictures.is_busy:
            empty = tr("Every picture is being opened once. Trouble will be listed here.")
        else:
            empty = tr("The pictures were not looked at to the end. “Look again” goes on.")
        self._findings.show_problems(pictures.problems, empty)
        self._split_text.setText(self._split_sentence())
        self.preview(self._path)

    def preview(self, path: Path | None) -> None:
        """Show what the network makes of the picture at `path`."""
        self._path = path
        if path is None:
            self._preview.clear()
        else:
            self._preview.show_picture(path, self._workspace.document.project.preprocessing)
        self._variations.refresh(path)

    def _edit_preprocessing(self, name: str, value: Value) -> None:
        edit = SetPart("preprocessing", name, value)
        self._workspace.document.edit(tr("Change the working size"), edit.apply, merge=f"preprocessing.{name}")

    def _edit_data(self, name: str, value: Value) -> None:
        edit = SetPart("data", name, value)
        self._workspace.document.edit(tr("Change the split"), edit.apply, merge=f"data.{name}")

    def _split_sentence(self) -> str:
        split = self._workspace.pictures.split
        if split is None:
            return tr("The split is decided by the content of each picture, so that copies never end up on both sides.")
        total = len(split.train) + len(split.validation)
        text = tr(
            "{train:,} pictures to learn from, {validation:,} ({share}) to check with. Copies of a picture are always "
            "on the same side.",
            train=len(split.train),
            validation=len(split.validation),
            share=share_text(len(split.validation) / total if total else 0.0),
        )
        if not len(split.test):
            return text
        return text + " " + tr("{n:,} test pictures are kept apart.", n=len(split.test))
