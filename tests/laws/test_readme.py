"""The README calls things as the window and the terminal do."""

from __future__ import annotations

import re

from studio.__main__ import COMMANDS
from studio.core.edits import InsertBlock
from studio.core.frozen import FrozenMap
from studio.core.problem import Fix
from studio.core.text import fix_label
from tests.laws.sources import ROOT, called_name, calls, literals
from tests.laws.test_text import texts

README = (ROOT / "README.md").read_text("utf-8")


def test_that_what_the_readme_says_to_press_is_in_the_window() -> None:
    offered = fix_label(Fix("fix.insert_block", InsertBlock("flatten"), FrozenMap(block="Flatten")))
    said = {name.replace("\n   ", " ").rstrip(":") for name in re.findall(r"(?<![*\w])\*([^*`]+)\*(?!\*)", README)}
    known = {text.rstrip(":") for text in texts()} | {offered}
    assert len(said) > 6
    assert not said - known


def test_that_the_readme_shows_every_command_and_no_other() -> None:
    assert set(re.findall(r"^\.venv/bin/studio (\w+)", README, re.MULTILINE)) == COMMANDS


def test_that_each_place_of_the_window_has_its_paragraph_in_order() -> None:
    labels = [
        text.text
        for path, call in calls()
        if path.name == "places.py" and called_name(call) == "Place"
        for text in literals(call.args[1], path)
    ]
    assert re.findall(r"^\d\. \*\*(\w+)\.\*\*", README, re.MULTILINE) == labels
    assert len(labels) > 1
