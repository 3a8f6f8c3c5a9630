"""Whole numbers that people type."""

from typing import Final

__all__ = ["typed_number"]

# with a factor such as the ms of a day it still fits into 64 bits
_MOST_DIGITS: Final = 9


def typed_number(text: str, most_digits: int = _MOST_DIGITS) -> int | None:
    """Return a whole number, 0 or more, as it was typed; None for any other text, one of more digits included."""
    if text.isascii() and text.isdecimal() and len(text) <= most_digits:
        return int(text)
    return None
