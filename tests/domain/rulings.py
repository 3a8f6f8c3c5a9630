"""Rulings of the tests that set a match back, and matches to be set back."""

from typing import Any

from domain.clocks.time_control import DAY
from domain.match.commands import FlagPlayer, GiveRuling
from domain.match.events import SetBack, TimeGiven
from domain.match.state import position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from tests.domain.given import two
from tests.helpers.given import BEGIN, Match

ARBITER = b"arbiter1"
LATE = BEGIN + 100 * DAY


def rule(**changes: Any) -> GiveRuling:
    return GiveRuling(claim=None, upheld=True, text=bytes(32), **changes)


def back(match: Match, ply: int, at: int = LATE, **more: Any) -> SetBack:
    """Set a match back; return the event."""
    _, event, *_ = match.do(ARBITER, rule(back_to=ply, **more), at)
    assert isinstance(event, SetBack)
    return event


def any_legal(match: Match) -> str:
    """The first legal move."""
    rules = rules_by_id(match.state.rules)
    return next(iter(rules.legal_moves(position_of(match.state))))


def go_on(match: Match, plies: int = 1, at: int = LATE) -> None:
    for _ in range(plies):
        match.play(any_legal(match), at=at)


def played() -> Match:
    return two_moves(two("--days=5"))


def two_moves(match: Match) -> Match:
    match.play("m13-m9", at=BEGIN + DAY)
    match.play("a13-c11", at=BEGIN + 3 * DAY)
    return match


def by_flag() -> Match:
    match = played()
    match.do(SERVER_ACCOUNT, FlagPlayer(), BEGIN + 8 * DAY)
    return match


def give(match: Match, at: int, *time: tuple[int, int]) -> None:
    _, *given = match.do(ARBITER, rule(time=time), at)
    assert given == [TimeGiven(seat=seat, ms=ms) for seat, ms in time]
