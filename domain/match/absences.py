"""Who is on vacation when a match begins: its clock knows it with the match's first event."""

import msgspec

from domain.clocks.ledger import Clock
from domain.match.decision import Decided, Given
from domain.match.events import Absent, Challenged, MatchStarted
from domain.match.state import MatchState, evolve
from domain.rules import Seat


def with_absences(decided: Decided, state: MatchState, given: Given, now: int) -> Decided:
    """Return a decision with the vacations of the players, if a match begins with it."""
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
    """Return whether the clock stands still for a seat that long already."""
    return any(one.seat == seat and one.until >= until for one in clock.off)
