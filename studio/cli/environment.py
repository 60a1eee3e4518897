"""`studio doctor`: whether this machine can train, and what to do where it cannot."""

from __future__ import annotations

from rich.cells import cell_len

from studio.advice.checknames import check_label
from studio.advice.doctor import Check, doctor, worst
from studio.cli.console import GOOD, TROUBLE, err, out, print_json, safe
from studio.core.fields import Value
from studio.core.files import Folders
from studio.core.frozen import FrozenMap
from studio.core.text import tr
from studio.runs.answers import torch_facts
from studio.runs.launchers.process import EngineProcess

_SIGNS = {"ok": "[green]✓[/]", "warning": "[yellow]![/]", "error": "[red]✗[/]", "unknown": "[dim]?[/]"}


def examine(folders: Folders, as_json: bool) -> int:
    """Measure the machine, and torch by what the engine process can do with it."""
    with err().status(tr("Trying PyTorch")):
        facts = _torch_facts(folders)
    checks = doctor([folders.data, folders.cache, folders.runs], facts)
    if as_json:
        print_json({"checks": [_document(check) for check in checks]})
    else:
        width = max((cell_len(check_label(check.id)) for check in checks), default=0)
        for check in checks:
            name = check_label(check.id)
            gap = " " * (width - cell_len(name))
            out().print(f"{_SIGNS[check.verdict]} {safe(name)}{gap}  {safe(check.value)}")
            if check.fix:
                out().print(f"    [green]→[/] {safe(check.fix)}")
    return TROUBLE if worst(checks) == "error" else GOOD


def _document(check: Check) -> dict[str, object]:
    return {"id": check.id, "value": check.value, "verdict": check.verdict, "fix": check.fix}


def _torch_facts(folders: Folders) -> FrozenMap[Value]:
    """What the engine says of torch; an engine that does not start is a fact too."""
    engine = EngineProcess(folders.cache)
    try:
        answer = engine.proof().result()
    finally:
        engine.close()
    return torch_facts(answer)
