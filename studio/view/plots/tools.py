"""The small buttons at a plot's head: show all, log scale, export."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from studio.core.text import tr


class PlotTools(QWidget):
    """`export_wanted(form)` names "png" or "csv"."""

    all_wanted = Signal()
    log_toggled = Signal(bool)
    export_wanted = Signal(str)

    def __init__(self, title: str, *, can_log: bool) -> None:
        super().__init__()
        self.all = _tool(tr("Show all"), tr("Zoom out to the whole run again (Home)."), "plot.all")
        self.all.clicked.connect(self.all_wanted)
        self.all.setVisible(False)
        teaches = tr("Equal steps are equal factors: small differences at low values become visible.")
        self.log = _tool(tr("Log scale"), teaches, "plot.log")
        self.log.setCheckable(True)
        self.log.setVisible(can_log)
        self.log.toggled.connect(self.log_toggled)
        export = _tool(tr("Export"), tr("Save this plot as a picture or its values as a table."), "plot.export")
        export.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(export)
        menu.addAction(tr("Picture (PNG)…"), lambda: self.export_wanted.emit("png"))
        menu.addAction(tr("Values (CSV)…"), lambda: self.export_wanted.emit("csv"))
        export.setMenu(menu)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        for button in (self.all, self.log, export):
            button.setAccessibleName(f"{title}: {button.text()}")
            line.addWidget(button)


def _tool(text: str, help: str, name: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(help)
    button.setObjectName(name)
    return button
