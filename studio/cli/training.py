"""`studio train`: start or resume a run, follow it to its end, stop it in order, and say what came out."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from studio.advice.live import hints_for
from studio.advice.runfacts import run_facts
from studio.cli.changes import with_changes
from studio.cli.console import (
    GOOD,
    TROUBLE,
    Trouble,
    command_name,
    err,
    finite,
    out,
    percent,
    print_json,
    print_problems,
    problem_document,
    problem_text,
    quoted,
    rounded,
    safe,
    seconds_text,
    short_path,
    trouble,
    wrong_use,
)
from studio.cli.hints import print_hints, print_next_steps
from studio.cli.narrator import LineTeller, Narrator, Teller
from studio.cli.projects import checked, index_of, network_of, project_at, proposed_project
from studio.cli.results import pictures_in
from studio.core.events import Ended
from studio.core.files import Folders
from studio.core.problem import Problem
from studio.core.project import Project
from studio.core.quantities import size_text
from studio.core.runstate import RunState
from studio.core.text import problem_message, tr, trn
from studio.dataset.sample import SAMPLE_NAME, unpack_sample
from studio.memory.forecast import forecast_check
from studio.runs.catalogue import resume_project
from studio.runs.folder import RunsUnwritable, create_run, find_run, has_checkpoint, has_model, is_run, model_folder
from studio.runs.follow import Follower
from studio.runs.launchers import LAUNCHERS, RunHandle

_POLL_SECONDS = 0.1
_READ_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class TrainOrder:
    """What the command line asked for."""

    target: Path | None
    sample: bool
    changes: tuple[str, ...]
    device: str
    launcher: str
    resume: str
    runs: Path | None
    template: str
    as_json: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run that has come to its end here; `ended` is None where it never began, or ended without a word."""

    run_folder: Path
    project: Project
    state: RunState
    ended: Ended | None
    problem: Problem | None
    was_stopped: bool = False

    @property
    def word(self) -> str:
        """What became of it, in a word for programs."""
        if self.ended is not None:
            return self.ended.outcome
        if self.was_stopped and (self.state.started is None or self.state.ended is not None):
            return "stopped"  # asked to before the engine had begun, so that there is nothing of it to record
        if self.problem is not None and self.problem.code in ("request_refused", "record_not_written"):
            return "failed"  # the host lives and said why
        return "died" if self.state.started else "failed"


def train(order: TrainOrder, folders: Folders) -> int:
    """Train, and return the exit code."""
    try:
        return _trained(order, folders)
    except Trouble as error:
        if order.as_json and error.code == TROUBLE:  # the stream ends with its summary, also where no run began
            print_json({**_summary(None), "reason": error.sentence}, is_line=True)
        raise
    except KeyboardInterrupt:
        if order.as_json:
            print_json({**_summary(None), "outcome": "stopped", "reason": ""}, is_line=True)
        raise


def _trained(order: TrainOrder, folders: Folders) -> int:
    if order.launcher not in LAUNCHERS:
        names = ", ".join(LAUNCHERS)
        raise wrong_use(tr("There is no launcher {name}. Possible are: {names}.", name=order.launcher, names=names))
    runs_root = order.runs or folders.runs
    if order.resume:
        run_folder, project = _to_resume(order, runs_root)
    else:
        project = _project(order, folders)
        report = checked(project)
        if not report.is_ready:
            return _refuse(order, report.all_problems)
        print_problems(err(), [problem for problem in report.all_problems if problem.code == "network.memory"])
        try:
            run_folder = create_run(project, runs_root)
        except RunsUnwritable as error:
            raise trouble(error.problem) from None
    outcome = _host(order, folders, run_folder, project)
    _report(order, folders, outcome)
    return GOOD if outcome.ended is not None and outcome.ended.outcome == "finished" else TROUBLE


def _to_resume(order: TrainOrder, runs_root: Path) -> tuple[Path, Project]:
    if order.target is not None or order.sample or order.changes or order.device:
        raise wrong_use(tr("--resume goes on with a run exactly as it was: it takes no project, --set or --device."))
    run_folder = find_run(order.resume, runs_root)
    if run_folder is None:
        raise wrong_use(
            tr("{run} is not a run, and there is none of that name in {folder}.", run=order.resume, folder=runs_root)
        )
    project = resume_project(run_folder)
    if isinstance(project, Problem):
        raise trouble(project)
    return run_folder, project


def _project(order: TrainOrder, folders: Folders) -> Project:
    if order.sample == (order.target is not None):
        raise wrong_use(tr("Name a project file or a folder of pictures, or use --sample for the sample."))
    if order.sample:
        project = proposed_project(_sample(folders), network_of(order.template), folders.cache, SAMPLE_NAME)
    elif order.target is not None and order.target.is_dir() and not is_run(order.target):
        project = proposed_project(order.target, network_of(order.template), folders.cache)
    else:
        project = _with_classes(project_at(order.target or Path()))
    if order.device:
        project = with_changes(project, [f"recipe.device={order.device}"])
    return with_changes(project, order.changes)


def _sample(folders: Folders) -> Path:
    try:
        return unpack_sample(folders.data / "sample")
    except OSError as error:
        raise Trouble(
            tr(
                "The sample cannot be unpacked to {folder}: {reason}. Free some space there, or choose another place "
                "with LANTERN_HOME.",
                folder=folders.data,
                reason=error.strerror,
            )
        ) from None


def _with_classes(project: Project) -> Project:
    """A project written by hand may leave its classes to the folder."""
    if project.data.classes:
        return project
    index = index_of(Path(project.data.folder), project.data.reading)
    return dataclasses.replace(project, data=dataclasses.replace(project.data, classes=index.classes))


def _refuse(order: TrainOrder, problems: Sequence[Problem]) -> int:
    """A project with errors is not started."""
    console = err()
    console.print(safe(tr("The project cannot be trained as it is:")))
    print_problems(console, problems)
    if order.as_json:
        documents = [problem_document(problem) for problem in problems]
        print_json({**_summary(None), "problems": documents}, is_line=True)
    return TROUBLE


def _host(order: TrainOrder, folders: Folders, run_folder: Path, project: Project) -> Outcome:
    teller: Teller = LineTeller(err()) if order.as_json else Narrator(out())
    state = RunState()
    before = Follower(run_folder, is_host_alive=lambda _started: True)
    while (events := before.poll(_READ_BYTES)) or before.is_behind:
        for event in events:
            state = state.after(event)
    launcher = LAUNCHERS[order.launcher].make(folders.cache)
    try:
        with _interrupts() as interrupts, teller:
            handle = launcher.start(run_folder, resume=bool(order.resume))
            state, ended = _follow(handle, before, state, teller, interrupts)
    finally:
        launcher.close()
    return Outcome(run_folder, project, state, ended, handle.problem, was_stopped=interrupts.count > 0)


class Interrupts:
    """How often Ctrl+C was pressed."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, _signal: int, _frame: FrameType | None) -> None:
        self.count += 1


@contextmanager
def _interrupts() -> Iterator[Interrupts]:
    """Count interrupts instead of breaking off, so that the run can be stopped in order."""
    interrupts = Interrupts()
    numbers = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # `nohup` wants the run to go on
        numbers.append(hangup)
    before = {number: signal.signal(number, interrupts) for number in numbers}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _follow(
    handle: RunHandle, follower: Follower, state: RunState, teller: Teller, interrupts: Interrupts
) -> tuple[RunState, Ended | None]:
    """Tell the run until its host is done with it; the `Ended` of this session, if it came to one."""
    answered = 0
    ended: Ended | None = None
    while True:
        is_alive = not handle.wait(_POLL_SECONDS)
        events = follower.poll(_READ_BYTES)
        for event in events:
            state = state.after(event)
            ended = event if isinstance(event, Ended) else ended
            teller.tell(event, state)
        teller.show(state)
        if not is_alive and not events and not follower.is_behind:
            return state, ended
        while answered < interrupts.count:
            answered += 1
            if answered == 1:
                teller.say(tr("Stopping... press Ctrl+C again to end at once."))
                handle.stop()
            else:
                handle.kill()


def _summary(outcome: Outcome | None) -> dict[str, object]:
    """The last line of `studio train --json`."""
    state = outcome.state if outcome else RunState()
    ended = outcome.ended if outcome else None
    started = state.started
    best = ended.best_validation_accuracy if ended else None
    return {
        "outcome": outcome.word if outcome else "failed",
        "best_validation_accuracy": finite(best if best is not None else state.best_validation_accuracy),
        "seconds": rounded(state.active_seconds, 3),
        "images_per_second": rounded((ended.images_per_second if ended else 0.0) or state.images_per_second, 1),
        "peak_bytes": ended.peak_bytes if ended else None,
        "forecast_bytes": started.forecast_bytes if started else None,
        "run": str(outcome.run_folder) if outcome else None,
        "model": str(model_folder(outcome.run_folder)) if outcome and has_model(outcome.run_folder) else None,
        "epochs": len(state.epochs),
        "reason": _reason(outcome),
    }


def _reason(outcome: Outcome | None) -> str:
    """Why it did not finish; "" where it did."""
    if outcome is None:
        return tr("The project cannot be trained as it is:").rstrip(":：")
    if outcome.ended is None and outcome.word == "stopped":
        return ""
    failed, ended = outcome.state.failed, outcome.ended
    if failed is not None:
        # What the engine expected has a sentence in the user's language, under the failure's name.
        expected = next((problem for problem in outcome.state.warnings if problem.code == failed.kind), None)
        return problem_message(expected) if expected else f"{failed.kind}: {failed.message}"
    if outcome.problem is not None and (ended is None or ended.outcome == "died"):
        return problem_text(outcome.problem)
    return ended.reason if ended else tr("The run did not begin.")


def _report(order: TrainOrder, folders: Folders, outcome: Outcome) -> None:
    summary = _summary(outcome)
    console = err() if order.as_json else out()
    ended = outcome.ended
    is_finished = ended is not None and ended.outcome == "finished"
    if not is_finished:
        _report_trouble(outcome, str(summary["outcome"]), str(summary["reason"]))
    if not order.as_json or not is_finished:
        for line in _closing_lines(order, folders, outcome):
            console.print(safe(line))
    if order.as_json:
        print_json(summary, is_line=True)


def _report_trouble(outcome: Outcome, word: str, reason: str) -> None:
    console = err()
    match word:
        case "stopped":
            console.print(safe(tr("Stopped.")))
        case "died":
            console.print(safe(tr("The run died. {reason}", reason=reason)))
        case _:
            console.print(safe(tr("The run failed. {reason}", reason=reason)))
    if word != "stopped":
        hints = hints_for(outcome.project, (), run_facts(outcome.state, outcome.project))
        print_hints(console, hints, outcome.project)
        if not hints:
            print_next_steps(console, reason)


def _closing_lines(order: TrainOrder, folders: Folders, outcome: Outcome) -> Iterator[str]:
    state, ended = outcome.state, outcome.ended
    last = state.epochs[-1] if state.epochs else None
    if last is not None and last.validation is not None:
        best = ended.best_validation_accuracy if ended else None
        yield trn(
            len(state.epochs),
            "Validation accuracy {best} after one epoch in {time}.",
            "Validation accuracy {best}, the best of {n} epochs in {time} (the last had {last}).",
            best=percent(best if best is not None else state.best_validation_accuracy),
            last=percent(last.validation.accuracy),
            time=seconds_text(state.active_seconds),
        )
    forecast = forecast_check(state)
    if forecast is not None:
        yield tr("Peak memory: {sentence}", sentence=forecast.sentence)
    elif ended is not None and ended.peak_bytes:
        yield tr("Peak memory {size}.", size=size_text(ended.peak_bytes))
    yield tr("The run:   {path}", path=outcome.run_folder)
    if has_model(outcome.run_folder):
        model = model_folder(outcome.run_folder)
        yield tr("The model: {path}", path=model)
        picture = _try_picture(order, folders, outcome.project)
        yield tr("Try it:    {command}", command=f"{command_name()} predict {quoted(short_path(model))} {picture}")
    if has_checkpoint(outcome.run_folder) and (ended is None or ended.outcome != "finished"):
        run = quoted(short_path(outcome.run_folder))
        yield tr("Go on with: {command}", command=f"{command_name()} train --resume {run}")


def _try_picture(order: TrainOrder, folders: Folders, project: Project) -> str:
    """A picture for the proposed command: one that the sample brings to try, else one of the project's own."""
    places = [folders.data / "sample" / "try_these"] if order.sample else []
    places.append(Path(project.data.folder))
    # The first one only: going through all of a large set takes minutes.
    picture = next(pictures_in(place for place in places if place.is_dir()), None)
    return "PICTURE" if picture is None else quoted(short_path(picture))
