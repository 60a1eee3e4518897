"""Laws that every block obeys without torch, and the rules that refuse what cannot work."""

from __future__ import annotations

import pytest

from studio.core.blocks import BLOCKS, Mismatch, Plan, Shape, element_count
from studio.core.blocks.dense import hidden_widths
from studio.core.check import check
from studio.core.edits import InsertBlock, SetBlock
from studio.core.fields import Field, Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Block, Data, Network, Preprocessing, Project
from studio.core.text import problem_message

DATA = Data(folder="pictures", classes=tuple("0123456789"))
SHAPES: tuple[Shape, ...] = ((6, 12, 12), (5, 12), (24,))


def project_of(*blocks: Block, side: int = 24) -> Project:
    return Project(data=DATA, preprocessing=Preprocessing(height=side, width=side), network=Network(blocks))


def block(id: str, kind: str, **settings: Value) -> Block:
    return Block(id, kind, FrozenMap(settings))


def one_problem(project: Project, code: str) -> Problem:
    (found,) = [problem for problem in check(project).all_problems if problem.code == code]
    return found


def plan(kind: str, shape: Shape, **settings: Value) -> Plan | Mismatch:
    spec = BLOCKS[kind]
    return spec.plan(spec.resolve(block("b1", kind, **settings), 10), (shape,) * spec.inputs[0])


@pytest.mark.parametrize("kind", list(BLOCKS))
def test_that_each_block_is_declared_whole(kind: str) -> None:
    spec = BLOCKS[kind]
    assert spec.kind == kind
    assert spec.label
    assert spec.help.endswith(".")
    names = [field.name for field in spec.fields]
    assert len(set(names)) == len(names)
    for field in spec.fields:
        assert field.label
        assert field.help.endswith(".")
        assert field.accepts(field.default) or field.name == "out_features"
        assert not field.optional or field.none_label


@pytest.mark.parametrize("kind", list(BLOCKS))
def test_that_each_block_works_with_its_defaults_and_counts_add_up(kind: str) -> None:
    works = [made for shape in SHAPES if isinstance(made := plan(kind, shape, **SMALLER.get(kind, {})), Plan)]
    assert works
    for made in works:
        assert all(side >= 1 for side in made.output)
        assert made.output == made.ops[-1].output
        for op in made.ops:
            assert min(op.parameters, op.buffers, op.multiply_adds, op.saved_bytes, element_count(op.output)) >= 0


SMALLER: dict[str, dict[str, Value]] = {"group_norm": {"groups": 3}, "transformer_encoder": {"heads": 4}}


@pytest.mark.parametrize("kind", list(BLOCKS))
@pytest.mark.parametrize("shape", SHAPES)
def test_that_a_refusal_has_a_sentence(kind: str, shape: Shape) -> None:
    made = plan(kind, shape)
    if isinstance(made, Mismatch):
        problem = Problem(made.code, facts=made.facts.with_items(block=BLOCKS[kind].label))
        assert problem_message(problem) != made.code
        assert "{" not in problem_message(problem)


@pytest.mark.parametrize(
    ("before", "wrong", "code"),
    [
        ((), block("b", "group_norm", groups=2), "block.norm_groups_mismatch"),
        ((), block("b", "patch_embedding", patch=25), "block.patch_too_large"),
        ((), block("b", "mlp", hidden="many"), "block.bad_widths"),
        ((), block("b", "conv2d", padding=None, stride=2), "block.same_with_stride"),
        (
            (block("a", "patch_embedding", width=20),),
            block("b", "transformer_encoder", heads=7),
            "block.heads_mismatch",
        ),
        ((block("a", "adaptive_pool", size=1),), block("b", "group_norm", groups=3), "block.norm_one_value"),
    ],
)
def test_that_the_nearest_values_that_work_are_offered(before: tuple[Block, ...], wrong: Block, code: str) -> None:
    project = project_of(*before, wrong)
    problem = one_problem(project, code)
    assert problem.fixes
    for fix in problem.fixes:
        assert isinstance(fix.edit, SetBlock)
        mended = check(fix.edit.apply(project)).block("b")
        assert mended is not None
        assert mended.output_shape is not None


def test_that_heads_go_to_the_nearest_divisor_of_the_width() -> None:
    project = project_of(block("a", "patch_embedding", width=192), block("b", "transformer_encoder", heads=10))
    assert one_problem(project, "block.heads_mismatch").fixes[0].edit == SetBlock("b", "heads", 8)


def test_that_a_transformer_is_led_to_a_head_fix_by_fix() -> None:
    project = project_of(block("b1", "transformer_encoder", heads=4), block("b2", "linear"))
    codes = []
    while not check(project).is_ready:
        problem = check(project).all_problems[0]
        codes.append(problem.code)
        assert isinstance(problem.fixes[0].edit, InsertBlock)
        project = problem.fixes[0].edit.apply(project)
    assert codes == ["block.needs_tokens", "block.needs_vector_not_tokens"]


@pytest.mark.parametrize("kind", ["conv2d", "max_pool", "batch_norm", "lstm_rows", "squeeze_excite"])
def test_that_tokens_are_not_taken_for_a_picture(kind: str) -> None:
    project = project_of(block("b1", "patch_embedding"), block("b2", kind))
    assert one_problem(project, "block.needs_picture_not_tokens").place == "b2"


@pytest.mark.parametrize(
    ("text", "widths"),
    [("256, 128", (256, 128)), ("7", (7,)), ("3 4", (3, 4)), ("", None), ("0", None), ("65537", None), ("a", None),
     ("9" * 5000, None), ("²", None), (", ".join(["1"] * 33), None)],
)  # fmt: skip
def test_that_widths_are_read_as_written(text: str, widths: tuple[int, ...] | None) -> None:
    assert hidden_widths(text) == widths


def test_that_a_residual_block_has_the_parameters_of_its_layers() -> None:
    made = plan("residual", (64, 8, 8), out_channels=128, stride=2)
    assert isinstance(made, Plan)
    assert made.output == (128, 4, 4)
    convolutions = 64 * 128 * 9 + 128 * 128 * 9 + 64 * 128
    assert made.parameters == convolutions + 3 * 2 * 128
    assert made.values_per_channel == 16


def test_that_a_batch_norm_inside_a_block_is_warned_of_when_it_sees_one_value() -> None:
    project = project_of(block("b1", "residual", stride=2), block("b2", "global_pool"), block("b3", "linear"), side=2)
    assert "network.batch_norm_one" not in [p.code for p in check(project).all_problems]
    from studio.core.edits import SetPart

    alone = SetPart("recipe", "batch_size", 1).apply(project)
    assert one_problem(alone, "network.batch_norm_one").place == "b1"


def test_that_a_choice_declares_labels() -> None:
    fields: list[Field] = [field for _, spec in BLOCKS.items() for field in spec.fields if field.kind == "choice"]
    assert fields
    assert all(choice.label for field in fields for choice in field.choices)
