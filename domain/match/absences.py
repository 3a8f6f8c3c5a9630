"""Vacations at the start of a match: they are recorded with its first event, for the clock."""

import msgspec

from domain.clocks.ledger import Clock
from domain.match.decision import Decided, Given
from domain.match.events import Absent, Challenged, MatchStarted
from domain.match.state import MatchState, evolve
from domain.rules import Seat


def with_absences(decision: Decided, state: MatchState, context: Given, now: int) -> Decided:
    """Add the players' vacations to a decision that begins a match; return any other unchanged."""
    if not any(isinstance(event, Challenged | MatchStarted) for event in decision.events):
        return decision
    for event in decision.events:
        state = evolve(state, event, now)
    clock = state.clock
    if clock is None or state.over:
        return decision
    absent = tuple(
        Absent(seat=seat, until=until)
        for seat, account in enumerate(state.seats)
        if (until := context.away.get(account, 0)) > now and not _is_off(clock, seat, until)
    )
    return msgspec.structs.replace(decision, events=(*decision.events, *absent))


def _is_off(clock: Clock, seat: Seat, until: int) -> bool:
    """Return whether the clock already stands still for the seat until then."""
    return any(one.seat == seat and one.until >= until for one in clock.off)
