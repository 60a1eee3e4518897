"""Colours, spaces and the style sheet, all from `resources/style/tokens.json`; light and dark follow the system.

Widgets name their role with `setProperty("role", ...)`: "page", "card", "title", "heading", "muted", "faint", "good",
"warning", "error", "primary" (button), "quiet" (button), "danger" (button), "link" (button), "badge", "rail", "strip".
Painted widgets ask `theme().colour(name)` and repaint on `theme().changed`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from studio.core.files import resources_folder

Mode = Literal["light", "dark"]


@cache
def _tokens() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((resources_folder() / "style" / "tokens.json").read_text("utf-8"))
    return loaded


class Theme(QObject):
    """The colours in use. `changed` is emitted after light and dark were exchanged."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._wanted: Literal["system", "light", "dark"] = "system"
        self.mode: Mode = "light"

    def colour(self, name: str) -> QColor:
        """The token's colour in the present mode."""
        return QColor(_tokens()[self.mode][name])

    def series(self, number: int) -> QColor:
        """The colour of the curve with this number; colour-blind safe (Okabe and Ito's set, darkened or lightened)."""
        colours = _tokens()[self.mode]["series"]
        return QColor(colours[number % len(colours)])

    @property
    def space_px(self) -> int:
        return int(_tokens()["space_px"])

    def font(self, scale_token: str = "", *, bold: bool = False) -> QFont:
        """The application's font scaled by a token ("small_text", "heading_text", "title_text")."""
        font = QFont(QApplication.font())
        if scale_token:
            font.setPointSizeF(font.pointSizeF() * float(_tokens()[scale_token]))
        font.setBold(bold)
        return font

    def use(self, wanted: Literal["system", "light", "dark"]) -> None:
        """Follow the system, or stay light or dark."""
        self._wanted = wanted
        self.apply()

    def follow_system(self) -> None:
        """Exchange the colours whenever the system's scheme changes."""
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self.apply)

    def apply(self) -> None:
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            return
        dark = self._wanted == "dark" or (
            self._wanted == "system" and QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        )
        self.mode = "dark" if dark else "light"
        app.setPalette(self._palette())
        app.setStyleSheet(self.style_sheet())
        self.changed.emit()

    def _palette(self) -> QPalette:
        role = QPalette.ColorRole
        roles = {
            role.Window: "window",
            role.Base: "surface",
            role.AlternateBase: "sunken",
            role.Button: "raised",
            role.Text: "text",
            role.WindowText: "text",
            role.ButtonText: "text",
            role.PlaceholderText: "faint",
            role.Highlight: "accent",
            role.HighlightedText: "accent_text",
            role.Link: "accent",
            role.ToolTipBase: "raised",
            role.ToolTipText: "text",
            role.Mid: "line",
        }
        palette = QPalette()
        for target, token in roles.items():
            palette.setColor(target, self.colour(token))
        for target in (role.Text, role.WindowText, role.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, target, self.colour("faint"))
        return palette

    def style_sheet(self) -> str:
        """`resources/style/window.qss` with `@token` replaced, longest names first."""
        sizes = {
            f"{name}_size": f"{self.font(f'{name}_text').pointSizeF():.1f}pt" for name in ("title", "heading")
        }  # titles grow with the text of the system
        tokens = {**_tokens()[self.mode], **sizes, "radius": f"{_tokens()['radius_px']}px"}
        path: Path = resources_folder() / "style" / "window.qss"
        sheet = path.read_text("utf-8")
        for name in sorted((n for n in tokens if isinstance(tokens[n], str)), key=len, reverse=True):
            sheet = sheet.replace(f"@{name}", tokens[name])
        return sheet.replace("@mode", self.mode).replace("@icons", (resources_folder() / "icons").as_posix())


@cache
def theme() -> Theme:
    """The one theme of the program."""
    return Theme()


def set_role(widget: QWidget, role: str) -> None:
    """Give `widget` the look of a role, also when it is on the screen already."""
    widget.setProperty("role", role)
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
