"""Vacations at the start of a match, and where a match goes on again: they are recorded, for the clock."""

import msgspec

from domain.clocks.match_clock import MatchClock
from domain.match.decision import Decision, DecisionContext
from domain.match.dispute_events import SetBack
from domain.match.events import Absent, Challenged, MatchStarted
from domain.match.state import MatchState, evolve
from domain.rules import Seat


def add_vacations(
    decision: Decision, state: MatchState, context: DecisionContext, now: int
) -> Decision:
    """Add the players' vacations to a decision by which clocks begin to run; return any other unchanged."""
    if not any(isinstance(event, Challenged | MatchStarted | SetBack) for event in decision.events):
        return decision
    for event in decision.events:
        state = evolve(state, event, now)
    clock = state.clock
    if clock is None or state.over:
        return decision
    absent = tuple(
        Absent(seat=seat, until=until)
        for seat, account in enumerate(state.seats)
        if seat in state.active_seats
        and (until := context.away.get(account, 0)) > now
        and not _is_on_vacation(clock, seat, until)
    )
    return msgspec.structs.replace(decision, events=(*decision.events, *absent))


def _is_on_vacation(clock: MatchClock, seat: Seat, until: int) -> bool:
    """Return whether the clock already stands still for the seat until then."""
    return any(one.seat == seat and one.until >= until for one in clock.stops)
