"""`--set recipe.epochs=5`: one value of a project changed by its name, with the possible names in every refusal."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from studio.cli.console import wrong_use
from studio.core.blocks import BLOCKS
from studio.core.fields import Field, Value
from studio.core.project import Project, fields_of, limits_in_words
from studio.core.text import tr

_PARTS = ("data", "preprocessing", "augmentation", "recipe")


def with_changes(project: Project, changes: Iterable[str]) -> Project:
    """`project` after each `name=value`.

    Raises:
        Trouble: an unknown name, or a value that the setting does not accept.
    """
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise wrong_use(tr("--set {change}: write it as NAME=VALUE, such as recipe.epochs=5.", change=change))
        project = _changed(project, name.strip(), text.strip())
    return project


def _changed(project: Project, name: str, text: str) -> Project:
    spec = dict(possible(project)).get(name)
    if spec is None:
        raise wrong_use(_unknown_name(project, name))
    value = parse(spec, text)
    if not spec.accepts(value):
        raise wrong_use(
            tr(
                "--set {name}={text}: expected {limits}.",
                name=name,
                text=text,
                limits=_limits_text(spec),
            )
        )
    part, *rest = name.split(".")
    if part == "network":
        block_id, setting = rest
        blocks = tuple(b.with_setting(setting, value) if b.id == block_id else b for b in project.network.blocks)
        return dataclasses.replace(project, network=dataclasses.replace(project.network, blocks=blocks))
    changed = dataclasses.replace(getattr(project, part), **{rest[0]: value})
    return dataclasses.replace(project, **{part: changed})


def _limits_text(spec: Field) -> str:
    limits = limits_in_words(spec)
    return tr("{limits} or none", limits=limits) if spec.optional else limits


def possible(project: Project) -> Iterator[tuple[str, Field]]:
    """Every name that can be set in this project, with its field."""
    for part in _PARTS:
        for spec in fields_of(getattr(project, part)):
            yield f"{part}.{spec.name}", spec
    for block in project.network.blocks:
        if block.kind in BLOCKS:
            for spec in BLOCKS[block.kind].fields:
                yield f"network.{block.id}.{spec.name}", spec


def _unknown_name(project: Project, name: str) -> str:
    names = [known for known, _spec in possible(project)]
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        return tr(
            "--set {name}: there is no such setting. Did you mean {near}? Possible are: {names}.",
            name=name,
            near=near[0],
            names=", ".join(names),
        )
    return tr("--set {name}: there is no such setting. Possible are: {names}.", name=name, names=", ".join(names))


def parse(spec: Field, text: str) -> Value:
    """The value that `text` stands for in this field; text that is none of its kind is returned as it is."""
    if spec.optional and text.lower() in {"none", "null", ""}:
        return None
    match spec.kind:
        case "bool":
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
                text.lower(), text
            )
        case "int" | "float":
            return _number(spec.kind == "int", text)
        case "choice" | "text":
            return text


def _number(is_whole: bool, text: str) -> Value:
    try:
        return int(text) if is_whole else float(text)
    except ValueError:
        return text
