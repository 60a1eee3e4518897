"""A few letters find a title."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.view.fuzzy import fit

TITLES = (
    "Open a project…",
    "Open the sample project",
    "Stop training",
    "Save as…",
    "About Lantern Studio",
    "打开示例项目",
)


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("op sa", "Open the sample project"),
        ("opro", "Open a project…"),
        ("stop", "Stop training"),
        ("SA", "Save as…"),
        ("ample", "Open the sample project"),
        ("示例", "打开示例项目"),
        ("打项", "打开示例项目"),
    ],
)
def test_that_the_meant_title_comes_first(query: str, title: str) -> None:
    scored = [(score, shown) for shown in TITLES if (score := fit(query, shown)) is not None]
    assert max(scored)[1] == title


@pytest.mark.parametrize("query", ["xq", "undo", "pots", "ones"])
def test_that_letters_strewn_over_a_title_are_no_fit(query: str) -> None:
    assert [title for title in TITLES if fit(query, title) is not None] == []


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=6), min_size=1, max_size=5), st.data())
def test_that_beginnings_of_words_in_order_fit(words: list[str], data: st.DataObject) -> None:
    lengths = [data.draw(st.integers(0, len(word))) for word in words]
    query = "".join(word[:length] for word, length in zip(words, lengths, strict=True))
    assert fit(query, " ".join(words)) is not None
