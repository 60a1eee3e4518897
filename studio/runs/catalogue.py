"""The runs of a folder, summed up and compared; quick for hundreds of them, since an ended run is read only once."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal, cast

from studio.core.codec import MalformedValue, dumps, from_plain
from studio.core.events import Event, Started, event_from_line
from studio.core.fields import Value
from studio.core.files import read_text
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Project, ProjectUnreadable, fields_of, load_project
from studio.core.runstate import RunState
from studio.runs.folder import STAMP, events_file, has_checkpoint, has_model, is_run, model_folder, project_file
from studio.runs.host import process_is_alive

RunOutcome = Literal["new", "running", "finished", "stopped", "failed", "died"]

_SUMMARY = "summary.json"
_SUMMARY_VERSION = 3
# Steps, beats and memory samples make up nearly all of a record and change nothing in a summary.
_TELLING = frozenset({"Started", "EpochEnded", "ModelSaved", "Paused", "Resumed", "Failed", "Ended"})
_KIND = re.compile(rb'^\s*\{"type":\s*"(\w+)"')


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in a table. `started` is seconds since the epoch, `seconds` how long the run has worked in all its
    sessions; an outcome "new" has said nothing yet, and `started` is then when its folder was made. `settings` maps
    names such as `recipe.epochs` to values, for comparison."""

    path: str
    name: str
    outcome: RunOutcome
    best_validation_accuracy: float | None = None
    started: float | None = None
    seconds: float = 0.0
    images_per_second: float = 0.0
    epochs_done: int = 0
    epochs: int = 0
    step: int = 0
    device: str = ""
    launcher: str = ""
    parameters: int | None = None
    peak_bytes: int | None = None
    forecast_bytes: int | None = None
    failure: str = ""
    settings: FrozenMap[Value] = FrozenMap()
    model_path: str | None = None
    is_resumable: bool = False

    @property
    def folder(self) -> Path:
        return Path(self.path)

    @property
    def model(self) -> Path | None:
        """The finished model's folder; None where there is none."""
        return None if self.model_path is None else Path(self.model_path)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A summary with what it was made from: size and time of the record."""

    version: int
    size_bytes: int
    mtime_ns: int
    summary: RunSummary


def list_runs(runs_root: Path) -> list[RunSummary]:
    """All runs below `runs_root`, newest first; a folder that is no run is passed over."""
    try:
        folders = [entry for entry in runs_root.iterdir() if not entry.name.startswith(".") and is_run(entry)]
    except OSError:
        return []
    summaries = [summarise(folder) for folder in folders]
    return sorted(summaries, key=lambda summary: (summary.started or 0.0, summary.folder.name), reverse=True)


def is_run_of(run: RunSummary, project: Project) -> bool:
    """Whether `run` trained this project: one of the same name with the same folder of pictures."""
    return bool(project.data.folder) and (run.name, run.settings.get("data.folder")) == (
        project.name,
        project.data.folder,
    )


def preferred_run(runs: Iterable[RunSummary], on_screen: Path | None, project: Project) -> RunSummary | None:
    """Of `runs`, newest first, the one that a person means who has named none: that on the screen, else the open
    project's newest, else the newest of all."""
    known = list(runs)
    shown = (run for run in known if on_screen is not None and run.folder == on_screen)
    own = (run for run in known if is_run_of(run, project))
    return next(shown, None) or next(own, None) or next(iter(known), None)


def summarise(run_folder: Path) -> RunSummary:
    """The summary of one run; remembered in the run folder once the run has ended."""
    try:
        stat = events_file(run_folder).stat()
    except OSError:
        return _with_files(_summary_of(run_folder, RunState(), ""), run_folder)
    stored = _remembered(run_folder)
    if stored is not None and (stored.size_bytes, stored.mtime_ns) == (stat.st_size, stat.st_mtime_ns):
        return _with_files(stored.summary, run_folder)
    state, failure = _skim(events_file(run_folder))
    summary = _summary_of(run_folder, state, failure)
    if summary.outcome not in {"new", "running"}:
        _remember(run_folder, _Stored(_SUMMARY_VERSION, stat.st_size, stat.st_mtime_ns, summary))
    return _with_files(summary, run_folder)


def _with_files(summary: RunSummary, run_folder: Path) -> RunSummary:
    """What lies in the folder now, which can change without a word in the record."""
    model = str(model_folder(run_folder)) if has_model(run_folder) else None
    resumable = summary.outcome in {"stopped", "failed", "died"} and has_checkpoint(run_folder)
    return replace(summary, path=str(run_folder), model_path=model, is_resumable=resumable)


def _summary_of(run_folder: Path, state: RunState, failure: str) -> RunSummary:
    started, ended = state.started, state.ended
    project = _project_or_none(run_folder)
    best = ended.best_validation_accuracy if ended else None
    return RunSummary(
        path=str(run_folder),
        name=(started.name if started else "") or (project.name if project else "") or run_folder.name,
        outcome=_outcome(state),
        best_validation_accuracy=best if best is not None else state.best_validation_accuracy,
        started=(started.time if started else state.first_time) or _made_at(run_folder),
        seconds=state.active_seconds,
        images_per_second=(ended.images_per_second if ended else 0.0) or state.images_per_second,
        epochs_done=len(state.epochs),
        epochs=started.epochs if started else (project.recipe.epochs if project else 0),
        step=state.step,
        device=started.device if started else "",
        launcher=started.launcher if started else "",
        parameters=started.parameters if started else None,
        peak_bytes=ended.peak_bytes if ended else None,
        forecast_bytes=started.forecast_bytes if started else None,
        failure=failure,
        settings=settings_of(project) if project else FrozenMap(),
    )


def _made_at(run_folder: Path) -> float | None:
    """When the folder of a run that has said nothing was made: by its name, else by the time of its project."""
    with suppress(ValueError, OverflowError):
        return time.mktime(time.strptime(run_folder.name.partition("_")[0], STAMP))
    try:
        return project_file(run_folder).stat().st_mtime
    except OSError:
        return None


def _outcome(state: RunState) -> RunOutcome:
    if state.ended is not None:
        return state.ended.outcome
    if state.started is not None:
        return "running" if process_is_alive(state.started.pid, state.started.process_started) else "died"
    return "new"


def _skim(path: Path) -> tuple[RunState, str]:
    """The state by the telling events and the newest step, and the failure in one line."""
    state, step, last = RunState(), b"", b""
    try:
        with path.open("rb") as file:
            for line in _whole_lines(file):
                kind = _KIND.match(line)
                if kind is None or kind[1].decode() in _TELLING:
                    event = _event(line)
                    if isinstance(event, Started):
                        # A session that died had its last moment in a beat.
                        state, step = _heard_until(state, last), b""
                    state = state.after(event)
                elif kind[1] == b"Stepped":
                    step = line
                last = line
    except OSError:
        return state, ""
    if step:
        state = state.after(_event(step))
    state = _heard_until(state, last)
    failed = state.failed
    return state, f"{failed.kind}: {failed.message}"[:500] if failed else ""


def _heard_until(state: RunState, last: bytes) -> RunState:
    """The state when `last` was said, a line that may be no telling one."""
    return replace(state, last_time=max(state.last_time, _event(last).time)) if last else state


def _event(line: bytes) -> Event:
    return event_from_line(line.decode("utf-8", "replace"))


def _whole_lines(file: BinaryIO) -> Iterable[bytes]:
    return (line for line in file if line.endswith(b"\n") and line.strip())


def _remembered(run_folder: Path) -> _Stored | None:
    try:
        stored = cast(_Stored, from_plain(_Stored, json.loads(read_text(run_folder / _SUMMARY))))
    except (OSError, ValueError, RecursionError, MalformedValue):
        return None
    return stored if stored.version == _SUMMARY_VERSION else None


def _remember(run_folder: Path, stored: _Stored) -> None:
    """Not synced to disk: a summary that is lost or torn is made again."""
    temporary = run_folder / f".{_SUMMARY}.tmp"
    with suppress(OSError):
        temporary.write_text(dumps(stored), "utf-8")
        temporary.replace(run_folder / _SUMMARY)


def _project_or_none(run_folder: Path) -> Project | None:
    try:
        return load_project(project_file(run_folder))
    except ProjectUnreadable:
        return None


def settings_of(project: Project) -> FrozenMap[Value]:
    """The project as a flat table: `recipe.*` and the other parts, and `network.<block id>[.<setting>]`."""
    flat: dict[str, Value] = {"data.folder": project.data.folder, "data.classes": project.class_count}
    for name in ("data", "preprocessing", "augmentation", "recipe"):
        part = getattr(project, name)
        for spec in fields_of(part):
            flat[f"{name}.{spec.name}"] = getattr(part, spec.name)
    flat["network.template"] = project.network.template
    for block in project.network.blocks:
        flat[f"network.{block.id}"] = block.kind
        for setting, value in block.settings.items():
            flat[f"network.{block.id}.{setting}"] = value
        if block.frozen:
            flat[f"network.{block.id}.frozen"] = True
    return FrozenMap(flat)


def differing_settings(summaries: Iterable[RunSummary]) -> tuple[str, ...]:
    """The names of settings that are not the same in all of these runs, in the order of `settings_of`."""
    tables = [summary.settings for summary in summaries]
    names = dict.fromkeys(name for table in tables for name in table)
    missing = object()
    return tuple(name for name in names if len({table.get(name, missing) for table in tables}) > 1)


def resume_project(run_folder: Path) -> Project | Problem:
    """The project of a run that can go on, or why it cannot."""
    summary = summarise(run_folder)
    name = run_folder.name
    project_path = str(project_file(run_folder))
    if summary.outcome == "running":
        state, _ = _skim(events_file(run_folder))
        pid = state.started.pid if state.started else 0
        return Problem("still_running", place=name, facts=FrozenMap({"run": name, "pid": pid}))
    if summary.outcome == "finished" and summary.epochs_done >= summary.epochs:
        facts: dict[str, Value] = {
            "run": name,
            "epochs": summary.epochs,
            "project": project_path,
            "more": 2 * summary.epochs,
        }
        return Problem("already_finished", place=name, facts=FrozenMap(facts))
    if not has_checkpoint(run_folder):
        return Problem("nothing_to_resume", place=name, facts=FrozenMap({"run": name, "project": project_path}))
    try:
        return load_project(project_file(run_folder))
    except ProjectUnreadable as error:
        return Problem("request_refused", place=name, facts=FrozenMap({"detail": str(error)}))
