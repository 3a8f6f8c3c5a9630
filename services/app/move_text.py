"""A move as a player writes it: its text, and the ply that may follow a `#`.

Reading text as it was meant, though a phone or a word processor has changed it.

They write a dash for a hyphen and a long dash for two. They put quotation marks around a sentence,
and a full stop after it. Every front end reads moves, flags and board numbers by these functions.
Messages, chat, notes, passwords and words of entropy are never changed.
"""

import re
import unicodedata
from typing import Any, Final

from domain.errors import Code, Refusal
from domain.match import decide
from domain.rules import AnyRules
from services.app.sentences import SAY

_HYPHENS: Final = "\u2010\u2011\u2212\ufe63\uff0d"
"""Hyphens that don't break, minus signs, full-width ones: one typed hyphen each."""

_DASHES: Final = "\u2012\u2013\u2014\u2015\ufe58"
"""Dashes of any length: one hyphen in a move, two before a flag."""

_QUOTES: Final = (
    "\"'`\u00b4\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a"
)

_FULL_WIDTH: Final = range(0xFF01, 0xFF5F)
"""Full-width forms of the ASCII characters from `!` on, in their order."""

_ASCII_DISTANCE: Final = 0xFEE0

_OF_MOVES: Final = "--opening"
"""The flag whose value are moves, in quotation marks if there are several."""

_VERBATIM: Final = frozenset({"--entropy", "--password"})
"""Flags whose values are the sender's own words."""


def as_plain(text: str) -> str:
    """Return a text with ASCII in place of other hyphens, other digits and full-width characters."""
    return text if text.isascii() else "".join(map(_plain, text))


def as_move(text: str) -> str:
    """Return a move's text as it was meant: plain, without marks around it or a final full stop."""
    text = as_plain(text).strip()
    while (bare := _bare(text)) != text:
        text = bare
    return text


def as_flag(word: str) -> str:
    """Return a flag as it was meant; a dash at its beginning was two hyphens."""
    rest = word.lstrip(f"-{_HYPHENS}{_DASHES}")
    run = word[: len(word) - len(rest)]
    hyphens = "--" if any(sign in _DASHES for sign in run) else "-" * len(run)
    name, mark, value = rest.partition("=")
    name = hyphens + as_plain(name)
    read = as_move if name.lower() == _OF_MOVES else as_plain
    return name + mark + (value if name.lower() in _VERBATIM else read(value))


def _plain(sign: str) -> str:
    if sign in _HYPHENS or sign in _DASHES:
        return "-"
    if ord(sign) in _FULL_WIDTH:
        return chr(ord(sign) - _ASCII_DISTANCE)
    digit = unicodedata.decimal(sign, None)
    return sign if digit is None else str(digit)


def _bare(text: str) -> str:
    """Return a text without one pair of marks, or one full stop, around it."""
    if len(text) > 1 and text[-1] in ".\u3002":
        return text[:-1].rstrip()
    if len(text) > 2 and text[0] in _QUOTES and text[-1] in _QUOTES:  # noqa: PLR2004 - two marks
        return text[1:-1].strip()
    return text


_PLY: Final = re.compile(r"0|[1-9][0-9]{0,5}")  # no sign, no leading zero


def read_move(rules: AnyRules, text: str) -> Any:
    """Return the move that a text means; as `domain.match.decide.read_move`, for typed text."""
    try:
        return decide.read_move(rules, as_move(text))
    except Refusal as reason:
        if text.strip().lower() == "pass":
            raise Refusal(reason.code, SAY("no-pass")) from None
        raise


def split_ply(text: str) -> tuple[str, int | None]:
    """Return the text before `#`, and the ply after it if there is one."""
    before, mark, after = text.partition("#")
    return before, read_ply(after.strip()) if mark else None


def read_ply(text: str) -> int:
    """Return the number after a `#`; `usage` for text that is no such number."""
    if not _PLY.fullmatch(text):
        raise Refusal(
            Code.USAGE,
            f"{f'#{text[:24]}'!r} isn't a ply; write the number of moves played, as in #0 or #12",
        )
    return int(text)
