"""Matches in which replies are laid ready, and what their events are."""

from domain.match.conditional_moves import ConditionalMove, ConditionalMoves
from domain.match.events import Moved
from domain.match.history import EventEnvelope, decode_event
from tests.helpers.given import Match

LIGHT, DARK = 0, 1
OUT, FORTH = "m13-j7", "a13-c11"
BACK, AND_BACK = "j7-m13", "c11-a13"
"""Four moves after which everything is as before."""

_SHUT_IN = "c5 e11 m5 g4 c8 f6 j12 i9 f8 i7 l10 h6 b4 d12 d7 e13 a5 i3 h8 j4 k6"
SHUT_IN = _SHUT_IN.split()
"""A whole match of line: Light is passed from ply 18 on."""

WANING = [*"111111358"]
"""A whole match of halves among three."""


def queued(ply: int, seat: int, move: str, then: int | None) -> Moved:
    return Moved(ply=ply, seat=seat, move=move, next=then, queued=True)


def moved(ply: int, seat: int, move: str, then: int | None) -> Moved:
    return Moved(ply=ply, seat=seat, move=move, next=then)


def waiting(match: Match, seat: int) -> tuple[ConditionalMove, ...]:
    return match.replies.get(seat, ConditionalMoves()).moves


def envelopes(match: Match) -> list[EventEnvelope]:
    return [decode_event(data) for data in match.events]
