"""`studio doctor`: whether this machine can train, and what to do where it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.advice.doctor import Check, doctor, worst
from studio.cli.console import GOOD, TROUBLE, err, out, print_json, safe
from studio.core.fields import Value
from studio.core.files import Folders
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.text import tr
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
        for check in checks:
            out().print(f"{_SIGNS[check.verdict]} {safe(check.id):<22} {safe(check.value)}")
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
    if isinstance(answer, Problem):
        detail = str(answer.facts.get("trace") or answer.facts.get("detail") or "")
        return FrozenMap({"torch_imports": False, "torch_import_error": detail.strip()[-500:]})
    return facts_of(answer)


def facts_of(proof: Mapping[str, Any]) -> FrozenMap[Value]:
    """The engine's proof in the names that the doctor knows (`studio.advice.machine.TORCH_FACTS`)."""
    architectures = proof.get("cuda_architectures") or []
    facts: dict[str, Value] = {
        "torch_imports": True,
        "cuda_available": bool(proof.get("cuda_available")),
        "arch_list": " ".join(str(name) for name in architectures),
        "cudnn_version": proof.get("cudnn"),
        "torch_threads": proof.get("threads"),
    }
    for device in proof.get("devices", []):
        verdict = "ok" if device.get("ok") else f"{device.get('stopped_at')}: {device.get('message')}"
        name = f"proof_{device.get('kind')}"
        # Of several cards the first that fails is told.
        if facts.get(name) in {None, "ok"}:
            facts[name] = verdict
    return FrozenMap({name: value for name, value in facts.items() if value is not None})
