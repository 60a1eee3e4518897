"""The split by content: disjoint, complete, stable, fair to small classes, and the same for copies."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from studio.core.problem import Severity
from studio.core.project import Data
from studio.dataset.inspection import Inspection
from studio.dataset.report import problems_of
from studio.dataset.split import class_counts, in_given_splits, never_trained, split
from tests.dataset.making import inspection_of


def content(number: int) -> bytes:
    return blake2b(number.to_bytes(8, "big"), digest_size=16).digest()


# (content, label): a small range of contents makes copies likely
ROWS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=80)
SETTINGS = st.builds(Data, validation_share=st.sampled_from([0.05, 0.2, 0.5]), split_seed=st.integers(0, 5))


def made(rows: list[tuple[int, int]]) -> Inspection:
    return inspection_of([content(number) for number, _ in rows], [label for _, label in rows])


@given(ROWS, SETTINGS)
def test_that_every_picture_is_on_exactly_one_side(rows: list[tuple[int, int]], data: Data) -> None:
    found = split(made(rows), data)
    assert sorted([*found.train.tolist(), *found.validation.tolist(), *found.test.tolist()]) == list(range(len(rows)))


@given(ROWS, SETTINGS)
def test_that_copies_are_never_on_both_sides(rows: list[tuple[int, int]], data: Data) -> None:
    found = split(made(rows), data)
    assert not {rows[at][0] for at in found.train} & {rows[at][0] for at in found.validation}


@given(st.lists(st.integers(2, 6), min_size=1, max_size=8), SETTINGS)
def test_that_a_class_of_two_or_more_is_on_both_sides(sizes: list[int], data: Data) -> None:
    labels = [label for label, size in enumerate(sizes) for _ in range(size)]
    inspection = inspection_of([content(at) for at in range(len(labels))], labels)
    found = split(inspection, data)
    assert min(class_counts(inspection, found.train)) >= 1
    assert min(class_counts(inspection, found.validation)) >= 1


@given(st.integers(0, 1000), st.integers(1, 200))
def test_that_added_pictures_move_no_other(seed: int, added: int) -> None:
    numbers = [content(seed * 10_000 + at) for at in range(200 + added)]
    labels = [at % 2 for at in range(200 + added)]
    data = Data(split_seed=seed)
    before = split(inspection_of(numbers[:200], labels[:200]), data)
    after = split(inspection_of(numbers, labels), data)
    assert set(before.train) == {at for at in after.train if at < 200}
    assert set(before.validation) == {at for at in after.validation if at < 200}


def test_that_each_class_gives_its_share() -> None:
    labels = [at % 4 for at in range(8000)]
    inspection = inspection_of([content(at) for at in range(8000)], labels)
    for count in class_counts(inspection, split(inspection, Data(validation_share=0.2)).validation):
        assert 320 < count < 480


def test_that_classes_that_can_only_be_judged_are_a_finding() -> None:
    # Ten classes of one picture each: by the rule some of them are kept for validation.
    inspection = made([(at, at) for at in range(10)])
    parts = split(inspection, Data(validation_share=0.5))
    kept_out = [inspection.index.classes[at] for at in parts.validation.tolist()]
    assert kept_out and len(parts.train)
    found = never_trained(inspection, parts)
    assert found is not None and found.severity is Severity.WARNING
    assert (found.facts["count"], found.facts["names"]) == (len(kept_out), ", ".join(kept_out))
    assert found in problems_of(inspection, parts)
    whole = made([(at, at % 3) for at in range(60)])
    assert never_trained(whole, split(whole, Data())) is None


def test_that_the_seed_decides_and_nothing_else_does() -> None:
    inspection = made([(at, at % 3) for at in range(300)])
    one, same, other = (split(inspection, Data(split_seed=seed)) for seed in (1, 1, 2))
    assert one.validation.tolist() == same.validation.tolist() != other.validation.tolist()


def test_that_refused_pictures_are_left_out() -> None:
    inspection = inspection_of([content(at) for at in range(20)], [at % 2 for at in range(20)], refused=[3, 4])
    found = split(inspection, Data())
    assert not {3, 4} & {*found.train.tolist(), *found.validation.tolist()}


def test_that_given_splits_are_kept() -> None:
    inspection = inspection_of([content(at) for at in range(6)], [0, 1] * 3, [1, 1, 2, 2, 3, 3])
    found = split(inspection, Data())
    assert [found.train.tolist(), found.validation.tolist(), found.test.tolist()] == [[0, 1], [2, 3], [4, 5]]
    assert in_given_splits(inspection) == {
        "train": {"c0": 1, "c1": 1}, "val": {"c0": 1, "c1": 1}, "test": {"c0": 1, "c1": 1},
    }  # fmt: skip


def test_that_a_missing_validation_split_is_taken_from_training_only() -> None:
    inspection = inspection_of([content(at) for at in range(40)], [at % 2 for at in range(40)], [1] * 30 + [3] * 10)
    found = split(inspection, Data())
    assert found.test.tolist() == list(range(30, 40))
    assert len(found.validation) and found.validation.max() < 30


@given(st.integers(2, 30))
def test_that_a_limit_holds_for_each_class_and_a_larger_one_only_adds(limit: int) -> None:
    inspection = made([(at, at % 3) for at in range(90)])

    def chosen(most: int) -> set[int]:
        found = split(inspection, Data(limit_per_class=most))
        return {*found.train.tolist(), *found.validation.tolist()}

    few, more = chosen(limit), chosen(limit + 1)
    assert class_counts(inspection, np.array(sorted(few), np.int64)) == (limit,) * 3
    assert few <= more


def test_that_no_pictures_give_an_empty_split() -> None:
    found = split(inspection_of([], []), Data())
    assert len(found.train) == len(found.validation) == len(found.test) == 0
