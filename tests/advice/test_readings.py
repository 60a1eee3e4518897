"""Numbers read from error texts, and literals taken from patterns."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.advice.needles import NotSearchable, needles_of
from studio.advice.readings import bytes_in_words, fill, parse_bytes, read_groups
from studio.core.frozen import FrozenMap


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("170.00 MiB", 178257920),
        ("2 GB", 2_000_000_000),
        ("4096", 4096),
        ("20 bytes", 20),
        ("1 KiB", 1024),
        ("?", None),
    ],
)
def test_that_sizes_are_read_with_their_units(text: str, count: int | None) -> None:
    assert parse_bytes(text) == count


@given(st.integers(min_value=0, max_value=2**50))
def test_that_a_size_in_words_reads_back_nearly_the_same(count: int) -> None:
    read = parse_bytes(bytes_in_words(count))
    assert read is not None and abs(read - count) <= 0.06 * count


def test_that_groups_are_typed_by_their_names() -> None:
    found = re.match(r"(?P<asked_bytes>[\d.]+ \w+) (?P<found_cuda>\d+) (?P<n>\d+) (?P<x>[\d.]+) (?P<w>\w+)(?P<no>y)?",
                     "1.00 GiB 11040 7 2.5 word")  # fmt: skip
    assert found is not None
    assert dict(read_groups(found)) == {"asked_bytes": 2**30, "found_cuda": "11.4", "n": 7, "x": 2.5, "w": "word"}


def test_that_a_sentence_with_an_unknown_number_is_left_out() -> None:
    assert fill("asked {asked} of {total}", FrozenMap(asked_bytes=2**20)) is None
    assert fill("asked {asked}", FrozenMap(asked_bytes=2**20)) == "asked 1 MiB"


def test_that_a_needle_is_never_an_optional_part() -> None:
    assert needles_of(r"Kernel size can't (?:be )?greater\. x*yes") == ("kernel size can't ", "greater. ", "yes")
    assert needles_of(r"colou?r [abc]def") == ("colo", "def")


def test_that_alternatives_outside_groups_are_refused() -> None:
    with pytest.raises(NotSearchable):
        needles_of("one thing|another")


PIECES = st.sampled_from(["abc", "word ", r"\d+", "(?:x|yz)?", "[abc]+", "q?", r"\.", ".*", "(?P<n>k)", "lo{2}se"])


@given(st.lists(PIECES, min_size=1, max_size=8), st.data())
def test_that_a_text_that_matches_holds_every_needle(pieces: list[str], data: st.DataObject) -> None:
    pieces = [p.replace("<n>", f"<n{i}>") for i, p in enumerate(pieces)]
    pattern = "".join(pieces)
    try:
        needles = needles_of(pattern)
    except NotSearchable:
        return
    text = data.draw(st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True))
    assert all(needle in text.lower() for needle in needles)
