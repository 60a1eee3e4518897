"""Commands that people copy into a terminal: how this program is called there, and paths that can be pasted."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def command_name(*, from_anywhere: bool = False) -> str:
    """How this very installation is called, for the commands that we propose.

    It need not be on the path, and another program of that name may be. By default as from the current folder.
    """
    script = Path(sys.executable).with_name("studio.exe" if sys.platform == "win32" else "studio")
    if shutil.which("studio") == str(script):
        return "studio"
    if script.is_file():
        return quoted(str(script) if from_anywhere else short_path(script))
    python = Path(sys.executable)
    return f"{quoted(str(python) if from_anywhere else short_path(python))} -m studio"


def short_path(path: Path) -> str:
    """`path` relative to the current folder where it lies in it."""
    try:
        short = str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
    return f"./{short}" if short.startswith("-") else short  # else it would be read as an option


def quoted(text: str) -> str:
    """`text` as one word of a command line, in which nothing is expanded or run when it is pasted."""
    if sys.platform == "win32":
        plain = all(letter.isalnum() or letter in "-_./:\\+=,@" for letter in text)
        return text if plain and text else '"' + text.replace('"', '\\"') + '"'
    if text.isprintable():
        return shlex.quote(text)
    # Line breaks, escapes and bytes that are no text cannot be pasted as they are; this is what bash and zsh read.
    ansi = {"\\": "\\\\", "'": "\\'"}
    letters = (ansi.get(one) or (one if one.isprintable() else _octal(one)) for one in text)
    return f"$'{''.join(letters)}'"


def _octal(letter: str) -> str:
    """The bytes of `letter` as a shell's `$'...'` takes them."""
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", errors))
