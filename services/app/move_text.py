"""A move as a player writes it: its text, and the ply that may follow a `#`."""

import re
from typing import Any, Final

from domain.errors import Code, Refusal
from domain.match import decide
from domain.rules import AnyRules
from services.app.sentences import SAY
from services.app.typography import as_move

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
