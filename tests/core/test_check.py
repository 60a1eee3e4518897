"""Checking a project: right shapes, problems in place, and fixes that mend what they promise."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.blocks import BLOCKS
from studio.core.check import check, memory_problem
from studio.core.edits import InsertBlock, SetBlock, SetPart
from studio.core.fields import Value
from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Block, Data, Network, Preprocessing, Project
from studio.core.templates import find_template, templates
from studio.core.text import fix_label, problem_message
from tests.core.drawing import blocks, networks

DATA = Data(folder="pictures", classes=tuple("0123456789"))
DIGITS = Preprocessing(height=28, width=28, channels="grey")


def project_of(*blocks: Block, preprocessing: Preprocessing = DIGITS) -> Project:
    return Project(data=DATA, preprocessing=preprocessing, network=Network(blocks))


def block(id: str, kind: str, **settings: Value) -> Block:
    return Block(id, kind, FrozenMap(settings))


def one_problem(project: Project, code: str) -> Problem:
    found = [problem for problem in check(project).all_problems if problem.code == code]
    assert len(found) == 1, check(project).all_problems
    return found[0]


def test_that_simple_cnn_has_the_documents_shapes_and_counts() -> None:
    network = templates()["simple_cnn"].network
    colour = Preprocessing(height=32, width=32, channels="colour")
    report = check(Project(data=DATA, preprocessing=colour, network=network))
    assert report.is_ready
    assert [b.kind for b in report.blocks] == [
        "conv2d", "relu", "max_pool", "conv2d", "relu", "max_pool", "flatten", "linear", "relu", "dropout", "linear",
    ]  # fmt: skip
    shapes = [b.output_shape for b in report.blocks if b.kind in ("conv2d", "max_pool", "flatten", "linear")]
    assert shapes == [(16, 32, 32), (16, 16, 16), (32, 16, 16), (32, 8, 8), (2048,), (128,), (10,)]
    assert report.parameters == (3 * 16 * 9 + 16) + (16 * 32 * 9 + 32) + (2048 * 128 + 128) + (128 * 10 + 10)


@pytest.mark.parametrize("name", list(templates()))
def test_that_every_template_is_ready_to_train(name: str) -> None:
    assert check(Project(data=DATA, preprocessing=DIGITS, network=templates()[name].network)).is_ready


@pytest.mark.parametrize("written", ["SimpleCNN", "simple-cnn", "simple cnn", "SIMPLE_CNN"])
def test_that_a_template_is_found_however_it_is_written(written: str) -> None:
    found = find_template(written)
    assert found is not None
    assert found.name == "simple_cnn"


def test_that_a_window_larger_than_the_map_is_an_error_at_its_block_with_working_fixes() -> None:
    project = project_of(block("b1", "max_pool", kernel=14), block("b2", "conv2d", kernel=7, padding=0))
    problem = one_problem(project, "block.window_too_large")
    assert problem.place == "b2"
    assert [fix.edit for fix in problem.fixes] == [SetBlock("b2", "kernel", 2), SetBlock("b2", "padding", 3)]
    for fix in problem.fixes:
        mended = check(fix.edit.apply(project)).block("b2")
        assert mended is not None
        assert mended.output_shape is not None


def test_that_a_missing_flatten_is_offered() -> None:
    project = project_of(block("b1", "conv2d"), block("b2", "linear"))
    problem = one_problem(project, "block.needs_vector")
    (fix,) = problem.fixes
    assert isinstance(fix.edit, InsertBlock)
    assert check(fix.edit.apply(project)).is_ready


def test_that_a_head_with_the_wrong_number_of_outputs_is_offered_to_follow_the_classes() -> None:
    project = project_of(block("b1", "flatten"), block("b2", "linear", out_features=7))
    problem = one_problem(project, "network.head_mismatch")
    assert check(problem.fixes[0].edit.apply(project)).is_ready


def test_that_a_network_without_a_head_is_led_to_one_fix_by_fix() -> None:
    project = project_of(block("b1", "conv2d"))
    for _ in range(3):
        problem = next((p for p in check(project).problems if p.code == "network.no_head"), None)
        if problem is None:
            break
        project = problem.fixes[0].edit.apply(project)
    assert check(project).is_ready


def test_that_only_the_first_broken_block_is_accused() -> None:
    project = project_of(
        block("b1", "conv2d", kernel=99, padding=0), block("b2", "relu"), block("b3", "flatten"), block("b4", "linear")
    )
    assert [p.place for p in check(project).all_problems] == ["b1"]


def test_that_blocks_and_settings_nobody_knows_are_named() -> None:
    project = project_of(block("b1", "warp"), block("b2", "relu", strength=3))
    codes = {p.code: p for p in check(project).all_problems}
    assert codes["block.unknown"].facts["kind"] == "warp"
    assert codes["block.unknown_setting"].facts["field"] == "strength"


def test_that_a_setting_beyond_every_float_is_a_problem_at_its_block() -> None:
    project = project_of(block("b1", "leaky_relu", slope=10**400), block("b2", "flatten"), block("b3", "linear"))
    assert one_problem(project, "block.bad_setting").place == "b1"


def test_that_merges_take_named_inputs() -> None:
    project = project_of(
        block("b1", "conv2d", out_channels=4),
        block("b2", "conv2d", out_channels=4),
        Block("b3", "add", inputs=("b1", "b2")),
        Block("b4", "concat", inputs=("b1", "b3")),
        block("b5", "global_pool"),
        block("b6", "linear"),
    )
    report = check(project)
    assert report.is_ready
    assert [b.output_shape for b in report.blocks][2:4] == [(4, 28, 28), (8, 28, 28)]
    wrong = project_of(block("b1", "conv2d", out_channels=4), Block("b2", "add", inputs=("b1", "b9")))
    assert one_problem(wrong, "block.input_missing").place == "b2"


def test_that_a_branch_that_leads_nowhere_is_warned_of_and_can_be_removed() -> None:
    project = project_of(
        block("b1", "conv2d", out_channels=4),
        block("b2", "conv2d", out_channels=4),
        block("b3", "relu"),
        Block("b4", "global_pool", inputs=("b1",)),
        block("b5", "linear"),
    )
    report = check(project)
    assert report.is_ready
    assert [(p.code, p.place) for p in report.problems] == [("network.no_gradient", "b2"), ("network.dead_end", "b3")]
    for _ in range(2):
        fix = next(fix for problem in check(project).problems for fix in problem.fixes)
        project = fix.edit.apply(project)
    assert not check(project).problems
    assert [b.id for b in project.network.blocks] == ["b1", "b4", "b5"]


@pytest.mark.parametrize("ids", [("b1", "b1", "b2"), ("b1", "b.2", "b3"), ("b1", "", "b3")])
def test_that_ids_that_weights_cannot_be_found_by_are_a_problem_of_their_block(ids: tuple[str, str, str]) -> None:
    kinds = ("relu", "flatten", "linear")
    report = check(project_of(*(block(name, kind) for name, kind in zip(ids, kinds, strict=True))))
    assert not report.is_ready
    (problem,) = report.blocks[1].problems
    assert (problem.code, problem.place) == ("block.bad_id", ids[1])
    assert not report.blocks[0].problems


def test_that_one_class_is_not_enough() -> None:
    project = replace(project_of(block("b1", "flatten"), block("b2", "linear")), data=Data("x", classes=("only",)))
    assert one_problem(project, "project.too_few_classes").facts["count"] == 1


def test_that_a_forecast_beyond_the_device_offers_a_batch_that_fits() -> None:
    project = project_of(block("b1", "conv2d", out_channels=64), block("b2", "global_pool"), block("b3", "linear"))
    project = SetPart("recipe", "batch_size", 4096).apply(project)
    report = check(project)
    problem = memory_problem(report, 4096, 900 * 1024**2, "cpu")
    assert problem is not None
    smaller = problem.fixes[0].edit.apply(project)
    assert smaller.recipe.batch_size < 4096
    assert memory_problem(check(smaller), smaller.recipe.batch_size, 900 * 1024**2, "cpu") is None
    doubled = SetPart("recipe", "batch_size", smaller.recipe.batch_size * 2).apply(project)
    assert memory_problem(check(doubled), doubled.recipe.batch_size, 900 * 1024**2, "cpu") is not None


def test_that_the_framework_does_not_count_against_a_gpu() -> None:
    report = check(project_of(block("b1", "flatten"), block("b2", "linear")))
    assert report.forecast is not None
    enough = report.forecast.training.tensors
    assert memory_problem(report, 32, enough, "cuda:0") is None
    assert memory_problem(report, 32, enough, "cpu") is not None


def test_that_checking_imports_neither_torch_nor_numpy() -> None:
    import subprocess

    heavy = "{'torch', 'numpy', 'PySide6'} & sys.modules.keys()"
    code = f"import sys; import studio.core.check, studio.core.text; sys.exit(bool({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@st.composite
def loose_networks(draw: st.DrawFn) -> Network:
    """Anything after anything, with inputs that may not be there."""
    kinds = draw(st.lists(st.sampled_from(list(BLOCKS)), max_size=8))
    made = []
    for number, kind in enumerate(kinds, start=1):
        count = draw(st.integers(0, min(3, number - 1)))
        inputs = tuple(f"b{draw(st.integers(1, number))}" for _ in range(count))
        drawn = draw(blocks(f"b{number}", kind))
        made.append(replace(drawn, inputs=inputs, frozen=draw(st.booleans())))
    return Network(tuple(made))


@given(loose_networks() | networks((3, 12, 12), 10), st.integers(1, 40), st.integers(1, 40))
def test_that_any_network_is_checked_without_raising_and_every_fix_applies(
    network: Network, height: int, width: int
) -> None:
    project = Project(data=DATA, preprocessing=Preprocessing(height=height, width=width), network=network)
    report = check(project)
    assert len(report.blocks) == len(network.blocks)
    for problem in report.all_problems:
        assert problem_message(problem) != problem.code
        assert "{" not in problem_message(problem)
        for fix in problem.fixes:
            assert fix_label(fix) != fix.code
            assert fix.edit.apply(project) != project
