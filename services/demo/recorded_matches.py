"""Recorded matches: the players of a recorded game, when each of its moves came, and all else that happened in it.

They are in the file `matches.jsonl`, one JSON object a line, and were recorded once. Times are in seconds: how long
before now a match began, and for each step how long after the step before. A step that is only a number is the next
move of the game; another has a userid, empty for the server, and what was done.
"""

from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
)
from services.app.disputes import AppealAction, ClaimAction, RuleAction

SERVER: Final = ""
"""In place of a userid: the server itself, as the scheduler."""


class RecordedChat(msgspec.Struct, frozen=True, tag="chat"):
    """A line in the chat of a match."""

    text: str


class RecordedClaim(ClaimAction, frozen=True, tag="claim"):
    """A claim."""


class RecordedAppeal(AppealAction, frozen=True, tag="appeal"):
    """An appeal against a ruling."""


class RecordedRuling(RuleAction, frozen=True, tag="rule"):
    """A ruling of an arbiter."""


RecordedAction = (
    PlayMove
    | MakeOffer
    | AnswerOffer
    | ResignMatch
    | DeclineMatch
    | RemindPlayer
    | FlagPlayer
    | RecordedChat
    | RecordedClaim
    | RecordedAppeal
    | RecordedRuling
)


class RecordedMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A match from its start on."""

    players: tuple[str, ...]
    ago: int
    """Seconds since its start."""
    steps: tuple[int | tuple[int, str, RecordedAction], ...]
    """Each with the seconds since the step before, or since the start."""
    game: int | None = None
    """The number of the recorded game, from 0; None where chance draws the setup, and moves are chosen then."""
    drawn: str = ""
    """The rules of such a match, such as `powerdrain/1`."""
    terms: tuple[str, ...] = ()
    """The time control, such as `--days=3`."""


@cache
def recorded_matches() -> tuple[RecordedMatch, ...]:
    """Return the matches of `matches.jsonl`, in its order."""
    data = files(__package__).joinpath("matches.jsonl").read_bytes()
    return tuple(msgspec.json.Decoder(RecordedMatch).decode_lines(data))
