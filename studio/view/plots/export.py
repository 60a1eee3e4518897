"""A plot as a picture and as numbers, written so that a crash leaves no half file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPixmap

from studio.core.files import replacing, write_atomically
from studio.core.series import Series
from studio.view.theme import theme

_MARGIN_PX = 12


def csv_text(x_name: str, curves: Sequence[tuple[str, Series]]) -> str:
    """A row for each x in order, a column for each curve; empty where a curve has no point. Full precision."""
    columns = [dict(series) for _, series in curves]
    rows = sorted({x for column in columns for x in column})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([x_name, *(name for name, _ in curves)])
    for x in rows:
        writer.writerow([_number(x), *("" if x not in column else _number(column[x]) for column in columns)])
    return out.getvalue()


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def write_csv(path: Path, x_name: str, curves: Sequence[tuple[str, Series]]) -> None:
    """Write the curves' values to `path`.

    Raises:
        OSError: it cannot be written; an old file there is whole.
    """
    write_atomically(path, csv_text(x_name, curves).encode())


def write_png(path: Path, graph: QPixmap, title: str, legend: Sequence[tuple[str, int]]) -> None:
    """Write the drawn graph with its title and its curves' names to `path`; names come with their series colour.

    Raises:
        OSError: it cannot be written; an old file there is whole.
    """
    picture = _composed(graph, title, legend)
    with replacing(path) as temporary:
        if not picture.save(str(temporary), "PNG"):
            raise OSError(f"{path} cannot be written")


def _composed(graph: QPixmap, title: str, legend: Sequence[tuple[str, int]]) -> QPixmap:
    ratio = graph.devicePixelRatio()
    width, height = graph.width() / ratio, graph.height() / ratio
    font = theme().font("heading_text", bold=True)
    head = int(font.pointSizeF() * 4) + _MARGIN_PX
    picture = QPixmap(int((width + 2 * _MARGIN_PX) * ratio), int((height + head + _MARGIN_PX) * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(theme().colour("surface"))
    painter = QPainter(picture)
    painter.setFont(font)
    painter.setPen(theme().colour("text"))
    base = _MARGIN_PX + font.pointSizeF() * 1.6
    painter.drawText(QPointF(_MARGIN_PX, base), title)
    place = _MARGIN_PX + painter.fontMetrics().horizontalAdvance(title) + 3 * _MARGIN_PX
    painter.setFont(theme().font())
    for name, colour in legend:
        painter.fillRect(int(place), int(base - 6), 16, 4, theme().series(colour))
        painter.setPen(theme().colour("text"))
        painter.drawText(QPointF(place + 22, base), name)
        place += 22 + painter.fontMetrics().horizontalAdvance(name) + 2 * _MARGIN_PX
    painter.drawPixmap(QPointF(_MARGIN_PX, head), graph)
    painter.end()
    return picture
