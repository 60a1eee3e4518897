"""The recipe as a form: optimiser, learning rate, epochs, batch, device, and where the run is hosted."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import Any, cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox

from studio.core.fields import Value
from studio.core.problem import Problem
from studio.core.project import Project, Recipe, fields_of
from studio.core.settings import Settings
from studio.core.text import tr
from studio.view.devices import Device, devices_of
from studio.view.form import Form
from studio.view.pieces import Card, wrapped
from studio.view.train.devices import device_field
from studio.view.workspace import Workspace

_ASK_MS = 100


class RecipeCard(Card):
    """The form over the open project's recipe. `devices_changed()` follows the engine's answer."""

    devices_changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.devices: tuple[Device, ...] = ()
        self._question: Future[Any] | None = None
        recipe = workspace.document.project.recipe
        launcher = next(field for field in fields_of(Settings) if field.name == "launcher")
        fields = [f for f in fields_of(Recipe) if f.name != "device"]
        plain = [f for f in fields if not f.advanced]
        advanced = [f for f in fields if f.advanced]
        self.form = Form([*plain, device_field((), recipe.device), launcher, *advanced])
        self.form.edited.connect(self._on_edited)
        self.column.addWidget(wrapped(tr("Recipe"), "heading"))
        self.column.addWidget(self.form)
        self.note = wrapped(tr("Changes apply to the next run."), "muted")
        self.note.setObjectName("recipe.note")
        self.note.setVisible(False)
        self.column.addWidget(self.note)
        self._asker = QTimer(self)
        self._asker.setInterval(_ASK_MS)
        self._asker.timeout.connect(self._look_for_answer)
        workspace.document.changed.connect(self._on_project)
        workspace.settings.changed.connect(lambda _old, new: self.form.show_values({"launcher": new.launcher}))
        self._show(recipe)
        self.form.show_values({"launcher": workspace.settings.value.launcher})

    def ask_devices(self) -> None:
        """Ask the engine once what this machine has; the answer comes later, without waiting for it."""
        if self._question is None:
            self._question = self._workspace.engine.devices()
            self._asker.start()

    def _look_for_answer(self) -> None:
        if self._question is None or not self._question.done():
            return
        self._asker.stop()
        answer = self._question.result()
        if isinstance(answer, Problem):
            # The engine may be mended later: ask again the next time the page is shown.
            self._question = None
            return
        self.devices = devices_of(answer)
        self._offer_devices()
        self.devices_changed.emit()

    def _offer_devices(self) -> None:
        editor = self.form.editors["device"]
        present = self._workspace.document.project.recipe.device
        editor.field = device_field(self.devices, present)
        combo = cast(QComboBox, editor.input)
        combo.blockSignals(True)
        combo.clear()
        for number, choice in enumerate(editor.field.choices):
            combo.addItem(choice.label, choice.value)
            combo.setItemData(number, f"{choice.label}\n{choice.help}".strip(), Qt.ItemDataRole.ToolTipRole)
        combo.blockSignals(False)
        editor.show_value(present)

    def show_running(self, running: Project | None) -> None:
        """Say that changes apply to the next run while `running` goes on, and whether there are any."""
        self.note.setVisible(running is not None)
        if running is not None:
            is_changed = running.recipe != self._workspace.document.project.recipe
            changed = tr("Changed. The run that goes on keeps its settings; yours apply to the next one.")
            self.note.setText(changed if is_changed else tr("Changes apply to the next run."))

    def _show(self, recipe: Recipe) -> None:
        known = {choice.value for choice in self.form.editors["device"].field.choices}
        if recipe.device not in known:
            self._offer_devices()
        self.form.show_values({field.name: getattr(recipe, field.name) for field in fields_of(Recipe)})

    def _on_project(self, old: Project, new: Project) -> None:
        if old.recipe is not new.recipe:
            self._show(new.recipe)

    def _on_edited(self, name: str, value: Value) -> None:
        if name == "launcher":
            settings = self._workspace.settings
            settings.change(replace(settings.value, **{name: value}))  # type: ignore[arg-type]  # the form's limits
            return
        field = self.form.editors[name].field

        def edit(project: Project) -> Project:
            return replace(project, recipe=replace(project.recipe, **{name: value}))  # type: ignore[arg-type]  # as above

        self._workspace.document.edit(tr("Change {field}", field=tr(field.label)), edit, merge=f"recipe.{name}")
