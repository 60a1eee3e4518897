"""The command palette (Ctrl+K): type a few letters of anything that can be done, and do it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsDropShadowEffect,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from studio.core.text import tr
from studio.view.actions import Action, Actions
from studio.view.fuzzy import fit
from studio.view.theme import theme

_WIDTH_PX = 560
_ROWS = 9
_TOP_PX = 64


class CommandPalette(QFrame):
    """Lies over the window; Enter does the chosen action, Escape or a click elsewhere closes it."""

    def __init__(self, actions: Actions, window: QWidget) -> None:
        super().__init__(window)
        self._actions = actions
        self._over = window
        self._before: QWidget | None = None
        self.setProperty("role", "palette")
        self.setObjectName("palette")
        self.setAccessibleName(tr("Command palette"))
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(32)
        shadow.setOffset(0, 6)
        shadow.setColor(theme().colour("shadow"))
        self.setGraphicsEffect(shadow)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 10)
        self.input = QLineEdit()
        self.input.setObjectName("palette.input")
        self.input.setPlaceholderText(tr("What would you like to do?"))
        self.input.setAccessibleName(tr("Search all commands"))
        self.input.setToolTip(tr("A few letters are enough: “op sa” finds “Open the sample project”."))
        self.input.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setObjectName("palette.list")
        self.list.setAccessibleName(tr("Commands that fit"))
        self.list.setItemDelegate(_Row(self.list))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        column.addWidget(self.input)
        column.addWidget(self.list)
        self.input.textChanged.connect(self._fill)
        self.input.installEventFilter(self)
        self.list.itemClicked.connect(self._run)
        window.installEventFilter(self)
        self.hide()

    def pop_up(self) -> None:
        """Show every command that can be done now."""
        self._before = self.window().focusWidget()
        self.input.clear()
        self._fill()
        self.show()
        self.raise_()
        self.input.setFocus(Qt.FocusReason.PopupFocusReason)

    def put_away(self) -> None:
        self.hide()
        if self._before is not None:
            self._before.setFocus(Qt.FocusReason.PopupFocusReason)
            self._before = None

    def _place(self) -> None:
        window = self._over
        width = min(_WIDTH_PX, window.width() - 80)
        row = self.list.sizeHintForRow(0) if self.list.count() else 36
        height = self.input.sizeHint().height() + row * min(self.list.count(), _ROWS) + 44
        self.setGeometry((window.width() - width) // 2, _TOP_PX, width, min(height, window.height() - 2 * _TOP_PX))

    def _fill(self) -> None:
        query = self.input.text()
        fitting: list[tuple[float, Action]] = []
        for action in self._actions:
            if not action.enabled():
                continue
            score = fit(query, f"{action.text()} {action.menu}".rstrip())
            if score is not None:
                fitting.append((score, action))
        if query.strip():
            fitting.sort(key=lambda pair: -pair[0])
        self.list.clear()
        # A page may offer what the window offers too; the first of the two is enough here.
        unique: dict[str, Action] = {}
        for _, action in fitting:
            unique.setdefault(action.text(), action)
        for action in unique.values():
            item = QListWidgetItem(action.text())
            item.setData(Qt.ItemDataRole.UserRole, action)
            item.setToolTip(action.help)
            self.list.addItem(item)
        if not fitting:
            item = QListWidgetItem(tr("No command fits. Try fewer letters."))
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._place()

    def _run(self, item: QListWidgetItem | None) -> None:
        action = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        if isinstance(action, Action):
            self.put_away()
            action.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.input and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        if watched is self.input and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        if watched is self._over and event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _ROWS, Qt.Key.Key_PageUp: -_ROWS}
        key = Qt.Key(event.key())
        if key in steps:
            row = self.list.currentRow() + steps[key]
            self.list.setCurrentRow(min(self.list.count() - 1, max(0, row)))
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self.list.currentItem())
            return True
        if key == Qt.Key.Key_Escape:
            self.put_away()
            return True
        return False


class _Row(QStyledItemDelegate):
    """Title, then the menu and the keys at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: object) -> QSize:
        return QSize(100, option.fontMetrics.height() + 16)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: object) -> None:
        painter.save()
        area = QRectF(option.rect)
        action = index.data(Qt.ItemDataRole.UserRole)  # type: ignore[attr-defined]  # a QModelIndex
        if option.state & QStyle.StateFlag.State_Selected and isinstance(action, Action):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().colour("selection"))
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 6, 6)
        inner = area.adjusted(12, 0, -12, 0)
        end = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        start = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        title = index.data(Qt.ItemDataRole.DisplayRole)  # type: ignore[attr-defined]  # a QModelIndex
        aside = ""
        if isinstance(action, Action):
            keys = QKeySequence(action.shortcut).toString(QKeySequence.SequenceFormat.NativeText)
            aside = "   ".join(part for part in (action.menu, keys) if part)
        room = inner.width() - painter.fontMetrics().horizontalAdvance(aside) - 16
        painter.setPen(theme().colour("text" if isinstance(action, Action) else "muted"))
        painter.drawText(inner, start, painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(room)))
        painter.setPen(theme().colour("muted"))
        painter.drawText(inner, end, aside)
        painter.restore()
