"""Locators: log indexes as bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.store import locators

INDEXES = st.lists(st.integers(0, 1 << 50), max_size=50)


@given(INDEXES)
def test_indexes_come_back_as_they_were(indexes: list[int]) -> None:
    assert locators.decode(locators.encode(indexes)) == indexes


@given(INDEXES, INDEXES)
def test_locators_are_appended_to_each_other(first: list[int], more: list[int]) -> None:
    assert locators.encode(first + more) == locators.encode(first) + locators.encode(more)


@pytest.mark.parametrize(
    ("index", "data"), [(0, b"\x00"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")]
)
def test_an_index_has_seven_bits_a_byte_the_lowest_first(index: int, data: bytes) -> None:
    assert locators.encode([index]) == data


def test_a_locator_that_was_cut_off_is_refused() -> None:
    with pytest.raises(ValueError, match="cut off"):
        locators.decode(locators.encode([5, 300])[:-1])
