"""The cells of a table file: any usual delimiter, encoding, quoting and line end."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

_LARGEST_BYTES = 200 * 1024 * 1024
_LARGEST_TEXT_BYTES = 20 * 1024 * 1024
_HIGH_BYTES = re.compile(rb"[\x80-\xff]+")
_LOOKED_AT_BYTES = 64 * 1024


def cells_of(path: Path, *, is_text: bool = False) -> list[list[str]]:
    """All rows, each as wide as the first; empty for what is no table.

    With `is_text` the file is a list without a table's name (`labels.txt`), whose columns blanks may part.
    """
    try:
        if not path.is_file() or path.stat().st_size > (_LARGEST_TEXT_BYTES if is_text else _LARGEST_BYTES):
            return []
        text = decoded(path.read_bytes())
    except OSError:
        return []
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    while text.startswith("#"):
        text = text.partition("\n")[2]
    if "\0" in text:
        return []
    first = text.partition("\n")[0]
    delimiter = max(",;\t|", key=first.count)
    if is_text and not first.count(delimiter):
        rows = [row for line in text.splitlines() if (row := line.rsplit(maxsplit=1))]
    else:
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
        except csv.Error:
            return []
    width = len(rows[0]) if rows else 0
    return [(row + [""] * width)[:width] for row in rows if any(row)] if width >= 2 else []


def decoded(content: bytes) -> str:
    """Text of an unknown encoding: by its mark, else UTF-8, else Chinese where it looks like that, else Western."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    # GB 2312 writes a sign as two bytes above 127, Western letters stand alone among plain ones.
    runs = _HIGH_BYTES.findall(content[:_LOOKED_AT_BYTES])
    if all(len(run) % 2 == 0 for run in runs[:-1]):
        try:
            return content.decode("gb18030")
        except UnicodeDecodeError:
            pass
    return content.decode("cp1252", "replace")
