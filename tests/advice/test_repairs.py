"""Every repair gives a valid project, and only where it makes sense."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.advice.hint import Facts
from studio.advice.repairs import REPAIRS
from studio.core.check import check
from studio.core.edits import Edit
from studio.core.frozen import FrozenMap
from studio.core.project import (
    Block,
    Data,
    Network,
    Preprocessing,
    Project,
    Recipe,
    project_from_json,
    project_to_json,
)
from studio.core.templates import templates

CLASSES = ("a", "b", "c")
NOTHING: Facts = FrozenMap()


def project(template: str = "simple_cnn", **recipe: object) -> Project:
    made = Recipe(**recipe)  # type: ignore[arg-type]
    return Project(data=Data(folder="x", classes=CLASSES), network=templates()[template].network, recipe=made)


def edit_of(name: str, of: Project, facts: Facts = NOTHING) -> Edit | None:
    remedy = REPAIRS[name](of, facts)
    return remedy.edit if remedy else None


FACTS = st.builds(
    lambda train, want, best: FrozenMap(train_count=train, want=want, best_epoch=best, asked_bytes=9, free_bytes=1),
    st.integers(2, 5000), st.sampled_from([1, 3]), st.integers(1, 30),
)  # fmt: skip


@given(
    template=st.sampled_from(["simple_cnn", "mlp"]),
    batch=st.integers(1, 65_536),
    rate=st.floats(1e-8, 1e6),
    optimiser=st.sampled_from(["adam", "adamw", "sgd", "rmsprop"]),
    channels=st.sampled_from(["colour", "grey"]),
    normalise=st.sampled_from(["dataset", "none"]),
    facts=FACTS,
)
def test_that_a_repaired_project_is_valid_and_has_no_new_errors(
    *, template: str, batch: int, rate: float, optimiser: str, channels: str, normalise: str, facts: Facts
) -> None:
    before = project(template, batch_size=batch, learning_rate=rate, optimiser=optimiser)
    before = replace(before, preprocessing=Preprocessing(channels=channels, normalise=normalise))  # type: ignore[arg-type]
    known = {problem.code for problem in check(before).all_problems}
    for repair in (REPAIRS[name] for name in REPAIRS):
        remedy = repair(before, facts)
        if remedy is None:
            continue
        after = remedy.edit.apply(before)
        assert after != before and remedy.label and "{" not in remedy.label
        assert project_from_json(project_to_json(after)) == after
        # A batch of one with batch norm is refused by the check itself, which is a repair's reason, not its fault.
        assert {problem.code for problem in check(after).all_problems} <= known | {"network.batch_norm_one"}


def test_that_a_batch_of_one_cannot_be_halved() -> None:
    assert edit_of("halve_batch", project(batch_size=1)) is None
    assert edit_of("halve_batch", project(batch_size=7)) is not None


@pytest.mark.parametrize(("count", "batch"), [(65, 32), (33, 32), (1601, 64), (9, 8)])
def test_that_no_picture_is_left_alone_after_evening_out(count: int, batch: int) -> None:
    of = project(batch_size=batch)
    edit = edit_of("even_out_last_batch", of, FrozenMap(train_count=count))
    assert edit is not None
    after = edit.apply(of).recipe.batch_size
    assert count % after != 1 and 1 < after <= count


def test_that_an_even_batch_is_left_as_it_is() -> None:
    assert edit_of("even_out_last_batch", project(batch_size=32), FrozenMap(train_count=64)) is None
    assert edit_of("even_out_last_batch", project(batch_size=32)) is None


def test_that_flatten_is_inserted_where_it_is_missing() -> None:
    blocks = (Block("c", "conv2d"), Block("l", "linear"))
    of = replace(project(), network=Network(blocks))
    edit = edit_of("insert_flatten", of)
    assert edit is not None and check(edit.apply(of)).is_ready and not check(of).is_ready
    assert edit_of("insert_flatten", project()) is None


def test_that_the_last_block_follows_the_classes() -> None:
    wrong = project().network
    last = wrong.blocks[-1].with_setting("out_features", 7)
    of = replace(project(), network=replace(wrong, blocks=(*wrong.blocks[:-1], last)))
    edit = edit_of("follow_classes", of)
    assert edit is not None and check(edit.apply(of)).is_ready
    assert edit_of("follow_classes", project()) is None


def test_that_a_usual_rate_is_offered_only_far_from_it() -> None:
    assert edit_of("usual_learning_rate", project(learning_rate=1e-3)) is None
    edit = edit_of("usual_learning_rate", project(learning_rate=1e3))
    assert edit is not None and edit.apply(project()).recipe.learning_rate == 1e-3


def test_that_channels_follow_what_the_network_wants() -> None:
    grey = replace(project(), preprocessing=Preprocessing(channels="grey"))
    edit = edit_of("take_colour", grey, FrozenMap(want=3))
    assert edit is not None and edit.apply(grey).preprocessing.channel_count == 3
    assert edit_of("take_colour", grey, FrozenMap(want=1)) is None
