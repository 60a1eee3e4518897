"""The program's settings, declared once: JSON, the settings dialog and its help are made from this one class."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from studio.core.codec import MalformedValue, dumps, from_plain
from studio.core.fields import Choice, Field
from studio.core.files import read_text, write_atomically
from studio.core.frozen import FrozenMap
from studio.core.project import check_limits, declared

SETTINGS_NAME = "settings.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person chooses once for all projects."""

    language: Literal["", "en", "zh_CN"] = declared(
        Field(
            "language", "Language", "The language of the window.", "choice", "",
            choices=(Choice("", "As the system"), Choice("en", "English"), Choice("zh_CN", "简体中文")),
        )
    )  # fmt: skip
    theme: Literal["system", "light", "dark"] = declared(
        Field(
            "theme", "Colours", "Light or dark.", "choice", "system",
            choices=(Choice("system", "As the system"), Choice("light", "Light"), Choice("dark", "Dark")),
        )
    )  # fmt: skip
    launcher: Literal["process", "thread"] = declared(
        Field(
            "launcher", "Runs in",
            "Where training runs. The engine is a process of its own: the window stays smooth, and memory goes back "
            "to the system after a run. This window shares its process: for debugging.",
            "choice", "process",
            choices=(Choice("process", "Engine"), Choice("thread", "This window")),
        )
    )  # fmt: skip
    cache_budget_gb: int = declared(
        Field(
            "cache_budget_gb", "Picture cache",
            "How much disk space prepared pictures may take. Larger sets are decoded again each epoch.",
            "int", 20, minimum=0, maximum=10_000, unit="GB", advanced=True,
        )
    )  # fmt: skip
    recent: tuple[str, ...] = ()
    # By what a file dialog was for, where it ended.
    last_folders: FrozenMap[str] = FrozenMap()

    def __post_init__(self) -> None:
        check_limits(self)


def load_settings(config: Path) -> Settings:
    """The settings stored in the folder `config`; the defaults where there are none or they cannot be read.

    A value that this version does not accept falls back to its default; the others are kept.
    """
    try:
        plain = json.loads(read_text(config / SETTINGS_NAME))
    except (OSError, ValueError, RecursionError):
        return Settings()
    if not isinstance(plain, dict):
        return Settings()
    kept: dict[str, object] = {}
    for name, value in plain.items():
        try:
            from_plain(Settings, {name: value}, ignore_unknown=True)
        except MalformedValue:
            continue
        kept[name] = value
    return cast(Settings, from_plain(Settings, kept, ignore_unknown=True))


def save_settings(settings: Settings, config: Path) -> None:
    write_atomically(config / SETTINGS_NAME, (dumps(settings, indent=2) + "\n").encode())
