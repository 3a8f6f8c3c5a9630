"""Checks of a command line's words, and hints for misspelt ones."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from domain.errors import Code, Refusal
from domain.match.commands import TEXT_LIMIT
from services.language.invocation import Invocation
from services.language.parser import FIRST_LIMIT

WHOLE_LIMIT: Final = 65_536
"""Characters of a command with all its lines, at most."""

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,14}")


def check_text(text: str) -> None:
    """Refuse a text that is too long (`too-long`) or not valid UTF-8 (`bad-request`)."""
    if len(text) > WHOLE_LIMIT:
        raise _too_long("the text", len(text), WHOLE_LIMIT)
    first = text.strip().partition("\n")[0]
    if len(first) > FIRST_LIMIT:
        raise _too_long("the line", len(first), FIRST_LIMIT)
    if not _is_text(text):
        raise Refusal(Code.BAD_REQUEST, "the text is not valid UTF-8")


def check_line(line: str) -> None:
    """Refuse a command that is too long for one without free text."""
    if len(line) > TEXT_LIMIT:
        raise _too_long("the line", len(line), TEXT_LIMIT)


def _too_long(what: str, length: int, limit: int) -> Refusal:
    return Refusal(Code.TOO_LONG, f"{what} has {length} characters; {limit} are the most")


def check_key(key: str) -> None:
    """Refuse a key that is empty, too long or not valid UTF-8."""
    if not 1 <= len(key) <= TEXT_LIMIT or not _is_text(key):
        raise Refusal(
            Code.BAD_REQUEST, f"a key has 1 to {TEXT_LIMIT} characters and is valid UTF-8"
        )


def _is_text(text: str) -> bool:
    """Return whether a text has no lone surrogates, which stand for bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def usage_refusal(call: Invocation) -> Refusal:
    """Return the refusal of a command that is not in its form. It repeats nothing of it."""
    return Refusal(Code.USAGE, f"the form is `{call.usage}`; `help` lists the commands")


def read_board(text: str) -> int:
    """Return a board number; `unknown-board` for a word that is none."""
    if not _NUMBER.fullmatch(text):
        raise Refusal(Code.UNKNOWN_BOARD, f"{text[:24]!r} is no board number, such as 17")
    return int(text)


def nearest(word: str, known: Mapping[str, str]) -> str:
    """Return the end of a sentence about a misspelt word: what was meant, or where to look.

    `known` has the suggestion for each word that the sender may have meant.
    """
    if near := get_close_matches(word.lower(), list(known), n=1):
        return f"did you mean `{known[near[0]]}`?"
    return "`help` lists the commands"
