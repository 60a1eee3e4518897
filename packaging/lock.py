"""Writes requirements.lock: what is installed here for pyproject.toml's groups, exactly, with markers per platform.

Usage, after changing a version in the environment: `.venv/bin/python packaging/lock.py`
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS: Mapping[str, Mapping[str, str]] = {
    "linux": {"platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    "darwin": {"platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    "win32": {"platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HEADER = """\
# Every package that Lantern Studio is developed and tested with, exactly.
# Made by packaging/lock.py from pyproject.toml and the environment; not edited by hand.
"""


def declared() -> list[Requirement]:
    """What pyproject.toml asks for: dependencies, extras, groups and the build back end."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = tables["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    lists += [*tables["dependency-groups"].values(), tables["build-system"]["requires"]]
    return [Requirement(text) for text in itertools.chain(*lists)]


def closure(roots: Iterable[Requirement], environment: Mapping[str, str]) -> set[str]:
    """The names of all packages that `roots` bring along in `environment`.

    Raises:
        PackageNotFoundError: one of them is not installed here, so its version is unknown.
    """
    seen: set[tuple[str, str]] = set()
    waiting = [(requirement, "") for requirement in roots]
    while waiting:
        requirement, asked_by = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({**environment, "extra": asked_by}):
            continue
        for extra in ("", *requirement.extras):
            key = (canonicalize_name(requirement.name), extra)
            if key not in seen:
                seen.add(key)
                inner = distribution(requirement.name).requires or []
                waiting += [(Requirement(text), extra) for text in inner]
    return {name for name, _ in seen}


def locked() -> str:
    """The text of requirements.lock."""
    roots, systems_of = declared(), dict[str, set[str]]()
    for (system, facts), python in itertools.product(SYSTEMS.items(), PYTHONS):
        versions = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": system}
        for name in closure(roots, {**facts, **versions}):
            systems_of.setdefault(name, set()).add(system)
    lines = []
    for name, systems in sorted(systems_of.items()):
        marker = "" if len(systems) == len(SYSTEMS) else " or ".join(f'sys_platform == "{s}"' for s in sorted(systems))
        lines.append(f"{name}=={distribution(name).version}" + (f" ; {marker}" if marker else ""))
    return HEADER + "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "requirements.lock").write_text(locked(), "utf-8")
