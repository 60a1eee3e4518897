"""What a window remembers from one time to the next: where it was and what was open. A lost file means defaults."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from studio.core.files import read_text, write_atomically

NAME = "window.json"


@dataclass(frozen=True, slots=True)
class WindowState:
    """`geometry` is Qt's own record in base 64. `is_dark` are the colours of the last time, for the first moment."""

    geometry: str = ""
    is_drawer_open: bool = False
    drawer_px: int = 360
    is_dark: bool | None = None


def load_window_state(config: Path) -> WindowState:
    """The state stored in the folder `config`; defaults for what is missing or has another form."""
    try:
        plain = json.loads(read_text(config / NAME))
    except (OSError, ValueError, RecursionError):
        return WindowState()
    if not isinstance(plain, dict):
        return WindowState()
    kinds: dict[str, type | tuple[type, ...]] = {
        "geometry": str,
        "is_drawer_open": bool,
        "drawer_px": int,
        "is_dark": bool,
    }
    kept: dict[str, Any] = {name: plain[name] for name, kind in kinds.items() if isinstance(plain.get(name), kind)}
    return WindowState(**kept)


def save_window_state(state: WindowState, config: Path) -> None:
    """Keep the state.

    Raises:
        OSError: the folder cannot be written to.
    """
    write_atomically(config / NAME, (json.dumps(asdict(state), indent=2) + "\n").encode())
