"""Changes of a project as data, so that a proposed fix can be stored, translated, compared and applied."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace

from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.project import Block, Network, Project


@dataclass(frozen=True, slots=True)
class SetBlock:
    """Give one setting of a block another value."""

    block: str
    field: str
    value: Value

    def apply(self, project: Project) -> Project:
        blocks = tuple(
            b.with_setting(self.field, self.value) if b.id == self.block else b for b in project.network.blocks
        )
        return replace(project, network=replace(project.network, blocks=blocks))


@dataclass(frozen=True, slots=True)
class InsertBlock:
    """Put a new block of `kind` before the block with the id `before` ("" = at the end)."""

    kind: str
    before: str = ""

    def apply(self, project: Project) -> Project:
        network = project.network
        place = network.position(self.before) if network.block(self.before) else len(network.blocks)
        block = Block(network.free_id(), self.kind)
        blocks = (*network.blocks[:place], block, *network.blocks[place:])
        return replace(project, network=replace(network, blocks=blocks))


@dataclass(frozen=True, slots=True)
class RemoveBlock:
    """Take a block out."""

    block: str

    def apply(self, project: Project) -> Project:
        blocks = tuple(b for b in project.network.blocks if b.id != self.block)
        return replace(project, network=replace(project.network, blocks=blocks))


@dataclass(frozen=True, slots=True)
class SetPart:
    """Give one field of a project part another value; `part` is "data", "preprocessing", "augmentation" or "recipe"."""

    part: str
    field: str
    value: Value

    def apply(self, project: Project) -> Project:
        part = getattr(project, self.part)
        changed = dataclasses.replace(part, **{self.field: self.value})
        return replace(project, **{self.part: changed})


@dataclass(frozen=True, slots=True)
class ReplaceNetwork:
    """Put a whole network in place of the present one (a template)."""

    network: Network

    def apply(self, project: Project) -> Project:
        return replace(project, network=self.network)


@dataclass(frozen=True, slots=True)
class LeaveOut:
    """Do not use these pictures (paths in the data folder); with `use_again`, use them again."""

    files: tuple[str, ...]
    use_again: bool = False

    def apply(self, project: Project) -> Project:
        before, named = set(project.data.left_out), set(self.files)
        left_out = tuple(sorted(before - named if self.use_again else before | named))
        return replace(project, data=replace(project.data, left_out=left_out))


@dataclass(frozen=True, slots=True)
class Relabel:
    """Give pictures (paths in the data folder) another class; "" is the class that the folder gives."""

    labels: FrozenMap[str]

    def apply(self, project: Project) -> Project:
        merged = {**project.data.relabelled, **self.labels}
        kept = FrozenMap({path: label for path, label in sorted(merged.items()) if label})
        return replace(project, data=replace(project.data, relabelled=kept))


Edit = SetBlock | InsertBlock | RemoveBlock | SetPart | ReplaceNetwork | LeaveOut | Relabel
