"""Vacations at the start of a match: they are recorded with its first event, for the clock."""

import msgspec

from domain.clocks.ledger import Clock
from domain.match.decision import Decided, Given
from domain.match.events import Absent, Challenged, MatchStarted
from domain.match.state import MatchState, evolve
from domain.rules import Seat


def with_absences(decided: Decided, state: MatchState, given: Given, now: int) -> Decided:
    """Add the players' vacations to a decision that begins a match; return any other unchanged."""
    if not any(isinstance(event, Challenged | MatchStarted) for event in decided.events):
        return decided
    for event in decided.events:
        state = evolve(state, event, now)
    clock = state.clock
    if clock is None or state.over:
        return decided
    absent = tuple(
        Absent(seat=seat, until=until)
        for seat, account in enumerate(state.seats)
        if (until := given.away.get(account, 0)) > now and not _is_off(clock, seat, until)
    )
    return msgspec.structs.replace(decided, events=(*decided.events, *absent))


def _is_off(clock: Clock, seat: Seat, until: int) -> bool:
    """Return whether the clock already stands still for the seat until then."""
    return any(one.seat == seat and one.until >= until for one in clock.off)
