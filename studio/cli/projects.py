"""`studio new` and `studio check`, and how a project is found by what a person names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

from studio.advice.machine import measure
from studio.advice.room import too_large_for
from studio.cli.console import (
    GOOD,
    TROUBLE,
    Trouble,
    command_name,
    err,
    out,
    print_json,
    print_problems,
    printable,
    problem_document,
    problem_text,
    quoted,
    safe,
    wrong_use,
)
from studio.core.check import BlockReport, Report, check
from studio.core.files import safe_name
from studio.core.forecast import Forecast, Forecasts
from studio.core.problem import Problem, Severity
from studio.core.project import PROJECT_SUFFIX, Data, Network, Project, ProjectUnreadable, load_project, save_project
from studio.core.quantities import size_text
from studio.core.templates import find_template, templates
from studio.core.text import tr
from studio.dataset.index import Index
from studio.dataset.inspect import inspect
from studio.dataset.inspection import Inspection
from studio.dataset.progress import Progress as Reached
from studio.dataset.scan import scan
from studio.dataset.suggest import suggest_preprocessing
from studio.runs.folder import PROJECT, is_run


def network_of(name: str) -> Network:
    """The template's network; an unknown name is wrong use and lists the known ones."""
    template = find_template(name)
    if template is None:
        raise wrong_use(
            tr("There is no template {name}. Possible are: {names}.", name=name, names=", ".join(templates()))
        )
    return template.network


def index_of(folder: Path, reading: str = "") -> Index:
    """The index of a folder of pictures; naming something else is wrong use. What is wrong inside is in the index."""
    if not folder.is_dir():
        raise wrong_use(tr("{folder} is not a folder. Name the folder that holds your pictures.", folder=folder))
    with _bar() as report:
        return scan(folder.absolute(), reading=reading, progress=report)


def inspected(index: Index, cache_folder: Path) -> Inspection:
    """A look into every picture, with a bar on standard error; quick where it was done before."""
    with _bar() as report:
        return inspect(index, cache_folder, progress=report)


@contextmanager
def _bar() -> Iterator[Callable[[Reached], None]]:
    console = err()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(tr("Looking at the pictures"), total=None)
        yield lambda reached: progress.update(task, completed=reached.done, total=reached.total)


def proposed_project(folder: Path, network: Network, cache_folder: Path, name: str = "") -> Project:
    """A first project for a folder of pictures: its classes, and a working size and channels that suit them.

    Raises:
        Trouble: there is no such folder, or nothing in it can be trained on.
    """
    index = index_of(folder)
    _raise_errors(index.problems)
    inspection = inspected(index, cache_folder)
    _raise_errors(inspection.problems)
    data = Data(folder=str(index.root), reading=index.reading.id, classes=index.classes)
    preprocessing = suggest_preprocessing(inspection, Project().preprocessing)
    return Project(name or index.root.name, data, preprocessing, network)


def _raise_errors(problems: Sequence[Problem]) -> None:
    errors = [problem_text(problem) for problem in problems if problem.severity is Severity.ERROR]
    if errors:
        raise Trouble("\n".join(errors))


def project_at(path: Path) -> Project:
    """The project in a file or a run folder, its data folder made absolute."""
    file = path / PROJECT if path.is_dir() and is_run(path) else path
    try:
        project = load_project(file)
    except ProjectUnreadable as error:
        raise wrong_use(str(error)) from None
    folder = project.data.folder
    if not folder or Path(folder).is_absolute():
        return project
    try:
        absolute = str((file.absolute().parent / folder).resolve())
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise wrong_use(tr("{path} cannot be read: {reason}.", path=printable(folder), reason=reason)) from None
    data = dataclasses.replace(project.data, folder=absolute)
    return dataclasses.replace(project, data=data)


def new(
    folder: Path, cache_folder: Path, template: str, output: Path | None, *, name: str, force: bool, as_json: bool
) -> int:
    """Make a project file for a folder of pictures."""
    project = proposed_project(folder, network_of(template), cache_folder, name)
    path = output or Path(safe_name(project.name) + PROJECT_SUFFIX)
    if path.exists() and not force:
        raise wrong_use(
            tr("{path} exists already. Choose another name with -o, or replace it with --force.", path=path)
        )
    try:
        save_project(project, path)
    except OSError as error:
        raise wrong_use(
            tr("{path} cannot be written: {reason}. Choose another place with -o.", path=path, reason=error.strerror)
        ) from None
    size = f"{project.preprocessing.width} x {project.preprocessing.height}"
    if as_json:
        shape = list(project.preprocessing.shape)
        print_json({"project": str(path), "classes": list(project.data.classes), "input_shape": shape})
        return GOOD
    console = out()
    console.print(safe(tr("{path}: {count} classes, {size} px.", path=path, count=project.class_count, size=size)))
    console.print(safe(tr("Next: {command}", command=f"{command_name()} train {quoted(str(path))}")))
    return GOOD


def check_project(path: Path, as_json: bool) -> int:
    """Shapes, parameters, forecast and problems of a project, without pictures and without torch."""
    report = checked(project_at(path))
    if as_json:
        print_json(report_document(report))
    else:
        _print_report(report)
    return GOOD if report.is_ready else TROUBLE


def checked(project: Project) -> Report:
    """What is known of the project, and whether this machine has the memory that training it will need."""
    report = check(project)
    too_large = too_large_for(project, report, measure())
    return report if too_large is None else dataclasses.replace(report, problems=(*report.problems, too_large))


def report_document(report: Report) -> dict[str, object]:
    """The document of `studio check --json`."""
    return {
        "blocks": [_block_document(block) for block in report.blocks],
        "parameters": report.parameters,
        "multiply_adds": report.multiply_adds,
        "forecast": None if report.forecast is None else _forecasts_document(report.forecast),
        "problems": [problem_document(problem) for problem in report.all_problems],
    }


def _block_document(block: BlockReport) -> dict[str, object]:
    return {
        "id": block.id,
        "kind": block.kind,
        "output_shape": None if block.output_shape is None else list(block.output_shape),
        "parameters": block.parameters,
        "multiply_adds": block.multiply_adds,
        "activation_bytes": block.activation_bytes,
        "problems": [problem_document(problem) for problem in block.problems],
    }


def _forecasts_document(forecasts: Forecasts) -> dict[str, dict[str, int]]:
    uses = {"training": forecasts.training, "validation": forecasts.validation, "prediction": forecasts.prediction}
    return {use: {**dataclasses.asdict(forecast), "total": forecast.total} for use, forecast in uses.items()}


def _print_report(report: Report) -> None:
    console = out()
    table = Table(box=None, pad_edge=False)
    for title in ("", tr("Block"), tr("Output")):
        table.add_column(title)
    for title in (tr("Parameters"), tr("Multiply-adds"), tr("Activations")):
        table.add_column(title, justify="right")
    for block in report.blocks:
        shape = "?" if block.output_shape is None else " x ".join(map(str, block.output_shape))
        counts = (f"{block.parameters:,}", f"{block.multiply_adds:,}", size_text(block.activation_bytes))
        table.add_row(safe(block.id), safe(block.kind), shape, *counts)
    console.print(table)
    console.print(tr("{count} parameters.", count=f"{report.parameters:,}"))
    if report.forecast is not None:
        console.print(_forecast_text(report.forecast.training))
    print_problems(err(), report.all_problems)


def _forecast_text(forecast: Forecast) -> str:
    parts = ", ".join(f"{name} {size_text(size)}" for name, size in dataclasses.asdict(forecast).items() if size)
    return tr("Training needs about {total}: {parts}.", total=size_text(forecast.total), parts=parts)
