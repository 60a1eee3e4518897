"""What can be done to the list of blocks, as pure functions from a network to a network."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from studio.core.fields import Value
from studio.core.project import Block, Network

Ids = tuple[str, ...]


def inserted(network: Network, blocks: Sequence[Block], place: int) -> tuple[Network, Ids]:
    """`blocks` put in before the block at `place`, with ids of their own, and these ids.

    A block that takes its input from another of `blocks` takes it from that one's copy.
    """
    renamed: dict[str, str] = {}
    ids: list[str] = []
    for block in blocks:
        ids.append(network.free_id(frozenset(ids)))
        renamed[block.id] = ids[-1]
    copies = tuple(
        replace(block, id=own_id, inputs=tuple(renamed.get(name, name) for name in block.inputs))
        for block, own_id in zip(blocks, ids, strict=True)
    )
    place = max(0, min(place, len(network.blocks)))
    return replace(network, blocks=(*network.blocks[:place], *copies, *network.blocks[place:])), tuple(ids)


def removed(network: Network, ids: Collection[str]) -> Network:
    """Without the blocks that have these ids."""
    return replace(network, blocks=tuple(block for block in network.blocks if block.id not in ids))


def duplicated(network: Network, ids: Collection[str]) -> tuple[Network, Ids]:
    """Copies of these blocks after the last of them, and the copies' ids."""
    places = [place for place, block in enumerate(network.blocks) if block.id in ids]
    if not places:
        return network, ()
    return inserted(network, [network.blocks[place] for place in places], places[-1] + 1)


def shifted(network: Network, ids: Collection[str], step: int) -> Network:
    """These blocks one place up (`step` -1) or down (+1); those that stand at the end stay there."""
    blocks = list(network.blocks)
    places = range(len(blocks)) if step < 0 else range(len(blocks) - 1, -1, -1)
    for place in places:
        other = place + step
        if blocks[place].id in ids and 0 <= other < len(blocks) and blocks[other].id not in ids:
            blocks[place], blocks[other] = blocks[other], blocks[place]
    return network if tuple(blocks) == network.blocks else replace(network, blocks=tuple(blocks))


def moved(network: Network, ids: Collection[str], place: int) -> Network:
    """These blocks, in their order, taken out and put before what stands at `place` now."""
    chosen = tuple(block for block in network.blocks if block.id in ids)
    above = tuple(block for block in network.blocks[:place] if block.id not in ids)
    below = tuple(block for block in network.blocks[place:] if block.id not in ids)
    blocks = (*above, *chosen, *below)
    return network if blocks == network.blocks else replace(network, blocks=blocks)


def with_setting(network: Network, id: str, name: str, value: Value) -> Network:
    """One setting of one block changed."""
    blocks = tuple(block.with_setting(name, value) if block.id == id else block for block in network.blocks)
    return replace(network, blocks=blocks)


def with_frozen(network: Network, ids: Collection[str], is_frozen: bool) -> Network:
    """These blocks frozen or trained."""
    blocks = tuple(
        replace(block, frozen=is_frozen) if block.id in ids and block.frozen != is_frozen else block
        for block in network.blocks
    )
    return replace(network, blocks=blocks)
