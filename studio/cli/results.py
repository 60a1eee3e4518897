"""`studio predict`, `studio evaluate` and `studio runs`: what came out of training."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timezone
from pathlib import Path

from rich.cells import cell_len
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from studio.cli.console import (
    GOOD,
    TROUBLE,
    err,
    finite,
    out,
    percent,
    print_json,
    printable,
    rounded,
    safe,
    seconds_text,
    trouble,
    wrong_use,
)
from studio.cli.projects import index_of, inspected, project_at
from studio.core.codec import to_plain
from studio.core.files import Folders
from studio.core.problem import Problem
from studio.core.text import tr
from studio.dataset.formats import PICTURE_SUFFIXES, is_hidden_folder, is_system_file, suffix_of
from studio.dataset.labels import natural_key
from studio.dataset.repairs import repaired
from studio.dataset.split import split
from studio.runs.answers import Prediction
from studio.runs.catalogue import RunSummary, differing_settings, list_runs
from studio.runs.folder import find_run, has_model, model_folder
from studio.runs.launchers.process import EngineProcess
from studio.runs.scores import ClassScore, class_scores

# Small enough for a bar that moves, large enough to fill batches.
_AT_ONCE = 64
_SHOWN_SETTINGS = 6


def predict(model: str, paths: Sequence[Path], top: int, folders: Folders, runs: Path | None, *, as_json: bool) -> int:
    """The likeliest labels of each picture; a picture that cannot be read is refused by name and counts as trouble."""
    found = _model_at(model, runs or folders.runs)
    pictures = list(pictures_in(paths))
    if not pictures:
        raise wrong_use(tr("There is no picture in {paths}.", paths=", ".join(str(path) for path in paths)))
    with _engine(folders) as engine:
        predictions = _predicted(engine, found, pictures, top)
        # Before the engine is closed, which takes its time.
        if as_json:
            print_json([_prediction_document(prediction) for prediction in predictions])
        else:
            _print_predictions(predictions)
    return TROUBLE if any(prediction.refused is not None for prediction in predictions) else GOOD


def _model_at(text: str, runs_root: Path) -> Path:
    """The model that a person names: a run, its model folder, that folder zipped."""
    path = Path(text).expanduser()
    run = find_run(text, runs_root)
    if run is not None and (path.absolute() == run or not path.exists()):
        if not has_model(run):
            raise wrong_use(tr("{run} has no finished model. Resume it: studio train --resume {run}", run=run))
        return model_folder(run)
    if not path.exists():
        raise wrong_use(
            tr(
                "{path} does not exist. Name a run folder, its model folder, or a zipped model; “studio runs” lists "
                "the runs.",
                path=text,
            )
        )
    return path.absolute()


def pictures_in(paths: Iterable[Path]) -> Iterator[Path]:
    """The named files as they are, and the pictures in named folders in natural order."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted((name for name in folders if not is_hidden_folder(name)), key=natural_key)
            kept = (name for name in files if suffix_of(name) in PICTURE_SUFFIXES and not is_system_file(name))
            yield from (Path(folder) / name for name in sorted(kept, key=natural_key))


@contextmanager
def _engine(folders: Folders) -> Iterator[EngineProcess]:
    """An engine for predictions, which gets ready while we look at the pictures."""
    engine = EngineProcess(folders.cache, only_predicts=True)
    engine.warm()
    try:
        yield engine
    finally:
        engine.close()


def _predicted(engine: EngineProcess, model: Path, pictures: Sequence[Path], top: int) -> list[Prediction]:
    predictions: list[Prediction] = []
    console = err()
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(tr("Looking at the pictures"), total=len(pictures))
        for start in range(0, len(pictures), _AT_ONCE):
            part = pictures[start : start + _AT_ONCE]
            answer = engine.predict(model, [path.absolute() for path in part], top).result()
            if isinstance(answer, Problem):
                raise trouble(answer)
            # By the names that were given, not by the absolute ones that the engine needs.
            named = zip(part, answer, strict=True)
            predictions += [Prediction(str(path), one.top, one.refused) for path, one in named]
            progress.update(task, completed=len(predictions))
    return predictions


def _prediction_document(prediction: Prediction) -> dict[str, object]:
    top = [{"label": guess.label, "probability": finite(guess.probability)} for guess in prediction.top]
    return {"path": prediction.path, "top": top, "refused": prediction.refused}


def _print_predictions(predictions: Sequence[Prediction]) -> None:
    console = out()
    for number, prediction in enumerate(predictions):
        if number:
            console.print()
        console.print(f"[bold]{safe(prediction.path)}[/]")
        if prediction.refused is not None:
            console.print(f"  [red]{safe(prediction.refused)}[/]")
            continue
        # One below the other: labels that are numbers themselves cannot be told from shares beside them.
        width = max((cell_len(printable(guess.label)) for guess in prediction.top), default=0)
        for guess in prediction.top:
            gap = " " * (width - cell_len(printable(guess.label)))
            console.print(f"  {safe(guess.label)}{gap}  {percent(guess.probability):>6}")


def evaluate(run: str, folders: Folders, runs: Path | None, as_json: bool) -> int:
    """The run's model on the pictures that were kept out of its training, measured anew."""
    found = find_run(run, runs or folders.runs)
    if found is None:
        raise wrong_use(tr("{run} is not a run. “studio runs” lists them.", run=run))
    model = _model_at(str(found), folders.runs)
    project = project_at(found)
    with _engine(folders) as engine:
        seen = inspected(index_of(Path(project.data.folder), project.data.reading), folders.cache)
        inspection = repaired(seen, project.data)
        places = split(inspection, project.data).validation
        if not len(places):
            raise wrong_use(tr("{folder} holds no pictures to validate on.", folder=project.data.folder))
        classes = inspection.index.classes
        pictures = [inspection.index.path(int(place)) for place in places]
        labels = [classes[int(inspection.index.pictures.labels[place])] for place in places]
        predictions = _predicted(engine, model, pictures, max(1, len(classes)))
    report = score(classes, labels, predictions)
    if as_json:
        print_json({"run": str(found), "split": "validation", **report})
    else:
        _print_score(report)
    return GOOD


def score(classes: Sequence[str], labels: Sequence[str], predictions: Sequence[Prediction]) -> dict[str, object]:
    """Accuracy, mean loss (cross-entropy), precision, recall and F1 per class, and the confusion matrix
    `[true][predicted]`; refused pictures are counted, not scored."""
    place = {name: number for number, name in enumerate(classes)}
    confusion = [[0] * len(classes) for _ in classes]
    loss = 0.0
    scored = [(truth, one) for truth, one in zip(labels, predictions, strict=True) if one.top and not one.refused]
    for truth, one in scored:
        guessed = one.top[0].label
        if guessed in place:
            confusion[place[truth]][place[guessed]] += 1
        loss -= math.log(max(1e-12, next((g.probability for g in one.top if g.label == truth), 0.0)))
    count = len(scored)
    right = sum(confusion[n][n] for n in range(len(classes)))
    return {
        "count": count,
        "refused": len(predictions) - count,
        "accuracy": right / count if count else None,
        "loss": loss / count if count else None,
        "classes": [_class_record(one) for one in class_scores(classes, confusion)],
        "confusion": confusion,
    }


def _class_record(one: ClassScore) -> dict[str, object]:
    """A class's scores for the document; None where nothing was predicted or nothing is there."""
    scores = {"precision": one.precision, "recall": one.recall, "f1": one.f1}
    return {"label": one.label, "count": one.count, **scores}


def _print_score(report: dict[str, object]) -> None:
    console = out()
    table = Table(box=None, pad_edge=False)
    table.add_column(tr("Class"))
    for title in (tr("Pictures"), tr("Precision"), tr("Recall"), "F1"):
        table.add_column(title, justify="right")
    rows = report["classes"]
    for row in rows if isinstance(rows, list) else []:
        shares = (percent(row[name]) for name in ("precision", "recall", "f1"))
        table.add_row(safe(row["label"]), f"{row['count']:,}", *shares)
    console.print(table)
    accuracy, loss = report["accuracy"], report["loss"]
    if isinstance(accuracy, float) and isinstance(loss, float):
        facts = {"accuracy": percent(accuracy), "loss": f"{loss:.4f}", "count": report["count"]}
        console.print(tr("Accuracy {accuracy}, loss {loss} on {count} pictures.", **facts))


def runs_table(folders: Folders, runs: Path | None, as_json: bool) -> int:
    """All runs, newest first, with the settings in which they differ."""
    root = runs or folders.runs
    summaries = list_runs(root)
    if as_json:
        print_json([_run_document(summary) for summary in summaries])
        return GOOD
    if not summaries:
        out().print(safe(tr("There are no runs in {folder} yet.", folder=root)))
        return GOOD
    _print_runs(summaries)
    return GOOD


def _run_document(summary: RunSummary) -> dict[str, object]:
    return {
        "run": summary.path,
        "name": summary.name,
        "outcome": summary.outcome,
        "best_validation_accuracy": finite(summary.best_validation_accuracy),
        "started": _time_text(summary.started, "%Y-%m-%dT%H:%M:%SZ", UTC),
        "seconds": rounded(summary.seconds, 3),
        "images_per_second": rounded(summary.images_per_second, 1),
        "epochs_done": summary.epochs_done,
        "epochs": summary.epochs,
        "device": summary.device,
        "launcher": summary.launcher,
        "parameters": summary.parameters,
        "peak_bytes": summary.peak_bytes,
        "forecast_bytes": summary.forecast_bytes,
        "failure": summary.failure,
        "model": summary.model_path,
        "resumable": summary.is_resumable,
        "settings": to_plain(summary.settings),
    }


def _time_text(seconds: float | None, form: str, zone: timezone | None = None) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, zone).strftime(form)
    except (ValueError, OverflowError, OSError):  # a record with a time that is in no calendar
        return None


def _print_runs(summaries: Sequence[RunSummary]) -> None:
    console = out()
    different = [name for name in differing_settings(summaries) if name != "data.folder"][:_SHOWN_SETTINGS]
    table = Table(box=None, pad_edge=False)
    table.add_column(tr("Run"), overflow="fold")
    table.add_column(tr("Outcome"))
    for title in (tr("Accuracy"), tr("Epochs"), tr("Time")):
        table.add_column(title, justify="right")
    for name in different:
        table.add_column(printable(name.rpartition(".")[2]), overflow="fold")
    for summary in summaries:
        values = ("" if (value := summary.settings.get(name)) is None else str(value) for name in different)
        table.add_row(
            safe(summary.folder.name),
            outcome_text(summary),
            percent(summary.best_validation_accuracy),
            f"{summary.epochs_done}/{summary.epochs}",
            seconds_text(summary.seconds),
            *(safe(value) for value in values),
        )
    console.print(table)


def outcome_text(summary: RunSummary) -> str:
    """What became of a run, in a word."""
    return {
        "new": tr("not started"),
        "running": tr("running"),
        "finished": tr("finished"),
        "stopped": tr("stopped"),
        "failed": tr("failed"),
        "died": tr("died"),
    }[summary.outcome]
