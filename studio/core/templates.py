"""Networks to start from, stored as data in `resources/templates`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from studio.core import text
from studio.core.codec import from_plain
from studio.core.files import resources_folder
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Network

DEFAULT_TEMPLATE = "simple_cnn"
_ORDER = (
    "simple_cnn",
    "mlp",
    "lenet",
    "vgg_small",
    "resnet18",
    "resnet34",
    "resnet50",
    "mobilenet_small",
    "vit_tiny",
    "lstm_rows",
)


@dataclass(frozen=True, slots=True)
class Template:
    """A ready network with its name and what it is good for, in each language."""

    name: str
    labels: FrozenMap[str]
    helps: FrozenMap[str]
    network: Network

    @property
    def label(self) -> str:
        return self.labels.get(text.language(), self.labels["en"])

    @property
    def help(self) -> str:
        return self.helps.get(text.language(), self.helps["en"])


@cache
def templates() -> Mapping[str, Template]:
    """All templates by name, the usual ones first."""
    paths = (resources_folder() / "templates").glob("*.json")
    found = {path.stem: _read(path.stem, json.loads(path.read_text("utf-8"))) for path in sorted(paths)}
    first = {name: found[name] for name in _ORDER if name in found}
    return {**first, **found}


def _read(name: str, plain: dict[str, Any]) -> Template:
    blocks = tuple(
        from_plain(Block, {"id": f"b{n}", **block}, f"{name}.blocks[{n - 1}]")
        for n, block in enumerate(plain["blocks"], start=1)
    )
    return Template(name, FrozenMap(plain["label"]), FrozenMap(plain["help"]), Network(blocks, template=name))


def find_template(name: str) -> Template | None:
    """The template that a person means: upper and lower case, spaces, dashes and underscores do not matter."""

    def key(written: str) -> str:
        return "".join(letter for letter in written.lower() if letter.isalnum())

    return next((t for t in templates().values() if key(t.name) == key(name)), None)


def default_network() -> Network:
    """The network of a new project."""
    return templates()[DEFAULT_TEMPLATE].network
