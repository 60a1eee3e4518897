"""The terminal: the same abilities as the window, for scripts, tests and clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from studio import __version__
from studio.cli.console import Trouble, say_trouble
from studio.core.settings import load_settings
from studio.core.templates import DEFAULT_TEMPLATE
from studio.core.text import set_language, tr
from studio.folders import user_folders
from studio.runs.launchers import DEFAULT as DEFAULT_LAUNCHER


class Commands(TyperGroup):
    """The commands; trouble in one of them is a sentence on standard error and an exit code, never a trace."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Trouble as trouble:
            say_trouble(trouble.sentence)
            raise typer.Exit(trouble.code) from None
        except KeyboardInterrupt:
            say_trouble(tr("Stopped."))
            raise typer.Exit(1) from None


app = typer.Typer(
    name="studio",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print a document for programs instead of text for people.")]
RunsFolder = Annotated[Path | None, typer.Option("--runs", help="The folder that holds the runs.", metavar="FOLDER")]
TemplateName = Annotated[str, typer.Option("--template", help="The network to begin with.", metavar="NAME")]


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"Lantern Studio {__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Train image classifiers and see where the memory goes.

    Without a command, the window opens: "studio", or "studio PATH" with a project, a run or a folder of pictures.
    """
    set_language(load_settings(user_folders().config).language)


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="A folder with one folder of pictures for each class.")],
    *,
    template: TemplateName = DEFAULT_TEMPLATE,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The project file to write.", metavar="P.studio.json")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="The project's name; the folder's name by default.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a project for a folder of pictures."""
    from studio.cli import projects

    raise typer.Exit(
        projects.new(folder, user_folders().cache, template, output, name=name, force=force, as_json=as_json)
    )


@app.command()
def check(
    project: Annotated[Path, typer.Argument(help="A project file or a run folder.")], as_json: AsJson = False
) -> None:
    """Show shapes, parameters, memory forecast and problems of a project."""
    from studio.cli import projects

    raise typer.Exit(projects.check_project(project, as_json))


@app.command()
def data(
    folder: Annotated[Path, typer.Argument(help="A folder of pictures.")],
    pictures: Annotated[bool, typer.Option("--pictures", help="Also report on each picture.")] = False,
    reading: Annotated[str, typer.Option("--reading", help="Read the folder in this way.", metavar="ID")] = "",
    as_json: AsJson = False,
) -> None:
    """Report on the health of a folder of pictures; nothing in it is changed."""
    from studio.cli import pictures as page

    raise typer.Exit(page.data(folder, user_folders().cache, reading, pictures, as_json))


@app.command()
def train(
    target: Annotated[
        Path | None, typer.Argument(metavar="[PROJECT_OR_FOLDER]", help="A project file or a folder of pictures.")
    ] = None,
    *,
    sample: Annotated[bool, typer.Option("--sample", help="Train on the sample: 2,000 handwritten digits.")] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a setting for this run, such as recipe.epochs=5.", metavar="NAME=VALUE"),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.")] = "",
    launcher: Annotated[str, typer.Option("--launcher", help="Where it runs: process or thread.")] = DEFAULT_LAUNCHER,
    resume: Annotated[str, typer.Option("--resume", help="Go on with this run.", metavar="RUN")] = "",
    runs: RunsFolder = None,
    template: TemplateName = DEFAULT_TEMPLATE,
    as_json: AsJson = False,
) -> None:
    """Train a network. Ctrl+C stops the run in order and keeps what it has learned."""
    from studio.cli import training

    order = training.TrainOrder(target, sample, tuple(changes or ()), device, launcher, resume, runs, template, as_json)
    raise typer.Exit(training.train(order, user_folders()))


@app.command()
def explain(
    source: Annotated[str, typer.Argument(metavar="[FILE or -]", help="A log, a run folder, or - for input.")] = "-",
    elsewhere: Annotated[
        bool, typer.Option("--elsewhere", help="The text comes from another machine: do not measure this one.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Explain an error: what happened, why, and how to mend it."""
    from studio.cli import hints

    raise typer.Exit(hints.explain_text(source, as_json, elsewhere, user_folders().data))


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Check whether this machine can train, and say what to do where it cannot."""
    from studio.cli import environment

    raise typer.Exit(environment.examine(user_folders(), as_json))


@app.command()
def evaluate(
    run: Annotated[str, typer.Argument(help="A run folder or a run's name.")],
    runs: RunsFolder = None,
    as_json: AsJson = False,
) -> None:
    """Measure a run's model on the pictures kept out of its training."""
    from studio.cli import results

    raise typer.Exit(results.evaluate(run, user_folders(), runs, as_json))


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="A run, its model folder, or that folder zipped.")],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Pictures, or folders of them.")],
    top: Annotated[int, typer.Option("--top", min=1, max=1000, help="How many labels for each picture.")] = 5,
    runs: RunsFolder = None,
    as_json: AsJson = False,
) -> None:
    """Say what is in pictures."""
    from studio.cli import results

    raise typer.Exit(results.predict(model, paths, top, user_folders(), runs, as_json=as_json))


@app.command()
def runs(runs: RunsFolder = None, as_json: AsJson = False) -> None:
    """List the runs and compare them."""
    from studio.cli import results

    raise typer.Exit(results.runs_table(user_folders(), runs, as_json))
