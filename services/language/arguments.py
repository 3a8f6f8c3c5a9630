"""Checks of a command line's words, and hints for misspelt ones."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from domain.errors import Code, Refusal
from domain.match.commands import TEXT_LIMIT
from infra.languages.wording import IN_ENGLISH, Wording
from services.language.invocation import Invocation
from services.language.parser import FIRST_LIMIT

WHOLE_LIMIT: Final = 65_536
"""Characters of a command with all its lines, at most."""

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,14}")


def check_text(text: str, words: Wording) -> None:
    """Refuse a text that is too long (`too-long`) or not valid UTF-8 (`bad-request`)."""
    if len(text) > WHOLE_LIMIT:
        said = words.gettext(
            "the text has %(length)s characters; the limit is %(most)s",
            length=len(text),
            most=WHOLE_LIMIT,
        )
        raise Refusal(Code.TOO_LONG, said)
    first = text.strip().partition("\n")[0]
    _check_length(first, FIRST_LIMIT, words)
    if not _is_text(text):
        raise Refusal(Code.BAD_REQUEST, words.gettext("the text is not valid UTF-8"))


def check_line(line: str, words: Wording) -> None:
    """Refuse a command that is too long for one without free text."""
    _check_length(line, TEXT_LIMIT, words)


def _check_length(line: str, limit: int, words: Wording) -> None:
    if len(line) > limit:
        said = words.gettext(
            "the line has %(length)s characters; the limit is %(most)s",
            length=len(line),
            most=limit,
        )
        raise Refusal(Code.TOO_LONG, said)


def check_key(key: str, words: Wording) -> None:
    """Refuse a key that is empty, too long or not valid UTF-8."""
    if not 1 <= len(key) <= TEXT_LIMIT or not _is_text(key):
        said = words.gettext(
            "a key has 1 to %(most)s characters and is valid UTF-8", most=TEXT_LIMIT
        )
        raise Refusal(Code.BAD_REQUEST, said)


def _is_text(text: str) -> bool:
    """Return whether a text has no lone surrogates, which stand for bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def usage_refusal(call: Invocation) -> Refusal:
    """Return the refusal of a command that is not in its form. It repeats nothing of it."""
    said = call.words.gettext(
        "the form is %(usage)s; `help` lists the commands", usage=f"`{call.usage}`"
    )
    return Refusal(Code.USAGE, said)


def read_board(text: str, words: Wording = IN_ENGLISH) -> int:
    """Return a board number; `unknown-board` for a word that is none."""
    if not _NUMBER.fullmatch(text):
        said = words.gettext(
            "%(written)s isn't a board number, such as 17", written=repr(text[:24])
        )
        raise Refusal(Code.UNKNOWN_BOARD, said)
    return int(text)


def read_tournament(text: str, words: Wording) -> int:
    """Return the number of a tournament; `unknown-tournament` for a word that is none."""
    if not _NUMBER.fullmatch(text):
        said = words.gettext(
            "%(written)s isn't a tournament's number, such as 17", written=repr(text[:24])
        )
        raise Refusal(Code.UNKNOWN_TOURNAMENT, said)
    return int(text)


def nearest(word: str, known: Mapping[str, str], words: Wording) -> str:
    """Return the end of a sentence about a misspelt word: what was meant, or where to look.

    `known` has the suggestion for each word that the sender may have meant.
    """
    if near := get_close_matches(word.lower(), list(known), n=1):
        return words.gettext("did you mean %(near)s?", near=f"`{known[near[0]]}`")
    return words.gettext("`help` lists the commands")
