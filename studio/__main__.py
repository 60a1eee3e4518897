"""The program's entry: a known command is for the terminal, everything else opens the window."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence

from studio.core.registry import resolve
from studio.core.settings import load_settings
from studio.core.text import set_language, tr
from studio.folders import user_folders

# Known here so that the window opens without importing the terminal; a test holds it against the real commands.
COMMANDS = frozenset({"check", "data", "doctor", "evaluate", "explain", "new", "predict", "runs", "train"})
# A full disk behind `>`, a terminal that was closed; whatever else goes wrong with files has a sentence of its own.
_OUTPUT_REFUSED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO} if hasattr(errno, "EDQUOT") else {errno.ENOSPC})
_FOR_TERMINAL = frozenset({"-h", "--help", "--version"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with `arguments` (those of the command line by default); returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and (given[0] in COMMANDS or given[0] in _FOR_TERMINAL):
        return _terminal(given)
    return _window(given)


def _terminal(arguments: list[str]) -> int:
    _open_missing_streams()
    try:
        from studio.cli import app

        app(args=arguments, prog_name="studio", standalone_mode=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except KeyboardInterrupt:
        sys.stderr.write(tr("Stopped.") + "\n")
        return 1
    except OSError as error:
        if error.errno not in _OUTPUT_REFUSED:
            raise
        # What could not be written waits in a buffer, and would be tried again at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stderr.write(tr("The output cannot be written: {reason}.", reason=error.strerror) + "\n")
        return 1
    return 0


def _open_missing_streams() -> None:
    """A program started with closed streams has none, and the next file that it opens would become its output."""
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - kept open to the end


def _window(arguments: list[str]) -> int:
    set_language(load_settings(user_folders().config).language)
    if not has_display():
        return _say(
            tr(
                "There is no display, so the window cannot open. The terminal can do the same: studio --help lists its "
                "commands, and studio train --sample trains a first network. With Xvfb installed, xvfb-run studio "
                "opens the window on a virtual display."
            )
        )
    try:
        open_window: Callable[[list[str]], int] = resolve("studio.app:main")
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"PySide6", "pyqtgraph", "shiboken6"}:
            raise
        return _say(
            tr(
                "The window needs {package}, which cannot be loaded ({reason}). Install it: pip install "
                '"lantern-studio[window]"; where a library of the system is missing, studio doctor says which package '
                "has it. The terminal works without it: studio --help.",
                package=error.name,
                reason=error,
            )
        )
    return open_window(arguments)


def has_display() -> bool:
    """Whether a window can be shown: always outside Linux, there by the variables that Qt reads."""
    if not sys.platform.startswith(("linux", "freebsd")):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _say(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
