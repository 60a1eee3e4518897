"""Undo and redo go back and forth over the same values, whatever was done before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.core.history import History


@given(st.lists(st.integers(), max_size=30))
def test_that_undoing_everything_leads_back_and_redoing_it_forth(values: list[int]) -> None:
    history = History(0)
    for number, value in enumerate(values):
        history.push(f"edit {number}", value)
    end = history.value
    while history.undo_label is not None:
        history.undo()
    assert history.value == 0
    while history.redo_label is not None:
        history.redo()
    assert history.value == end


@given(st.lists(st.sampled_from(["push", "undo", "redo"]), max_size=60))
def test_that_any_mix_agrees_with_a_plain_list_model(moves: list[str]) -> None:
    history, past, future, counter = History(0), [0], list[int](), 0
    for move in moves:
        if move == "push":
            counter += 1
            history.push("edit", counter)
            past.append(counter)
            future.clear()
        elif move == "undo" and len(past) > 1:
            history.undo()
            future.append(past.pop())
        elif move == "redo" and future:
            history.redo()
            past.append(future.pop())
        assert history.value == past[-1]
        assert (history.undo_label is None) == (len(past) == 1)
        assert (history.redo_label is None) == (not future)


def test_that_one_drag_is_one_step() -> None:
    history = History(0)
    for value in range(1, 10):
        history.push("Set kernel", value, merge="b1.kernel")
    history.undo()
    assert history.value == 0


def test_that_a_sealed_drag_and_the_next_one_are_two_steps() -> None:
    history = History(0)
    history.push("Set kernel", 1, merge="k")
    history.seal()
    history.push("Set kernel", 2, merge="k")
    history.undo()
    assert history.value == 1


def test_that_an_edit_after_undo_is_not_merged_into_the_past() -> None:
    history = History(0)
    history.push("Set kernel", 1, merge="k")
    history.push("Other", 5)
    history.undo()
    history.push("Set kernel", 2, merge="k")
    history.undo()
    assert history.value == 1


def test_that_an_edit_that_changes_nothing_is_no_step() -> None:
    history = History((1, 2))
    history.push("Nothing", (1, 2))
    assert history.undo_label is None


def test_that_the_past_is_bounded() -> None:
    history = History(0, limit=5)
    for value in range(1, 100):
        history.push("edit", value)
    steps = 0
    while history.undo_label is not None:
        history.undo()
        steps += 1
    assert steps == 5
    assert history.value == 94
