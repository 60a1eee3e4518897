"""`studio data`: the health report of a folder of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from studio.cli.console import GOOD, TROUBLE, out, print_json, print_problems, safe
from studio.cli.projects import index_of, inspected
from studio.core.problem import Problem, Severity
from studio.core.project import Data
from studio.core.text import tr, trn
from studio.dataset.report import data_report, problems_of
from studio.dataset.split import split

_BAR_WIDTH = 30


def data(folder: Path, cache_folder: Path, reading: str, with_pictures: bool, as_json: bool) -> int:
    """What the folder holds and what is wrong with it; trouble is what keeps it from being trained on."""
    inspection = inspected(index_of(folder, reading), cache_folder)
    parted = split(inspection, Data()) if inspection.index.usable else None
    report, problems = data_report(inspection, parted, pictures=with_pictures), problems_of(inspection, parted)
    if as_json:
        print_json(report)
    else:
        _print(out(), report, problems)
    has_errors = any(problem.severity is Severity.ERROR for problem in problems)
    return TROUBLE if has_errors else GOOD


def _print(console: Console, report: dict[str, Any], problems: tuple[Problem, ...]) -> None:
    counts: dict[str, int] = report["counts"]
    used: dict[str, dict[str, int]] = report.get("used_split", {})
    most = max(counts.values(), default=0)
    table = Table(box=None, pad_edge=False)
    table.add_column(tr("Class"))
    table.add_column(tr("Pictures"), justify="right")
    titles = {"train": tr("Training"), "val": tr("Validation"), "test": tr("Test")}
    for name in used:
        table.add_column(titles.get(name, name), justify="right")
    table.add_column("")
    for name, count in counts.items():
        parts = [f"{used[part].get(name, 0):,}" for part in used]
        table.add_row(safe(name), f"{count:,}", *parts, "█" * (round(_BAR_WIDTH * count / most) if most else 0))
    console.print(table)
    total = f"{report['total']:,}"
    console.print(
        safe(trn(len(counts), "{total} pictures in one class.", "{total} pictures in {n} classes.", total=total))
    )
    for other in report["readings"]:
        console.print(
            safe(tr("It can also be read as: {other} (--reading {id})", other=other["description"], id=other["id"]))
        )
    print_problems(console, problems)
    for picture in report.get("pictures", []):
        size = f"{picture['width']} x {picture['height']}" if picture["width"] else picture["reason"]
        console.print(safe(f"{picture['path']}  {size}"))
