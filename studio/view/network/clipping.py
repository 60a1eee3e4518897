"""Blocks as text for the clipboard and for drags, and back, with a Problem for anything else."""

from __future__ import annotations

import json
from collections.abc import Sequence

from studio.core.codec import MalformedValue, from_plain, to_plain
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem, Severity
from studio.core.project import Block

BLOCKS_MIME = "application/x-lantern-blocks+json"
_FORMAT = "lantern-studio-blocks"
_VERSION = 1
# Ten times the deepest networks in use; more than this is not a selection of blocks.
MOST_BLOCKS = 2000
_MOST_CHARACTERS = 4_000_000


def blocks_to_text(blocks: Sequence[Block]) -> str:
    """JSON that `blocks_from_text` reads, also in another window or from an e-mail."""
    plain = {"format": _FORMAT, "version": _VERSION, "blocks": to_plain(tuple(blocks))}
    return json.dumps(plain, ensure_ascii=False, indent=2)


def blocks_from_text(text: str) -> tuple[Block, ...] | Problem:
    """The blocks in `text`, or why it holds none that can be used."""
    if not text.strip():
        return Problem("paste.nothing", Severity.INFO)
    if len(text) > _MOST_CHARACTERS:
        return Problem("paste.foreign", Severity.WARNING)
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        return Problem("paste.foreign", Severity.WARNING)
    if not isinstance(plain, dict) or plain.get("format") != _FORMAT:
        return Problem("paste.foreign", Severity.WARNING)
    if plain.get("version") != _VERSION:
        return Problem("paste.later_version", Severity.WARNING)
    try:
        blocks: tuple[Block, ...] = from_plain(tuple[Block, ...], plain.get("blocks"), "blocks")
    except MalformedValue as error:
        return Problem("paste.damaged", Severity.WARNING, facts=FrozenMap(detail=str(error)))
    if not blocks:
        return Problem("paste.nothing", Severity.INFO)
    if len(blocks) > MOST_BLOCKS:
        return Problem("paste.too_many", Severity.WARNING, facts=FrozenMap(count=len(blocks), most=MOST_BLOCKS))
    return blocks
