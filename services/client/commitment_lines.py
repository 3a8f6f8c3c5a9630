"""Command lines that commit to a text: the client creates, stores and names the text."""

import re
from typing import Final

import msgspec

_ACCEPT: Final = re.compile(
    r"\s*\S+\s+move\s+(?P<board>[1-9]\d{0,14})\s+\S+\s+\S+\s+accept(?=\s|$)", re.IGNORECASE
)
_SIGNED_ACCEPT: Final = re.compile(
    r"\s*\S+\s+move\s+(?P<board>[1-9]\d{0,14})\s+accept(?=\s|$)", re.IGNORECASE
)
"""The same without userid and password."""
_CHALLENGE: Final = re.compile(r"\s*\S+\s+challenge\s.*--gather(?=\s|$)", re.IGNORECASE | re.DOTALL)
_WORD: Final = re.compile(r"\s--entropy=(?P<word>\S+)")
_MADE: Final = re.compile(r"match (?P<board>[1-9]\d*)\b")


class CommittingLine(msgspec.Struct, frozen=True):
    """A line that can commit to a text."""

    line: str
    """The line without the player's word, which goes into the text."""
    word: str
    board: int | None
    """Board of the match to accept; None for a challenge."""

    def with_commitment(self, commitment: str) -> str:
        """Return the line with the commitment, ready to send."""
        return f"{self.line.rstrip()} --commitment={commitment}"


def read_committing_line(line: str, *, signs: bool = False) -> CommittingLine | None:
    """Return the parts of a line that can commit; None if it can't, or commits by itself.

    If the token `signs`, the line may leave out userid and password.
    """
    accept = _ACCEPT.match(line) or (_SIGNED_ACCEPT.match(line) if signs else None)
    if (accept is None and not _CHALLENGE.match(line)) or "--commitment=" in line:
        return None
    if "\n" in line.strip():
        return None
    word = _WORD.search(line)
    rest = _WORD.sub("", line, count=1)
    return CommittingLine(
        rest, word["word"] if word else "", int(accept["board"]) if accept else None
    )


def board_of(answer: str) -> int | None:
    """Return the board that an answer names, or None."""
    made = _MADE.match(answer)
    return int(made["board"]) if made else None
