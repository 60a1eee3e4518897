"""Forms made from declared fields: one widget per field, limits and help included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QStyledItemDelegate,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.core.fields import Field, Value
from studio.core.text import tr
from studio.view.theme import set_role

_INT_LIMIT = 2**31 - 1


class _CalmWheel:
    """A wheel over a field that has no focus scrolls the page instead of changing the value."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if cast(QWidget, self).hasFocus():
            super().wheelEvent(event)  # type: ignore[misc]  # the widget class beside this one
        else:
            event.ignore()


# The style sheet's padding does not reach the text of a spin box.
_TEXT_MARGIN_PX = 4


class CalmSpin(_CalmWheel, QSpinBox):
    """A whole-number field with a calm wheel."""

    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(_TEXT_MARGIN_PX, 0, 0, 0)


class CalmDoubleSpin(_CalmWheel, QDoubleSpinBox):
    """A number field with a calm wheel; zeros at the end are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(_TEXT_MARGIN_PX, 0, 0, 0)

    def textFromValue(self, value: float) -> str:
        text = super().textFromValue(value)
        return text.rstrip("0").rstrip(".") if "." in text else text


class CalmCombo(_CalmWheel, QComboBox):
    """A choice field with a calm wheel; its list opens below and shows every entry whole."""

    def __init__(self) -> None:
        super().__init__()
        # The list's own delegate ignores the style sheet's row height.
        self.setItemDelegate(QStyledItemDelegate(self))


class ScientificEdit(QLineEdit):
    """A number over many orders of magnitude, typed as 0.001 or 1e-3; the up and down keys double and halve it."""

    number_changed = Signal(float)

    def __init__(self, minimum: float, maximum: float) -> None:
        super().__init__()
        self._minimum, self._maximum = minimum, maximum
        self.editingFinished.connect(self._commit)
        self.textEdited.connect(self._mark)

    def number(self) -> float | None:
        try:
            value = float(self.text().strip().replace(",", "."))
        except ValueError:
            return None
        return value if self._minimum <= value <= self._maximum else None

    def set_number(self, value: float) -> None:
        if self.number() != value:
            self.setText(f"{value:g}")
        set_role(self, "")

    def keyPressEvent(self, event: object) -> None:
        key = event.key()  # type: ignore[attr-defined]  # QKeyEvent
        value = self.number()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and value is not None:
            changed = value * (2 if key == Qt.Key.Key_Up else 0.5)
            self.set_number(min(self._maximum, max(self._minimum, changed)))
            self._commit()
            return
        super().keyPressEvent(event)  # type: ignore[arg-type]  # QKeyEvent

    def _mark(self) -> None:
        set_role(self, "" if self.number() is not None else "error")

    def _commit(self) -> None:
        value = self.number()
        if value is not None:
            self.number_changed.emit(value)


class FieldEditor(QWidget):
    """The widget of one field. `edited(value)` follows what the person does, never what `show_value` sets."""

    edited = Signal(object)

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self._is_showing = False
        self._none_box: QCheckBox | None = None
        # What stands for "no value" goes below the input, so that the form fits into a narrow panel.
        row = QVBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self.input = self._make_input()
        self.input.setAccessibleName(tr(field.label))
        self.input.setToolTip(tr(field.help))
        self.input.setObjectName(f"field.{field.name}")
        row.addWidget(self.input)
        if field.optional:
            self._none_box = QCheckBox(tr(field.none_label))
            self._none_box.setToolTip(tr(field.help))
            self._none_box.setAccessibleName(tr(field.label) + ": " + tr(field.none_label))
            self._none_box.setObjectName(f"field.{field.name}.none")
            self._none_box.toggled.connect(self._on_none)
            row.addWidget(self._none_box)
        self.setFocusProxy(self.input)

    def _make_input(self) -> QWidget:
        field = self.field
        match field.kind:
            case "int":
                return self._spin()
            case "float":
                return self._scientific() if field.logarithmic else self._double()
            case "bool":
                box = QCheckBox()
                box.toggled.connect(self._emit)
                return box
            case "choice":
                combo = CalmCombo()
                combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
                combo.setMinimumContentsLength(10)
                for number, choice in enumerate(field.choices):
                    combo.addItem(tr(choice.label), choice.value)
                    if choice.help:
                        combo.setItemData(number, tr(choice.help), Qt.ItemDataRole.ToolTipRole)
                combo.currentIndexChanged.connect(lambda: self._emit(combo.currentData()))
                return combo
            case "text":
                line = QLineEdit()
                line.editingFinished.connect(lambda: self._emit(line.text()))
                return line

    def _spin(self) -> QWidget:
        spin = CalmSpin()
        spin.setLocale(QLocale.c())
        spin.setRange(int(self.field.minimum or 0), int(min(self.field.maximum or _INT_LIMIT, _INT_LIMIT)))
        spin.setSuffix(" " + tr(self.field.unit) if self.field.unit else "")
        spin.setKeyboardTracking(False)
        spin.valueChanged.connect(self._emit)
        return spin

    def _double(self) -> QWidget:
        spin = CalmDoubleSpin()
        spin.setLocale(QLocale.c())
        spin.setDecimals(4)
        spin.setRange(self.field.minimum or 0.0, self.field.maximum if self.field.maximum is not None else 1e12)
        spin.setSingleStep(0.05 if (self.field.maximum or 2) <= 1 else 1.0)
        spin.setSuffix(" " + tr(self.field.unit) if self.field.unit else "")
        spin.setKeyboardTracking(False)
        spin.valueChanged.connect(self._emit)
        return spin

    def _scientific(self) -> QWidget:
        line = ScientificEdit(self.field.minimum or 0.0, self.field.maximum or 1e12)
        line.number_changed.connect(self._emit)
        return line

    def show_value(self, value: Value) -> None:
        """Show `value` without emitting `edited`."""
        self._is_showing = True
        try:
            if self._none_box is not None:
                self._none_box.setChecked(value is None)
                self.input.setEnabled(value is not None)
            if value is not None:
                self._show_in_input(value)
        finally:
            self._is_showing = False

    def _show_in_input(self, value: Value) -> None:
        match self.input:
            case QSpinBox():
                self.input.setValue(int(cast(int, value)))
            case QDoubleSpinBox():
                if abs(self.input.value() - float(cast(float, value))) > 1e-9:
                    self.input.setValue(float(cast(float, value)))
            case ScientificEdit():
                self.input.set_number(float(cast(float, value)))
            case QCheckBox():
                self.input.setChecked(bool(value))
            case QComboBox():
                self.input.setCurrentIndex(max(0, self.input.findData(value)))
            case QLineEdit():
                if self.input.text() != value:
                    self.input.setText(str(value))

    def _on_none(self, is_none: bool) -> None:
        self.input.setEnabled(not is_none)
        if is_none:
            self._emit(None)
        elif isinstance(self.input, (QSpinBox, QDoubleSpinBox)):
            self._emit(self.input.value())

    def _emit(self, value: Value) -> None:
        if not self._is_showing and (value is None or self.field.accepts(value)):
            self.edited.emit(value)


class Form(QWidget):
    """The fields of one thing, the advanced ones folded away.

    `edited(name, value)` follows each change, `unfolded(bool)` the button that shows the advanced ones.
    """

    edited = Signal(str, object)
    unfolded = Signal(bool)

    def __init__(self, fields: Iterable[Field]) -> None:
        super().__init__()
        declared = tuple(fields)
        self.editors: dict[str, FieldEditor] = {}
        outer = self._outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(self._rows(field for field in declared if not field.advanced))
        advanced = [field for field in declared if field.advanced]
        if advanced:
            outer.addWidget(self._folded(advanced))

    def _rows(self, fields: Iterable[Field]) -> QFormLayout:
        rows = QFormLayout()
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        rows.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        for field in fields:
            editor = FieldEditor(field)
            editor.edited.connect(self._forward(field.name))
            self.editors[field.name] = editor
            label = QLabel(tr(field.label))
            label.setToolTip(tr(field.help))
            label.setBuddy(editor.input)
            label.setMinimumHeight(editor.input.sizeHint().height())  # level with the input, not with the whole row
            rows.addRow(label, editor)
        return rows

    def _forward(self, name: str) -> Callable[[Value], None]:
        return lambda value: self.edited.emit(name, value)

    def _folded(self, fields: list[Field]) -> QWidget:
        """The advanced fields behind a button that unfolds them."""
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        button = QToolButton()
        button.setText(tr("Advanced"))
        button.setAccessibleName(tr("Show advanced settings"))
        button.setToolTip(tr("Settings that rarely need changing."))
        button.setObjectName("form.advanced")
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setArrowType(Qt.ArrowType.RightArrow)
        inner = QWidget()
        inner.setLayout(self._rows(fields))
        inner.setVisible(False)

        def unfold(is_open: bool) -> None:
            inner.setVisible(is_open)
            button.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
            # The form knows its new height before anybody asks.
            for layout in (column, self._outer):
                layout.invalidate()
                layout.activate()
            self.unfolded.emit(is_open)

        button.toggled.connect(unfold)
        column.addWidget(button)
        column.addWidget(inner)
        return holder

    def show_values(self, values: Mapping[str, Value]) -> None:
        """Show these values; fields that are not named stay as they are."""
        for name, value in values.items():
            if name in self.editors:
                self.editors[name].show_value(value)
