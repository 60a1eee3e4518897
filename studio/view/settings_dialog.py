"""The settings, made from their declaration; every change holds at once and is kept."""

from __future__ import annotations

import dataclasses

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from studio.core.fields import Value
from studio.core.project import fields_of
from studio.core.settings import Settings
from studio.core.text import tr
from studio.view.form import Form
from studio.view.workspace import SettingsHolder


class SettingsDialog(QDialog):
    """Stays open beside the window; a form over `Settings`."""

    def __init__(self, settings: SettingsHolder, parent: QWidget) -> None:
        super().__init__(parent)
        self._settings = settings
        self.setObjectName("settings")
        self.setWindowTitle(tr("Settings"))
        self.setMinimumWidth(480)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(22, 20, 22, 16)
        column.setSpacing(14)
        title = QLabel(tr("Settings"))
        title.setProperty("role", "title")
        note = QLabel(
            tr("Changes hold at once, for all projects. Another language is used when the window next opens.")
        )
        note.setProperty("role", "muted")
        note.setWordWrap(True)
        self.form = Form(fields_of(Settings))
        self.form.edited.connect(self._on_edited)
        self.form.unfolded.connect(lambda _: self._on_unfolded())
        buttons = QDialogButtonBox()
        close = buttons.addButton(tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        close.setToolTip(tr("Everything is kept already."))
        buttons.rejected.connect(self.close)
        column.addWidget(title)
        column.addWidget(note)
        column.addWidget(self.form)
        column.addStretch(1)
        column.addWidget(buttons)
        settings.changed.connect(lambda *_: self._show())
        self._show()

    def _show(self) -> None:
        value = self._settings.value
        self.form.show_values({field.name: getattr(value, field.name) for field in fields_of(Settings)})

    def _on_unfolded(self) -> None:
        """Room for what was unfolded, and none left over for what was folded away."""
        self._column.invalidate()
        self._column.activate()
        needed = self._column.totalHeightForWidth(self.width())
        self.resize(self.width(), max(needed, self.minimumSizeHint().height()))

    def _on_edited(self, name: str, value: Value) -> None:
        self._settings.change(dataclasses.replace(self._settings.value, **{name: value}))  # type: ignore[arg-type]
