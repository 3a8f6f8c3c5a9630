"""Whole numbers that people type, and what meets a long one."""

import pytest

from services.app.typed_values import typed_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("999999999", 999_999_999)])
def test_digits_are_a_number(text, number):
    assert typed_number(text) == number


@pytest.mark.parametrize(
    "text", ["", " 7", "-7", "+7", "7.0", "1e3", "²", "٣", "1_000", "9" * 10, "9" * 5000]
)
def test_another_text_is_none(text):
    assert typed_number(text) is None
