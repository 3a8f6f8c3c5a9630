"""The clock of a match, folded from its events."""

from domain.clocks import match_clock as clocks
from domain.clocks.match_clock import MatchClock
from domain.match.dispute_events import SetBack, TimeGiven
from domain.match.events import (
    Absent,
    Challenged,
    Event,
    Flagged,
    Imported,
    MatchProposed,
    MatchStarted,
    Moved,
    Nagged,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Sealed,
    Undone,
)
from domain.rules import Seat


def evolve_clock(  # noqa: C901, PLR0911 - one case an event
    clock: MatchClock | None, event: Event, at: int, mover: Seat | None
) -> MatchClock | None:
    """Return the clock after an event; `mover` is the seat to move before it."""
    if clock is None:
        return _first_clock(event, at)
    match event:
        case Moved():
            return clocks.after_ply(clock, event.seat, at)
        case MatchStarted() | Sealed():
            # vacations go on
            return clocks.after_seat_left(clock, at)
        case Undone() | SetBack():
            return clocks.after_undo(clock, event.ply, at)
        case TimeGiven():
            return clocks.after_time_given(clock, event.seat, event.ms)
        case Resigned() | Flagged() if event.next != mover:
            return clocks.after_seat_left(clock, at)
        case Nagged():
            return clocks.after_reminder(clock)
        case Paused():
            return clocks.after_pause(clock, at)
        case Resumed():
            return clocks.after_resume(clock, at)
        case Absent():
            return clocks.after_vacation_start(clock, event.seat, at, event.until)
        case Returned():
            return clocks.after_vacation_end(clock, event.seat, event.until)
        case _:
            return clock


def _first_clock(event: Event, at: int) -> MatchClock | None:
    """Return the clock after the first event of a match; None without clocks."""
    if not isinstance(event, Challenged | MatchStarted) or event.terms is None:
        return None
    started = clocks.start_clock(event.terms, at)
    if isinstance(event, MatchProposed):
        # it runs once all have accepted
        return clocks.after_pause(started, at)
    if isinstance(event, Imported):
        return clocks.with_turns(started, event.turns, event.given)
    return started
