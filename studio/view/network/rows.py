"""The network as rows from input to output: everything that a row shows, worked out once for each project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from studio.core.blocks import BLOCKS, Group, shape_text
from studio.core.check import BlockReport, Report
from studio.core.forecast import FLOAT_BYTES, Forecast
from studio.core.problem import Problem
from studio.core.project import Block, Project
from studio.core.quantities import share_text
from studio.core.text import fix_label, problem_message, tr, trn
from studio.view.network.wording import block_label, parameters_text, preparation_text, settings_text

INPUT = "input"
OUTPUT = "output"
_CLASSES_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `id` is the block's, or `INPUT` and `OUTPUT`.

    `memory_bytes` is what the block adds to the forecast of training, `share` its part of all tensors (0 to 1); None
    while there is no forecast. `link` is the label of the one thing in the row that can be clicked: the nearest fix,
    or the way to the Data page.
    """

    part: Literal["input", "block", "output"]
    id: str
    title: str
    group: Group | None = None
    details: str = ""
    shape: str = ""
    parameters: int = 0
    memory_bytes: int | None = None
    share: float | None = None
    is_frozen: bool = False
    problems: tuple[Problem, ...] = ()
    link: str = ""

    @property
    def trouble(self) -> str:
        """What is wrong, in words; "" where nothing is."""
        return " ".join(problem_message(problem) for problem in self.problems)


def spoken(row: Row) -> str:
    """The whole row as one sentence for screen readers."""
    parts = [row.title, row.details]
    if row.shape and row.part == "block":
        parts.append(tr("output {shape}", shape=row.shape))
    parts.append(parameters_text(row.parameters))
    if row.is_frozen:
        parts.append(tr("frozen"))
    if row.share is not None:
        parts.append(tr("{share} of the memory that this network itself needs", share=share_text(row.share)))
    if row.part == "block" or row.problems:
        parts.append(row.trouble or tr("no problem"))
    return ", ".join(part for part in parts if part)


def rows_of(project: Project, report: Report) -> tuple[Row, ...]:
    """The rows of `project`: its input, its blocks in order, its output."""
    memory = _block_memory(project, report)
    whole = [problem for problem in report.problems if problem.place]
    blocks = tuple(
        _block_row(block, measured, tuple(p for p in whole if p.place == block.id), memory.get(block.id), report)
        for block, measured in zip(project.network.blocks, report.blocks, strict=True)
    )
    return (_input_row(project), *blocks, _output_row(project, report))


def _input_row(project: Project) -> Row:
    title = tr("Input {shape}", shape=shape_text(project.preprocessing.shape))
    details = preparation_text(project.preprocessing)
    return Row(
        "input", INPUT, title, details=details, shape=shape_text(project.preprocessing.shape), link=tr("Data page")
    )


def _output_row(project: Project, report: Report) -> Row:
    classes = project.data.classes
    problems = tuple(p for p in report.problems if not p.place and p.code.startswith("network."))
    shape = shape_text(report.blocks[-1].output_shape or ()) if report.blocks else ""
    if not classes:
        return Row(
            "output",
            OUTPUT,
            tr("Output: classes not known yet"),
            details=tr("They come from the folder of pictures."),
            shape=shape,
            problems=problems,
            link=tr("Choose pictures"),
        )
    shown = ", ".join(classes[:_CLASSES_SHOWN]) + (", …" if len(classes) > _CLASSES_SHOWN else "")
    title = trn(len(classes), "Output: {n} class", "Output: {n} classes")
    return Row("output", OUTPUT, title, details=shown, shape=shape, problems=problems)


def _block_row(
    block: Block, measured: BlockReport, more: tuple[Problem, ...], memory_bytes: int | None, report: Report
) -> Row:
    problems = (*measured.problems, *more)
    fix = next((fix for problem in problems for fix in problem.fixes), None)
    tensors = report.forecast.training.tensors if report.forecast else 0
    return Row(
        "block",
        block.id,
        block_label(block.kind),
        BLOCKS[block.kind].group if block.kind in BLOCKS else None,
        settings_text(block),
        shape_text(measured.output_shape or ()),
        measured.parameters,
        memory_bytes,
        memory_bytes / tensors if memory_bytes is not None and tensors else None,
        block.frozen,
        problems,
        fix_label(fix) if fix else "",
    )


def _block_memory(project: Project, report: Report) -> dict[str, int]:
    """The bytes of each block in the forecast of training: weights, their gradients and states, kept activations."""
    if report.forecast is None:
        return {}
    per_trained = _bytes_per_trained(report.forecast.training)
    batch = project.recipe.batch_size
    return {
        block.id: (measured.parameters + measured.buffers) * FLOAT_BYTES
        + (0 if block.frozen else round(measured.parameters * per_trained))
        + measured.activation_bytes * batch
        for block, measured in zip(project.network.blocks, report.blocks, strict=True)
    }


def _bytes_per_trained(training: Forecast) -> float:
    """Gradient and optimiser bytes of one trained number."""
    trained = training.gradients / FLOAT_BYTES
    return (training.gradients + training.optimiser) / trained if trained else 0.0
