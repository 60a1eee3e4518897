"""The codec gives back what it was given, and says where a value is wrong."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.core.codec import MalformedValue, dumps, from_plain
from studio.core.edits import Edit, InsertBlock, SetBlock
from studio.core.frozen import FrozenMap
from studio.core.problem import Fix, Problem, Severity
from studio.core.project import Data, Recipe

facts = st.dictionaries(
    st.text(max_size=8),
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=20)
    ),
    max_size=4,
).map(FrozenMap)
fixes = st.builds(
    Fix,
    st.text(max_size=8),
    st.one_of(
        st.builds(SetBlock, st.text(), st.text(), st.one_of(st.none(), st.integers(), st.text())),
        st.builds(InsertBlock, st.text(), st.text()),
    ),
    facts,
)
problems = st.builds(
    Problem,
    st.text(max_size=8),
    st.sampled_from(Severity),
    st.text(max_size=8),
    facts,
    st.lists(fixes, max_size=3).map(tuple),
    st.lists(st.text(max_size=8), max_size=3).map(tuple),
)


@given(problems)
def test_that_a_problem_survives_the_round_trip_through_json(problem: Problem) -> None:
    assert from_plain(Problem, json.loads(dumps(problem))) == problem


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_that_floats_without_a_json_form_travel_as_words(value: float) -> None:
    back = from_plain(float, json.loads(dumps((value,)))[0])
    assert str(back) == str(value)


def test_that_a_whole_number_stays_whole_where_both_kinds_are_allowed() -> None:
    assert type(from_plain(int | float | None, 1)) is int
    assert type(from_plain(int | float | None, 1.0)) is float


def test_that_true_is_not_taken_for_a_number() -> None:
    with pytest.raises(MalformedValue, match="a whole number"):
        from_plain(Recipe, {"epochs": True})


def test_that_an_error_names_the_place_and_what_was_expected() -> None:
    with pytest.raises(MalformedValue) as caught:
        from_plain(Data, {"classes": ["cat", 3]})
    assert caught.value.place == "classes[1]"
    assert "text" in str(caught.value)
    assert "3" in str(caught.value)


def test_that_a_misspelt_key_is_refused_unless_the_reader_is_lenient() -> None:
    with pytest.raises(MalformedValue, match="epoch"):
        from_plain(Recipe, {"epoch": 3})
    assert from_plain(Recipe, {"epoch": 3}, ignore_unknown=True) == Recipe()


def test_that_an_unknown_member_of_a_union_is_refused_by_name() -> None:
    with pytest.raises(MalformedValue, match="Explode"):
        from_plain(Edit, {"type": "Explode"})
