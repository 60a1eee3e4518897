"""Laws over the shape of the code: short modules and functions, named for what they do, and nothing of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.laws.sources import ROOT, trees

LONGEST_MODULE_LINES = 420
LONGEST_FUNCTION_LINES = 65
GRAB_BAGS = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def tracked_files() -> list[Path]:
    """The files of the clone that are, or will be, committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git clone")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def python_files() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".py"]


def test_that_modules_are_short() -> None:
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in python_files()}
    assert not [f"{path.relative_to(ROOT)}: {n} lines" for path, n in lines.items() if n > LONGEST_MODULE_LINES]


def test_that_functions_are_short() -> None:
    long = []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {lines} lines")
    assert not long


def test_that_every_module_says_what_it_is_for() -> None:
    assert not [str(path) for path, tree in trees().items() if not ast.get_docstring(tree)]


def test_that_no_module_is_a_grab_bag() -> None:
    names = {path.relative_to(ROOT): {path.stem, path.parent.name} for path in python_files()}
    assert not [str(path) for path, parts in names.items() if parts & GRAB_BAGS]


def test_that_no_file_names_a_place_on_this_machine_or_a_package_registry() -> None:
    """The clone's own path, a home folder and an index address hold on one machine only."""
    here = [re.escape(str(folder)) for folder in (ROOT, Path.home()) if len(folder.parts) > 1]
    registry = r"https?://[^\s/\"']*(?:pypi|pythonhosted|npmjs|conda)[^\s/\"']*"
    pattern = re.compile(rf"(?<![\w.])(?:(?:{'|'.join(here)})(?=[/\\]|$)|{registry})", re.MULTILINE)
    found = []
    for path in tracked_files():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in pattern.finditer(text)]
    assert not found
