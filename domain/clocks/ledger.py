"""The clock of a match: whose turns took how long, and when the running one is too long.

A clock is told what happens and when; it is never asked to look. Instants are milliseconds since
1970 by the clock that stamps events, and never decrease within a match. All of it is total and
validates nothing, like `evolve`, of which it is a part.

The *counted* time of a turn is its wall time without pauses, without the vacation of the seat
whose turn it is and, if the terms say so, without Saturdays and Sundays UTC; what falls into
several of these is left out once.
"""

from collections.abc import Iterator
from struct import Struct, iter_unpack
from typing import Final, NamedTuple

import msgspec

from domain.clocks.days import DAY, instant_of, tally
from domain.clocks.terms import Terms
from domain.rules.protocol import Seat

EVERYONE: Final = -1
"""In place of a seat: a pause stops every clock."""

_TURN: Final = ">BBI"
"""One ply in `Clock.turns`: the seat, and its counted ms as 5 bytes, high one first."""
_RECORD: Final = Struct(_TURN)
_LONGEST: Final = (1 << 40) - 1
"""The most that a record can hold, nearly 35 years; a longer turn is written down as this."""
_NEVER: Final = 1 << 63


class Off(NamedTuple):
    """Time that does not count, from `since` until just before `until`, for a seat or everyone."""

    since: int
    until: int
    seat: Seat


class Clock(msgspec.Struct, frozen=True, array_like=True):
    """The clock after the match's last event. Part of a snapshot, so new fields come at the end."""

    terms: Terms
    since: int
    """When the running turn began."""
    turns: bytes = b""
    """A record (`_TURN`) for each ply. Packed, because every command decodes its match's clock,
    and few need to look into this."""
    off: tuple[Off, ...] = ()
    """What is not over at `since`: sorted, and disjoint for each seat."""
    paused: int = 0
    """Since when the match is paused; 0 if it is not."""
    nagged: bool = False
    """Whether the running turn's player has been reminded."""


# what happens


def start(terms: Terms, at: int) -> Clock:
    """Return the clock of a match that begins: its first turn runs from `at`."""
    return Clock(terms, at)


def moved(clock: Clock, seat: Seat, at: int) -> Clock:
    """Return the clock after a ply of `seat`, whose turn ends; the next begins."""
    took = min(running(clock, seat, at), _LONGEST)
    return _begin(clock, at, clock.turns + _RECORD.pack(seat, took >> 32, took & 0xFFFF_FFFF))


def turned(clock: Clock, at: int) -> Clock:
    """Return the clock when a turn begins without a ply, because a seat left the match.

    The time of the turn that was running is nobody's.
    """
    return _begin(clock, at, clock.turns)


def rewound(clock: Clock, plies: int, at: int) -> Clock:
    """Return the clock as after the first `plies` plies, with a turn that begins now.

    What the plies taken back had used is given back, and so is the running turn's time.
    """
    return _begin(clock, at, clock.turns[: plies * _RECORD.size])


def paused(clock: Clock, at: int) -> Clock:
    """Return the clock of a match that stands still; one that does already is left as it is."""
    return clock if clock.paused else msgspec.structs.replace(clock, paused=at)


def resumed(clock: Clock, at: int) -> Clock:
    """Return the clock of a match that goes on; one that was not paused is left as it is."""
    if not clock.paused:
        return clock
    off = Off(clock.paused, at, EVERYONE)
    return msgspec.structs.replace(_without(clock, off), paused=0)


def away(clock: Clock, seat: Seat, since: int, until: int) -> Clock:
    """Return the clock with a vacation of `seat`, which may touch or overlap others."""
    return _without(clock, Off(since, until, seat))


def back(clock: Clock, seat: Seat, at: int) -> Clock:
    """Return the clock with all vacation of `seat` ended at `at`, if it would have lasted longer."""
    cut = (one._replace(until=min(one.until, at)) if one.seat == seat else one for one in clock.off)
    off = tuple(one for one in cut if one.until > max(one.since, clock.since))
    return msgspec.structs.replace(clock, off=off)


def nagged(clock: Clock) -> Clock:
    """Return the clock once the running turn's player has been reminded."""
    return msgspec.structs.replace(clock, nagged=True)


def _begin(clock: Clock, at: int, turns: bytes) -> Clock:
    off = tuple(one for one in clock.off if one.until > at)
    return Clock(clock.terms, at, turns, off, clock.paused)


def _without(clock: Clock, off: Off) -> Clock:
    """Leave out a time more, joined with those of the same seat that it touches."""
    if off.until <= max(off.since, clock.since):
        return clock
    rest = []
    for one in clock.off:
        if one.seat == off.seat and one.since <= off.until and off.since <= one.until:
            off = Off(min(one.since, off.since), max(one.until, off.until), off.seat)
        else:
            rest.append(one)
    return msgspec.structs.replace(clock, off=tuple(sorted((*rest, off))))


# what it says


def running(clock: Clock, seat: Seat, now: int) -> int:
    """Return the counted ms of the running turn until `now`, if it is that seat's."""
    now = max(now, clock.since)
    skipped = sum(
        _tally(clock, min(until, now)) - _tally(clock, min(since, now))
        for since, until in _breaks(clock, seat)
    )
    return _tally(clock, now) - _tally(clock, clock.since) - skipped


def used(clock: Clock, seat: Seat) -> int:
    """Return the counted ms of all that seat's turns that ended with a ply."""
    return sum(_finished(clock, seat))


def left(clock: Clock, seat: Seat, mover: Seat | None, now: int) -> int | None:
    """Return the counted ms until the flag of `seat` falls, by whichever limit is nearest.

    For a seat that is not to move, those of its next turn. 0 once the flag has fallen, None where
    nothing is limited.
    """
    allowance = _allowance(clock, seat)
    if allowance is None:
        return None
    return max(0, allowance - (running(clock, seat, now) if seat == mover else 0))


def deadline(clock: Clock, mover: Seat) -> int | None:
    """Return the instant at which the mover's flag falls; None when paused or not limited.

    It is the first at which the running turn has taken all it may.
    """
    allowance = _allowance(clock, mover)
    return None if clock.paused or allowance is None else _reached(clock, mover, allowance)


def reminder(clock: Clock, mover: Seat) -> int | None:
    """Return the instant at which the mover is to be reminded; None if that is not to be.

    It is once a turn, and only before the flag falls.
    """
    if clock.paused or clock.nagged or not clock.terms.nag:
        return None
    instant, flag = _reached(clock, mover, clock.terms.nag * DAY), deadline(clock, mover)
    return instant if flag is None or instant < flag else None


def due(clock: Clock, mover: Seat) -> int | None:
    """Return the instant of the reminder or else of the flag, the next to happen by itself."""
    instant = reminder(clock, mover)  # None, or before the flag
    return deadline(clock, mover) if instant is None else instant


def _allowance(clock: Clock, seat: Seat) -> int | None:
    """Return the counted ms that a turn of `seat` may take; negative if the last took too much."""
    return min(_allowances(clock, seat), default=None)


def _allowances(clock: Clock, seat: Seat) -> Iterator[int]:
    terms = clock.terms
    if terms.turn:
        yield terms.turn * DAY
    if not terms.bank and not terms.total:
        return  # spares most matches a look at all their plies
    finished = list(_finished(clock, seat))
    if terms.bank:
        yield (terms.bank + terms.increment * len(finished)) * DAY - sum(finished)
    if terms.total:
        yield terms.total * DAY - sum(finished)


def _finished(clock: Clock, seat: Seat) -> Iterator[int]:
    return (high << 32 | low for of, high, low in iter_unpack(_TURN, clock.turns) if of == seat)


def _reached(clock: Clock, seat: Seat, counted: int) -> int:
    """Return the first instant at which the running turn, if it is that seat's, has taken this."""
    goal = _tally(clock, clock.since) + counted
    for since, until in _breaks(clock, seat):
        begin = _tally(clock, since)
        if begin < goal:
            goal += _tally(clock, until) - begin
    return max(clock.since, instant_of(goal, weekends=clock.terms.weekends))


def _breaks(clock: Clock, seat: Seat) -> Iterator[tuple[int, int]]:
    """Yield what a turn of `seat` leaves out since it began, in order and disjoint."""
    off = [one for one in clock.off if one.seat in (seat, EVERYONE)]
    if clock.paused:
        off = sorted((*off, Off(clock.paused, _NEVER, EVERYONE)))
    at = clock.since
    for since, until, _ in off:
        if until > at:
            yield max(since, at), until
            at = until


def _tally(clock: Clock, instant: int) -> int:
    return tally(instant, weekends=clock.terms.weekends)
