"""Laws of the changes to a list of blocks, of their text form and of the order of rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("PySide6")

from studio.core.frozen import FrozenMap
from studio.core.problem import Problem
from studio.core.project import Block, Network
from studio.view.network import changes
from studio.view.network.clipping import MOST_BLOCKS, blocks_from_text, blocks_to_text
from studio.view.network.model import longest_rising

pytestmark = pytest.mark.qt

KINDS = st.sampled_from(["conv2d", "relu", "linear", "unheard of"])
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
BLOCKS = st.builds(
    Block,
    st.text(min_size=1),
    KINDS,
    st.dictionaries(st.text(), VALUES).map(FrozenMap),
    st.lists(st.text(min_size=1)).map(tuple),
    st.booleans(),
)


def network(count: int) -> Network:
    return Network(tuple(Block(f"b{n}", "relu") for n in range(count)))


def order(made: Network) -> list[str]:
    return [block.id for block in made.blocks]


CHOSEN = st.integers(0, 12).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, max(0, n - 1)))))


@given(st.lists(BLOCKS, min_size=1, max_size=5))
def test_that_blocks_survive_the_clipboard(blocks: list[Block]) -> None:
    assert blocks_from_text(blocks_to_text(blocks)) == tuple(blocks)


@given(st.text() | st.recursive(st.none() | st.text(), lambda s: st.dictionaries(st.text(), s)).map(str))
def test_that_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(blocks_from_text(text), Problem)


def test_that_far_too_many_blocks_are_refused() -> None:
    found = blocks_from_text(blocks_to_text([Block("b", "relu")] * (MOST_BLOCKS + 1)))
    assert isinstance(found, Problem) and found.code == "paste.too_many"


@given(CHOSEN, st.integers(-2, 14))
def test_that_a_move_keeps_every_block_once_and_the_chosen_together(chosen: tuple[int, set[int]], place: int) -> None:
    count, places = chosen
    picked = [f"b{n}" for n in sorted(places) if n < count]
    moved = changes.moved(network(count), set(picked), max(0, place))
    assert sorted(order(moved)) == sorted(order(network(count)))
    if picked:
        start = order(moved).index(picked[0])
        assert order(moved)[start : start + len(picked)] == picked


@given(CHOSEN)
def test_that_a_shift_up_is_taken_back_by_a_shift_down_where_there_was_room(chosen: tuple[int, set[int]]) -> None:
    count, places = chosen
    picked = {f"b{n}" for n in places if 0 < n < count}
    made = network(count)
    if "b1" in picked:  # it would meet the top, and those behind it would close up
        return
    up = changes.shifted(made, picked, -1)
    assert order(changes.shifted(up, picked, 1)) == order(made)
    assert sorted(order(up)) == sorted(order(made))


def test_that_copies_take_their_inputs_from_each_other() -> None:
    made = Network((Block("a", "relu"), Block("b", "add", inputs=("a", "x"))))
    copied, names = changes.duplicated(made, {"a", "b"})
    assert copied.blocks[3].inputs == (names[0], "x")
    assert len(set(order(copied))) == 4


@settings(max_examples=60)
@given(st.permutations(range(9)))
def test_that_the_longest_rising_part_rises_and_is_as_long_as_any(places: list[int]) -> None:
    chain = longest_rising(places)
    values = [places[position] for position in chain]
    assert values == sorted(values) and chain == sorted(chain)
    lengths = [1] * len(places)
    for end, value in enumerate(places):
        lengths[end] = 1 + max((lengths[n] for n in range(end) if places[n] < value), default=0)
    assert len(chain) == max(lengths)
