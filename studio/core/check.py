"""From a project to what is known of it before any run: shapes, counts, memory forecast and problems. Pure and fast.

Each block is measured by its spec from its settings and input shapes; the results are cached, so that an edit in a
network of 200 blocks measures again only what changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from studio.core.blocks import BLOCKS, BlockSpec, Mismatch, Plan, Shape, element_count, shape_text
from studio.core.edits import Edit, InsertBlock, RemoveBlock, SetBlock, SetPart
from studio.core.fields import Value
from studio.core.forecast import Forecasts, Workload
from studio.core.frozen import FrozenMap
from studio.core.liveness import PICTURES, Placed
from studio.core.order import work_order
from studio.core.problem import Fix, Problem, Severity
from studio.core.project import Block, Network, Project, limits_in_words


@dataclass(frozen=True, slots=True)
class BlockReport:
    """What is known of one block. Counts are for one picture; `output_shape` is None where the block cannot work.

    `activation_bytes` is what training keeps of it for the backward pass, once the whole network works.
    """

    id: str
    kind: str
    input_shapes: tuple[Shape, ...] = ()
    output_shape: Shape | None = None
    parameters: int = 0
    buffers: int = 0
    multiply_adds: int = 0
    activation_bytes: int = 0
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of a project. `forecast` and `workload` are None while the network has errors."""

    blocks: tuple[BlockReport, ...]
    parameters: int
    multiply_adds: int
    forecast: Forecasts | None
    problems: tuple[Problem, ...]
    workload: Workload | None = None

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """Those of the blocks in order, then those of the whole."""
        return (*(problem for block in self.blocks for problem in block.problems), *self.problems)

    @property
    def is_ready(self) -> bool:
        """Whether a run may start."""
        return not any(problem.severity is Severity.ERROR for problem in self.all_problems)

    def block(self, id: str) -> BlockReport | None:
        return next((block for block in self.blocks if block.id == id), None)


@lru_cache(maxsize=16)
def check(project: Project) -> Report:
    """Everything that can be said of `project` without pictures and without torch."""
    blocks = measure(project.network, project.preprocessing.shape, project.class_count)
    problems = _whole_problems(project, blocks)
    working = all(block.output_shape is not None for block in blocks) and bool(blocks)
    workload = _workload(project) if working else None
    if workload is not None:
        kept = _kept_bytes(project, workload)
        blocks = tuple(replace(block, activation_bytes=kept.get(block.id, 0)) for block in blocks)
    return Report(
        blocks,
        sum(block.parameters for block in blocks),
        sum(block.multiply_adds for block in blocks),
        workload.forecasts(project.recipe.batch_size) if workload else None,
        problems,
        workload,
    )


def measure(network: Network, picture: Shape, class_count: int) -> tuple[BlockReport, ...]:
    """Each block by itself, on pictures of this shape."""
    shapes: dict[str, Shape | None] = {}
    reports: list[BlockReport] = []
    before: Shape | None = picture
    for block in network.blocks:
        inputs = tuple(shapes.get(name) for name in block.inputs) if block.inputs else (before,)
        missing = tuple(name for name in block.inputs if name not in shapes)
        if not block.id or "." in block.id or block.id in shapes:
            problem = _problem(block, "block.bad_id", FrozenMap(id=block.id))
            report = BlockReport(block.id, block.kind, problems=(problem,))
        elif missing:
            problem = _problem(block, "block.input_missing", FrozenMap(inputs=", ".join(missing)))
            report = BlockReport(block.id, block.kind, problems=(problem,))
        else:
            known = tuple(shape for shape in inputs if shape is not None)
            report = _measure(block, known, len(known) == len(inputs), class_count)
        shapes[block.id] = before = report.output_shape
        reports.append(report)
    return tuple(reports)


@lru_cache(maxsize=4096)
def _measure(block: Block, inputs: tuple[Shape, ...], inputs_known: bool, class_count: int) -> BlockReport:
    if block.kind not in BLOCKS:
        remove = Fix("fix.remove_block", RemoveBlock(block.id))
        problem = Problem("block.unknown", Severity.ERROR, block.id, FrozenMap(kind=block.kind), fixes=(remove,))
        return BlockReport(block.id, block.kind, inputs, problems=(problem,))
    spec = BLOCKS[block.kind]
    wrong = _wrong_settings(block, spec)
    if wrong or not inputs_known:
        return BlockReport(block.id, block.kind, inputs, problems=wrong)
    least, most = spec.inputs
    if not least <= len(inputs) <= most:
        facts: FrozenMap[Value] = FrozenMap(least=least, count=len(inputs))
        return BlockReport(block.id, block.kind, inputs, problems=(_problem(block, "block.input_count", facts),))
    plan = _plan(block, inputs, class_count)
    if isinstance(plan, Mismatch):
        return BlockReport(block.id, block.kind, inputs, problems=(_mismatch_problem(block, spec, plan),))
    return BlockReport(block.id, block.kind, inputs, plan.output, plan.parameters, plan.buffers, plan.multiply_adds)


@lru_cache(maxsize=4096)
def _plan(block: Block, inputs: tuple[Shape, ...], class_count: int) -> Plan | Mismatch:
    spec = BLOCKS[block.kind]
    return spec.plan(spec.resolve(block, class_count), inputs)


def _problem(block: Block, code: str, facts: FrozenMap[Value], fixes: tuple[Fix, ...] = ()) -> Problem:
    return Problem(code, Severity.ERROR, block.id, facts, fixes)


def _wrong_settings(block: Block, spec: BlockSpec) -> tuple[Problem, ...]:
    problems = []
    for name, value in block.settings.items():
        field = spec.field(name)
        if field is None:
            facts: FrozenMap[Value] = FrozenMap(field=name, known=", ".join(f.name for f in spec.fields) or "-")
            problems.append(_problem(block, "block.unknown_setting", facts))
        elif not field.accepts(value):
            facts = FrozenMap(field=field.label, value=value, limits=limits_in_words(field))
            fix = _set_fix(block, spec, name, field.default)
            problems.append(_problem(block, "block.bad_setting", facts, (fix,)))
    return tuple(problems)


def _set_fix(block: Block, spec: BlockSpec, name: str, value: Value) -> Fix:
    field = spec.field(name)
    label = field.label if field else name
    shown = field.none_label if field and value is None else value
    return Fix("fix.set_block", SetBlock(block.id, name, value), FrozenMap(field=label, value=shown))


# What arrives cannot be turned back into what the block needs.
_MENDED_BY_REMOVAL = frozenset(
    {"block.needs_picture", "block.needs_picture_not_tokens", "block.needs_tokens_not_vector"}
)


def _mismatch_problem(block: Block, spec: BlockSpec, mismatch: Mismatch) -> Problem:
    fixes = [_set_fix(block, spec, s.field, s.value) for s in mismatch.suggestions]
    if mismatch.insert:
        label = BLOCKS[mismatch.insert].label
        fixes.append(Fix("fix.insert_block", InsertBlock(mismatch.insert, block.id), FrozenMap(block=label)))
    if mismatch.code in _MENDED_BY_REMOVAL:
        fixes.append(Fix("fix.remove_block", RemoveBlock(block.id)))
    return _problem(block, mismatch.code, mismatch.facts.with_items(block=spec.label), tuple(fixes))


def _whole_problems(project: Project, blocks: tuple[BlockReport, ...]) -> tuple[Problem, ...]:
    problems: list[Problem] = []
    if not project.data.folder:
        problems.append(Problem("project.no_data"))
    elif project.class_count < 2:
        problems.append(Problem("project.too_few_classes", facts=FrozenMap(count=project.class_count)))
    if not blocks:
        problems.append(Problem("network.empty"))
    elif all(block.output_shape is not None for block in blocks):
        problems.extend(_head_problems(project, blocks))
        problems.extend(_training_problems(project, blocks))
        problems.extend(_dead_branch_problems(project.network, blocks))
    return tuple(problems)


def _head_problems(project: Project, blocks: tuple[BlockReport, ...]) -> list[Problem]:
    last, output = project.network.blocks[-1], blocks[-1].output_shape or ()
    classes = project.class_count
    if len(output) == 1 and (output[0] == classes or not classes):
        return []
    facts: FrozenMap[Value] = FrozenMap(outputs=shape_text(output), classes=classes)
    if last.kind == "linear":
        follow = Fix("fix.follow_classes", SetBlock(last.id, "out_features", None), FrozenMap(classes=classes))
        return [Problem("network.head_mismatch", Severity.ERROR, last.id, facts, (follow,))]
    edits: list[tuple[str, Edit]] = [("fix.append_head", InsertBlock("linear"))]
    if len(output) != 1:
        edits = [("fix.append_flatten", InsertBlock("flatten"))]
    fixes = tuple(Fix(code, edit) for code, edit in edits)
    return [Problem("network.no_head", Severity.ERROR, last.id, facts, fixes)]


def _training_problems(project: Project, blocks: tuple[BlockReport, ...]) -> list[Problem]:
    problems: list[Problem] = []
    trained = [b for b, r in zip(project.network.blocks, blocks, strict=True) if r.parameters and not b.frozen]
    if not trained:
        problems.append(Problem("network.nothing_to_train"))
    for block, report in zip(project.network.blocks, blocks, strict=True):
        plan = _plan(block, report.input_shapes, project.class_count)
        values = plan.values_per_channel if isinstance(plan, Plan) else None
        if values == 1 and project.recipe.batch_size == 1 and not block.frozen:
            fix = Fix("fix.set_recipe", SetPart("recipe", "batch_size", 32), FrozenMap(field="Batch size", value=32))
            problems.append(Problem("network.batch_norm_one", Severity.ERROR, block.id, fixes=(fix,)))
    return problems


def _dead_branch_problems(network: Network, blocks: tuple[BlockReport, ...]) -> list[Problem]:
    """Blocks whose output leads nowhere: ends that nobody reads, and trained ones that no gradient reaches."""
    sources = _sources(network)
    leads_on = {network.blocks[-1].id}
    for block in reversed(network.blocks):
        if block.id in leads_on:
            leads_on.update(sources[block.id])
    read = {name for names in sources.values() for name in names}
    problems: list[Problem] = []
    for block, report in zip(network.blocks, blocks, strict=True):
        if block.id in leads_on:
            continue
        # What another block reads cannot be taken out without breaking that one.
        fixes = () if block.id in read else (Fix("fix.remove_block", RemoveBlock(block.id)),)
        if report.parameters and not block.frozen:
            problems.append(Problem("network.no_gradient", Severity.WARNING, block.id, fixes=fixes))
        elif fixes:
            problems.append(Problem("network.dead_end", Severity.WARNING, block.id, fixes=fixes))
    return problems


def _sources(network: Network) -> dict[str, tuple[str, ...]]:
    """By block, those whose outputs it takes."""
    before: tuple[str, ...] = ()
    sources: dict[str, tuple[str, ...]] = {}
    for block in network.blocks:
        sources[block.id] = block.inputs or before
        before = (block.id,)
    return sources


def _workload(project: Project) -> Workload:
    """The network as the engine runs it."""
    shapes: dict[str, Shape] = {}
    places: dict[str, int] = {}
    blocks: list[Placed] = []
    before: Shape = project.preprocessing.shape
    place_before = PICTURES
    for place, block in enumerate(work_order(project.network)):
        inputs = tuple(shapes[name] for name in block.inputs) if block.inputs else (before,)
        sources = tuple(places[name] for name in block.inputs) if block.inputs else (place_before,)
        plan = _plan(block, inputs, project.class_count)
        assert isinstance(plan, Plan)  # every block works, and the order of work keeps that
        blocks.append(Placed(plan, sources, block.frozen))
        shapes[block.id] = before = plan.output
        places[block.id] = place_before = place
    recipe = project.recipe
    values = element_count(project.preprocessing.shape)
    return Workload(tuple(blocks), values, recipe.optimiser, recipe.momentum, recipe.weight_decay)


def _kept_bytes(project: Project, workload: Workload) -> dict[str, int]:
    kept = workload.kept_bytes()
    return {block.id: kept.get(place, 0) for place, block in enumerate(work_order(project.network))}


def memory_problem(report: Report, recipe_batch: int, device_bytes: int, device: str) -> Problem | None:
    """The problem of a forecast that exceeds `device_bytes`, with the largest power-of-two batch that fits."""
    workload = report.workload
    if workload is None:
        return None

    # The framework lives in host memory; a GPU holds tensors only (its context is in what is not free there).
    def needed(batch: int) -> int:
        training = workload.training(batch)
        return training.total if device == "cpu" else training.tensors

    if needed(recipe_batch) <= device_bytes:
        return None
    smaller = (1 << power for power in reversed(range((recipe_batch - 1).bit_length())))
    fitting = next((batch for batch in smaller if needed(batch) <= device_bytes), None)
    fixes: tuple[Fix, ...] = ()
    if fitting is not None:
        facts: FrozenMap[Value] = FrozenMap(field="Batch size", value=fitting)
        fixes = (Fix("fix.set_recipe", SetPart("recipe", "batch_size", fitting), facts),)
    facts = FrozenMap(needed_bytes=needed(recipe_batch), device_bytes=device_bytes, device=device, batch=recipe_batch)
    return Problem("network.memory", Severity.WARNING, facts=facts, fixes=fixes)


def with_classes(project: Project, classes: tuple[str, ...]) -> Project:
    """The project with its classes recorded from a scan."""
    return replace(project, data=replace(project.data, classes=classes))
