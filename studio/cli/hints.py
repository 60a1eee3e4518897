"""Hints in the terminal and as documents, and `studio explain`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, assert_never

from rich.console import Console

from studio.advice.explain import explain, nearest_topics
from studio.advice.hint import CommandRemedy, EditRemedy, Hint, Remedy, StepRemedy
from studio.advice.live import hints_for
from studio.advice.machine import measure
from studio.advice.runfacts import run_facts
from studio.cli.console import GOOD, command_name, err, out, print_json, safe, say_trouble, wrong_use
from studio.core.codec import to_plain
from studio.core.edits import SetBlock, SetPart
from studio.core.project import Project, ProjectUnreadable, load_project
from studio.core.text import tr
from studio.runs.folder import events_file, is_run, project_file
from studio.runs.follow import replay

# Of logs the end is searched, where the error is; this much takes a second or two.
_LONGEST_BYTES = 64 * 1024 * 1024
# Something that is still not at its end by then never comes to one (/dev/zero, `yes`).
_ENDLESS_BYTES = 1024 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024


def print_hints(console: Console, hints: Sequence[Hint], project: Project | None = None) -> None:
    """Each hint: what happened, what was measured, what mends it."""
    for number, hint in enumerate(hints, start=1):
        console.print(f"\n[bold]{number}. {safe(hint.title)}[/]")
        if hint.why:
            console.print(f"   {safe(hint.why)}")
        if hint.matched_line:
            console.print(f"   [dim]> {safe(hint.matched_line.strip()[:300])}[/]")
        for evidence in hint.evidence:
            console.print(f"   [cyan]•[/] {safe(evidence)}")
        for remedy in hint.remedies:
            console.print(f"   [green]→[/] {safe(_remedy_text(remedy))}")


def _remedy_text(remedy: Remedy) -> str:
    match remedy:
        case EditRemedy(label, edit):
            change = _as_change(remedy)
            return f"{label}: {change}" if change else f"{label} ({type(edit).__name__})"
        case CommandRemedy(label, command):
            return f"{label}: {command}" if label else command
        case StepRemedy(text):
            return text
    assert_never(remedy)


def _as_change(remedy: EditRemedy) -> str:
    """The edit as an option of `studio train`; "" where it is more than one value."""
    match remedy.edit:
        case SetPart(part, field, value):
            return f"--set {part}.{field}={'none' if value is None else value}"
        case SetBlock(block, field, value):
            return f"--set network.{block}.{field}={'none' if value is None else value}"
        case _:
            return ""


def _remedy_document(remedy: Remedy) -> dict[str, object]:
    match remedy:
        case EditRemedy(label, edit):
            plain = {"type": type(edit).__name__, **_plain_object(edit)}
            return {"kind": "edit", "text": label, "edit": plain, "option": _as_change(remedy)}
        case CommandRemedy(label, command):
            return {"kind": "command", "text": label, "command": command}
        case StepRemedy(text):
            return {"kind": "step", "text": text}
    assert_never(remedy)


def _plain_object(value: object) -> dict[str, object]:
    plain = to_plain(value)
    return dict(plain) if isinstance(plain, dict) else {}


def hint_document(hint: Hint) -> dict[str, object]:
    """A hint as `studio explain --json` prints it."""
    values = {name: to_plain(value) for name, value in hint.values.items()}
    return {
        "id": hint.id,
        "aliases": list(hint.aliases),
        "severity": hint.severity.value,
        "title": hint.title,
        "why": hint.why,
        "matched": {"line": hint.matched_line, "line_number": hint.matched_line_number, "values": values},
        "evidence": list(hint.evidence),
        "causes": list(hint.causes),
        "fixes": [_remedy_document(remedy) for remedy in hint.remedies],
        "sources": list(hint.sources),
    }


def explain_text(source: str, as_json: bool, is_elsewhere: bool, folder: Path) -> int:
    """Hints for a traceback, a log, or a run; `folder` is where the free disk counts."""
    machine = None if is_elsewhere else measure([folder])
    path = Path(source)
    if source != "-" and is_run(path):
        text, hints = "", _hints_of_run(path)
    else:
        text = _text_of(source)
        hints = explain(text, facts=machine)
    if as_json:
        print_json({"hints": [hint_document(hint) for hint in hints]})
        return GOOD
    if hints:
        print_hints(out(), hints)
        return GOOD
    out().print(safe(tr("Nothing in it is known here.")))
    print_next_steps(out(), text)
    return GOOD


def print_next_steps(console: Console, text: str) -> None:
    """What can be done about an error that nothing here explains: what it may be near to, and how to report it."""
    topics = nearest_topics(text)
    if topics:
        console.print(safe(tr("It may be near to:")))
        for topic in topics:
            console.print(safe(f"  • {topic.title}"))
    console.print(safe(tr("What can be done:")))
    steps = (
        tr("Search the web for the last line of the error, without the paths in it."),
        tr("See whether this machine is ready: {command}", command=f"{command_name()} doctor"),
        tr(
            "Open an issue where you got Lantern Studio, with the whole error and what the doctor says. A run keeps "
            "its error, with the trace, in {file} in its folder.",
            file=events_file(Path()).name,
        ),
    )
    for step in steps:
        console.print(f"   [green]→[/] {safe(step)}")


def _hints_of_run(run_folder: Path) -> tuple[Hint, ...]:
    try:
        project = load_project(project_file(run_folder))
    except ProjectUnreadable as error:
        say_trouble(str(error))
        project = Project()
    return hints_for(project, (), run_facts(replay(run_folder), project))


def _text_of(source: str) -> str:
    if source == "-":
        if sys.stdin.isatty():
            err().print(safe(tr("Paste the error, then press Ctrl+D.")))
        return _end_of(sys.stdin.buffer)
    try:
        with Path(source).open("rb") as file:
            if file.seekable():
                file.seek(max(0, file.seek(0, os.SEEK_END) - _LONGEST_BYTES))
            return _end_of(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise wrong_use(tr("{path} cannot be read: {reason}.", path=source, reason=reason)) from None


def _end_of(file: BinaryIO) -> str:
    """The last part of what comes, read in bounded memory; a stream without end is cut off."""
    kept = bytearray()
    total = 0
    while total < _ENDLESS_BYTES and (chunk := file.read(_CHUNK_BYTES)):
        total += len(chunk)
        kept += chunk
        if len(kept) > 2 * _LONGEST_BYTES:
            del kept[:-_LONGEST_BYTES]
    return kept[-_LONGEST_BYTES:].decode("utf-8", "replace")
