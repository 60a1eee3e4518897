"""Where this user's settings, data, caches and runs live; the one place that asks the system for it."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from studio.core.files import Folders

NAME = "lantern-studio"
HOME_VARIABLE = "LANTERN_HOME"


def user_folders() -> Folders:
    """The user's folders by the customs of the system; `LANTERN_HOME` puts all of them under one folder.

    Nothing is created here: each folder comes into being with the first file that is written to it.
    """
    home = os.environ.get(HOME_VARIABLE, "")
    if home:
        return Folders.under(Path(home).expanduser().absolute())
    data = platformdirs.user_data_path(NAME, appauthor=False)
    return Folders(
        config=platformdirs.user_config_path(NAME, appauthor=False),
        data=data,
        cache=platformdirs.user_cache_path(NAME, appauthor=False),
        runs=data / "runs",
    )
