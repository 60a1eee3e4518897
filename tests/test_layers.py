"""The layers of the house hold: by contract, and by what is really imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Runs in a fresh interpreter: this one has imported everything already.
IMPORT_ALL_WITHOUT = """
import importlib, pkgutil, sys

class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "torchvision", "PySide6", "shiboken6", "pyqtgraph"}:
            raise ImportError(f"{name} must not be needed here")

sys.meta_path.insert(0, Wall())
package = importlib.import_module(sys.argv[1])
names = [found.name for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_that_the_contracts_between_the_layers_are_kept() -> None:
    lint = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    found = python("-c", lint)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("package", ["core", "dataset", "memory", "advice", "runs"])
def test_that_it_is_imported_where_there_is_neither_torch_nor_qt(package: str) -> None:
    found = python("-c", IMPORT_ALL_WITHOUT, f"studio.{package}")
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) > 0


@pytest.mark.qt
def test_that_the_window_s_process_starts_without_torch() -> None:
    found = python(
        "-c", "import sys, studio.app; print(sorted({'torch', 'torchvision', 'pyqtgraph'} & set(sys.modules)))"
    )
    assert (found.stdout.strip(), found.returncode) == ("[]", 0), found.stderr


def test_that_the_terminal_starts_without_torch_and_qt() -> None:
    found = python("-c", "import sys, studio.cli; print(sorted({'torch', 'PySide6', 'pyqtgraph'} & set(sys.modules)))")
    assert (found.stdout.strip(), found.returncode) == ("[]", 0), found.stderr
