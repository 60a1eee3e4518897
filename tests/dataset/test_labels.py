"""Natural order is a total order, and any name can be shown."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from studio.dataset.labels import natural_key, natural_order, same_name_key, shown


def test_that_ten_comes_after_two() -> None:
    assert natural_order(str(n) for n in range(12)) == tuple(str(n) for n in range(12))


def test_that_capitals_do_not_matter() -> None:
    assert natural_order(["Zebra", "apple", "Bear"]) == ("apple", "Bear", "Zebra")


@given(st.lists(st.text(max_size=8)))
def test_that_the_order_does_not_depend_on_where_it_started(names: list[str]) -> None:
    assert natural_order(names) == natural_order(reversed(names))
    assert sorted(set(names)) == sorted(natural_order(names))


@given(st.text(), st.text())
def test_that_only_equal_names_have_equal_keys(one: str, other: str) -> None:
    assert (natural_key(one) == natural_key(other)) == (one == other)


def test_that_numbers_of_thousands_of_digits_can_be_compared() -> None:
    assert natural_key("9" * 5000) < natural_key("1" + "0" * 5000)


@given(st.binary(max_size=20))
def test_that_any_name_on_the_disk_can_be_printed(name: bytes) -> None:
    shown(os.fsdecode(name)).encode()


def test_that_bytes_that_are_no_text_are_escaped() -> None:
    assert shown(os.fsdecode(b"bad_\xff\xfe.jpg")) == "bad_\\xff\\xfe.jpg"


def test_that_composed_and_decomposed_accents_are_one_name() -> None:
    assert same_name_key("caf\u00e9") == same_name_key("cafe\u0301")
