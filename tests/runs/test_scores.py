"""What a confusion matrix says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.runs.scores import MixUp, class_scores, macro_f1, most_mixed_up

CONFUSION = ((8, 2, 0), (1, 9, 0), (3, 0, 0))


def test_that_scores_are_those_of_the_textbook() -> None:
    cat, dog, _ = class_scores(("cat", "dog", "owl"), CONFUSION)
    assert (cat.count, cat.predicted, cat.right) == (10, 12, 8)
    assert cat.precision == pytest.approx(8 / 12)
    assert cat.recall == pytest.approx(0.8)
    assert cat.f1 == pytest.approx(2 * (8 / 12) * 0.8 / (8 / 12 + 0.8))
    assert dog.recall == pytest.approx(0.9)


def test_that_a_class_that_was_never_predicted_has_no_precision_but_a_recall_of_zero() -> None:
    owl = class_scores(("cat", "dog", "owl"), CONFUSION)[2]
    assert (owl.precision, owl.recall, owl.f1) == (None, 0.0, 0.0)


def test_that_a_class_without_pictures_does_not_count_in_the_mean() -> None:
    scores = class_scores(("a", "b"), ((4, 0), (0, 0)))
    assert scores[1].recall is None
    assert macro_f1(scores) == 1.0
    assert macro_f1(()) is None


def test_that_the_commonest_mistakes_come_first_and_right_answers_are_none() -> None:
    assert most_mixed_up(CONFUSION, 2) == (MixUp(2, 0, 3), MixUp(0, 1, 2))
    assert most_mixed_up(((5, 0), (0, 5)), 3) == ()


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.tuples(*[st.integers(0, 50)] * n), min_size=n, max_size=n)))
def test_that_every_picture_is_counted_once_as_itself_and_once_as_what_it_was_taken_for(
    confusion: list[tuple[int, ...]],
) -> None:
    scores = class_scores([str(n) for n in range(len(confusion))], confusion)
    total = sum(map(sum, confusion))
    assert sum(score.count for score in scores) == sum(score.predicted for score in scores) == total
    wrong = sum(one.count for one in most_mixed_up(confusion, 100))
    assert sum(score.right for score in scores) + wrong == total
