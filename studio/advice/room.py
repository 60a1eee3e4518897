"""Whether a project's training fits into this machine's memory, by its forecast and what the machine has."""

from __future__ import annotations

from dataclasses import replace

from studio.advice.hint import Facts
from studio.advice.readings import number, text
from studio.core.check import Report, memory_problem
from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.text import tr


def too_large_for(project: Project, report: Report, machine: Facts) -> Problem | None:
    """The problem of a forecast that exceeds the memory of the device that the recipe would take.

    None where it fits, and where the forecast or the memory is not known. `machine` is of `machine.measure()`.
    """
    wanted = project.recipe.device.strip().lower()
    card = _card(wanted, machine)
    if card is not None:
        size, device = number(machine, f"gpu{card}_total_bytes"), f"cuda:{card}"
        name = text(machine, f"gpu{card}_name") or device
    elif wanted in {"auto", "", "cpu"}:
        sizes = (number(machine, name) for name in ("memory_total_bytes", "memory_limit_bytes"))
        size, device, name = min((size for size in sizes if size), default=None), "cpu", tr("this computer")
    else:
        return None
    problem = None if size is None else memory_problem(report, project.recipe.batch_size, int(size), device)
    return None if problem is None else replace(problem, facts=problem.facts.with_items(device=name))


def _card(wanted: str, machine: Facts) -> int | None:
    """The number of the graphics card that torch would take; None where it would not take one."""
    if not number(machine, "gpu_count") or text(machine, "torch_build") == "cpu":
        return None
    if wanted in {"auto", "", "cuda"}:
        return 0
    kind, _, place = wanted.partition(":")
    return int(place) if kind == "cuda" and place.isascii() and place.isdigit() else None
