"""Numbers and choices as people type them into forms and command lines.

Which numbers are allowed is checked by the use case that takes the number.
"""

from enum import StrEnum
from typing import Final, TypeVar

from domain.errors import Code, Refusal
from services.app.sentences import SAY

__all__ = ["read_choice", "typed_number"]

# with a factor such as the ms of a day it still fits into 64 bits
_MOST_DIGITS: Final = 9

_Choice = TypeVar("_Choice", bound=StrEnum)


def typed_number(text: str, most_digits: int = _MOST_DIGITS) -> int | None:
    """Return a whole number, 0 or more, as it was typed; None for any other text, one of more digits included."""
    if text.isascii() and text.isdecimal() and len(text) <= most_digits:
        return int(text)
    return None


def read_choice(kind: type[_Choice], text: str) -> _Choice:
    """Return one of a kind of choices, such as a role; `bad-option` for any other text."""
    if text not in set(kind):
        raise Refusal(Code.BAD_OPTION, SAY("choice", text=text[:24], choices=", ".join(kind)))
    return kind(text)
