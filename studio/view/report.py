"""The report of a bug as text that can be handed to others: what failed and on what, without anything personal."""

from __future__ import annotations

import getpass
import importlib.metadata
import platform
import re
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from studio import __version__

_PACKAGES = ("PySide6-Essentials", "pyqtgraph", "numpy", "Pillow", "psutil", "torch", "torchvision")
# Shorter names are parts of ordinary words, which would make the report unreadable and hide nothing.
_SHORTEST_NAME = 3


def trace_text(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> str:
    return "".join(traceback.format_exception(kind, error, trace))


def report_text(trace: str, private: Iterable[tuple[str, str]]) -> str:
    """The report: versions, the system and the trace; each of `private` (what is written, what stands for it) gone."""
    lines = [
        f"Lantern Studio {__version__}",
        f"Python {platform.python_version()} on {platform.system()} {platform.release()} ({platform.machine()})",
        "  ".join(f"{name} {version}" for name in _PACKAGES if (version := _version(name))),
        "",
        trace.rstrip(),
    ]
    return without_private("\n".join(lines) + "\n", private)


def private_words(folders: Iterable[tuple[Path | str, str]]) -> tuple[tuple[str, str], ...]:
    """What must not be in a report: these paths, the home folder and the user's name; longest first."""
    pairs = [(str(path), word) for path, word in folders if str(path) not in {"", "."}]
    pairs.append((str(Path.home()), "<home>"))
    try:
        pairs.append((getpass.getuser(), "<user>"))
    except (OSError, KeyError, ImportError):
        pass
    return tuple(sorted((pair for pair in pairs if len(pair[0]) >= _SHORTEST_NAME), key=lambda pair: -len(pair[0])))


def without_private(text: str, private: Iterable[tuple[str, str]]) -> str:
    for written, word in private:
        for form in {written, written.replace("\\", "/"), written.replace("\\", "\\\\")}:
            if word == "<user>":
                text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])", word, text)
            else:
                text = text.replace(form, word)
    return text


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
