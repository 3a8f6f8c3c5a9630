"""The turns of a match with clocks, one after another, computed from its events.

Nothing of this is stored. A turn that was taken back is among them, because its time has passed.
"""

from collections.abc import Iterable, Iterator

import msgspec

from domain.clocks.match_clock import time_left, time_of_turn
from domain.match.dispute_events import SetBack
from domain.match.events import Event, EventEnvelope, Moved, Undone
from domain.match.state import MatchState, evolve, initial
from domain.rules import Seat


class ClockTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A turn that is over: with a move, or because it became another seat's turn, or the match ended."""

    seat: Seat
    began: int
    """Instant, ms."""
    ended: int
    """Instant, ms."""
    counted: int
    """How much of it the clock counts, ms."""
    left: int | None
    """The rest of the seat's time at its end by the nearest limit, ms; None without a limit."""


def clock_turns(events: Iterable[EventEnvelope]) -> Iterator[ClockTurn]:
    """Yield the turns of a history that are over; none for a match without clocks."""
    state = initial()
    for envelope in events:
        after = evolve(state, envelope.body, envelope.at)
        if state.clock is not None and state.next is not None and _is_over(state, envelope, after):
            yield ClockTurn(
                seat=state.next,
                began=state.clock.since,
                ended=envelope.at,
                counted=time_of_turn(state.clock, state.next, envelope.at),
                left=time_left(state.clock, state.next, state.next, envelope.at),
            )
        state = after


def _is_over(before: MatchState, envelope: EventEnvelope, after: MatchState) -> bool:
    """Return whether an event ends the running turn; a turn may be over in the ms in which it began."""
    body: Event = envelope.body
    return (
        isinstance(body, Moved | Undone | SetBack)
        or after.next != before.next
        or _began(after) != _began(before)
    )


def _began(state: MatchState) -> int | None:
    return state.clock.since if state.clock else None
