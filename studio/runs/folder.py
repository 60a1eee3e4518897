"""A run is a folder: its parts by name, and making a new one."""

from __future__ import annotations

import time
from pathlib import Path

from studio.core.files import safe_name
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project, save_project

PROJECT = "project.json"
COMMANDS = "commands.jsonl"
CHECKPOINTS = "checkpoints"
MODEL = "model"
STAMP = "%Y-%m-%dT%H-%M-%S"
EVENTS_PATTERN = "events.r*.jsonl"


class RunsUnwritable(Exception):
    """A run folder cannot be made; `problem` names the folder and the reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def events_file(run_folder: Path, rank: int = 0) -> Path:
    """The events of one rank; rank 0 tells the run's story."""
    return run_folder / f"events.r{rank}.jsonl"


def project_file(run_folder: Path) -> Path:
    return run_folder / PROJECT


def commands_file(run_folder: Path) -> Path:
    return run_folder / COMMANDS


def model_folder(run_folder: Path) -> Path:
    return run_folder / MODEL


def is_run(path: Path) -> bool:
    """Whether `path` is a run folder, of this or an earlier session, whatever became of it."""
    try:
        return (path / PROJECT).is_file() and ((path / COMMANDS).is_file() or events_file(path).is_file())
    except OSError:  # forbidden, or too long for a path
        return False


def has_model(run_folder: Path) -> bool:
    """Whether the run's finished artefact is there."""
    return (model_folder(run_folder) / "weights.safetensors").is_file()


def has_checkpoint(run_folder: Path) -> bool:
    """Whether there is something to go on from; whether it is whole is for the engine to find out."""
    try:
        return any(not entry.name.startswith(".") for entry in (run_folder / CHECKPOINTS).iterdir())
    except OSError:
        return False


def run_name(project: Project, when: float) -> str:
    """`2026-12-01T10-22-31_flowers_simplecnn`: local time, project, template."""
    stamp = time.strftime(STAMP, time.localtime(when))
    parts = [stamp, safe_name(project.name or "project").lower(), safe_name(project.network.template or "own").lower()]
    return "_".join(parts)


def create_run(project: Project, runs_root: Path, when: float | None = None) -> Path:
    """Make the folder of a new run of `project` below `runs_root`; its name is free even within the same second.

    Raises:
        RunsUnwritable: the folder cannot be made or written.
    """
    name = run_name(project, time.time() if when is None else when)
    try:
        runs_root.mkdir(parents=True, exist_ok=True)
        run_folder = _free_folder(runs_root, name)
        (run_folder / CHECKPOINTS).mkdir()
        save_project(project, run_folder / PROJECT)
        commands_file(run_folder).touch()
    except OSError as error:
        facts = FrozenMap({"folder": str(runs_root), "reason": error.strerror or str(error)})
        raise RunsUnwritable(Problem("runs_folder_unwritable", place=str(runs_root), facts=facts)) from None
    return run_folder


def _free_folder(runs_root: Path, name: str) -> Path:
    number = 1
    while True:
        folder = runs_root / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def find_run(text: str, runs_root: Path) -> Path | None:
    """The run that a person names: a path to its folder (or to something in it), or its name below `runs_root`."""
    given = Path(text).expanduser()
    for candidate in (given, given.parent, runs_root / text):
        if is_run(candidate):
            return candidate.absolute()
    return None
