"""The clock of a match: the times of all turns, and the deadline of the running one.

A clock changes by events and their times only, and reads no clock itself. Instants are milliseconds
since 1970, by the clock that stamps events, and never decrease within a match. Every function is
total and validates nothing, like `evolve`, which calls it.

The *counted* time of a turn is its wall time without pauses, without the vacation of the seat
to move and, if the time control says so, without Saturdays and Sundays UTC. Overlapping times are
subtracted once. A time control may also say how many days of vacation a seat has; those after them count.
"""

from collections.abc import Iterable, Iterator, Sequence
from struct import Struct, iter_unpack
from typing import Final, NamedTuple

import msgspec

from domain.clocks.time_control import DAY, TimeControl, counted_ms, instant_of_count
from domain.game.protocol import Seat

ALL_SEATS: Final = -1
"""Stands for all seats, because a pause stops every clock."""

_TURN_FORMAT: Final = ">BBI"
"""One ply in `MatchClock.turns`: the seat, and its counted ms as 5 bytes, high one first."""
_TURN_RECORD: Final = Struct(_TURN_FORMAT)
TURN_SIZE: Final = _TURN_RECORD.size
"""Bytes of a record of `MatchClock.turns`."""
_LONGEST_TURN: Final = (1 << 40) - 1
"""The most that a record can hold, nearly 35 years; a longer turn is recorded as this."""
_NEVER: Final = 1 << 63
NO_SEAT: Final = 0xFF
"""In the record of a move that the match was given: no seat's, so it adds to no bank."""


class ClockStop(NamedTuple):
    """A time that does not count, from `since` until just before `until`, for a seat or all seats."""

    since: int
    until: int
    seat: Seat


class GivenTime(NamedTuple):
    """The time that rulings gave to a seat, ms."""

    seat: Seat
    total: int
    """In all: so much more all its turns may take together."""
    turn: int
    """For its running turn, or its next one if it is not to move."""


class MatchClock(msgspec.Struct, frozen=True, array_like=True):
    """The clock after the match's last event. Part of a snapshot, so new fields come at the end."""

    terms: TimeControl
    since: int
    """The instant at which the running turn began."""
    turns: bytes = b""
    """A record (`_TURN_FORMAT`) for each ply. Packed, because every command decodes the clock of its match
    and few need this field."""
    stops: tuple[ClockStop, ...] = ()
    """The times that do not count and end after `since`: sorted, and disjoint for each seat.

    Where vacations are limited, earlier ones stay, because what is left follows from them.
    """
    paused: int = 0
    """The instant at which a pause began; 0 if the match is not paused."""
    nagged: bool | int = False
    """How many of the running turn's reminders are over; the first is `True`, which the bytes show."""
    given: tuple[GivenTime, ...] = ()
    """The time that rulings gave, an entry for each seat that got some, by seat."""


# changes by events


def start_clock(terms: TimeControl, at: int) -> MatchClock:
    """Return the clock at the start of a match; the first turn begins at `at`."""
    return MatchClock(terms, at)


def with_turns(clock: MatchClock, turns: bytes, given: tuple[GivenTime, ...]) -> MatchClock:
    """Return the clock of a match that was played elsewhere: turns that are over, and given time."""
    return msgspec.structs.replace(clock, turns=turns, given=given)


def after_opening(clock: MatchClock, plies: int) -> MatchClock:
    """Return the clock after a match was given its first moves, which took no time of anybody."""
    return msgspec.structs.replace(clock, turns=turn_of_no_time(NO_SEAT) * plies)


def after_ply(clock: MatchClock, seat: Seat, at: int) -> MatchClock:
    """Return the clock after a ply of `seat`: its turn ends and the next begins."""
    took = min(time_of_turn(clock, seat, at), _LONGEST_TURN)
    after = _begin_turn(
        clock, at, clock.turns + _TURN_RECORD.pack(seat, took >> 32, took & 0xFFFF_FFFF)
    )
    if not clock.given:
        return after
    # what was given for the turn that ends is used up
    left = (one._replace(turn=0) if one.seat == seat else one for one in clock.given)
    return msgspec.structs.replace(after, given=tuple(left))


def after_seat_left(clock: MatchClock, at: int) -> MatchClock:
    """Return the clock after a seat has left the match: a turn begins without a ply.

    The time of the unfinished turn counts for no seat.
    """
    return _begin_turn(clock, at, clock.turns)


def after_undo(clock: MatchClock, plies: int, at: int) -> MatchClock:
    """Return the clock after an undo: only the first `plies` plies count, and a turn begins.

    The players get back the time of the other plies and of the running turn.
    """
    return _begin_turn(clock, at, clock.turns[: plies * TURN_SIZE])


def after_pause(clock: MatchClock, at: int) -> MatchClock:
    """Return the clock after a pause has begun; a paused clock is returned unchanged."""
    return clock if clock.paused else msgspec.structs.replace(clock, paused=at)


def after_resume(clock: MatchClock, at: int) -> MatchClock:
    """Return the clock after a pause has ended; a clock that is not paused is returned unchanged."""
    if not clock.paused:
        return clock
    off = ClockStop(clock.paused, at, ALL_SEATS)
    return msgspec.structs.replace(_add_stop(clock, off), paused=0)


def after_vacation_start(clock: MatchClock, seat: Seat, since: int, until: int) -> MatchClock:
    """Return the clock with a vacation of `seat`, which may touch or overlap others.

    Where vacations are limited, it begins after all others of the seat, and ends with the last day allowed.
    """
    left = vacation_left(clock, seat)
    if left is not None:
        new = max((since, *(one.until for one in clock.stops if one.seat == seat)))
        until = min(until, new + left)
    return _add_stop(clock, ClockStop(since, until, seat))


def after_vacation_end(clock: MatchClock, seat: Seat, at: int) -> MatchClock:
    """Return the clock with all vacations of `seat` ending at `at` at the latest."""
    cut = (
        one._replace(until=min(one.until, at)) if one.seat == seat else one for one in clock.stops
    )
    return msgspec.structs.replace(clock, stops=_lasting_stops(clock.terms, cut, clock.since))


def after_reminder(clock: MatchClock, seat: Seat, at: int) -> MatchClock:
    """Return the clock after the player to move, of `seat`, has been reminded.

    A reminder that is late stands for those that were due meanwhile.
    """
    took = time_of_turn(clock, seat, at)
    over = sum(day * DAY <= took for day in clock.terms.nag_days)
    return msgspec.structs.replace(clock, nagged=over if over > 1 else True)


def after_time_given(clock: MatchClock, seat: Seat, ms: int) -> MatchClock:
    """Return the clock after a ruling gave a seat time, for its turn and for all its turns together."""
    before = _given_to(clock, seat)
    more = GivenTime(seat, before.total + ms, before.turn + ms)
    others = (one for one in clock.given if one.seat != seat)
    return msgspec.structs.replace(clock, given=tuple(sorted((*others, more))))


def _given_to(clock: MatchClock, seat: Seat) -> GivenTime:
    return next((one for one in clock.given if one.seat == seat), GivenTime(seat, 0, 0))


def _begin_turn(clock: MatchClock, at: int, turns: bytes) -> MatchClock:
    off = clock.stops and _lasting_stops(clock.terms, clock.stops, at)
    return MatchClock(clock.terms, at, turns, off, clock.paused, given=clock.given)


def _lasting_stops(
    terms: TimeControl, stops: Iterable[ClockStop], at: int
) -> tuple[ClockStop, ...]:
    """Return those that end after `at`, and all vacations where they are limited."""
    limited = terms.options.vacation is not None
    return tuple(
        one
        for one in stops
        if one.until > one.since and (one.until > at or (limited and one.seat != ALL_SEATS))
    )


def _add_stop(clock: MatchClock, off: ClockStop) -> MatchClock:
    """Add a time that does not count, merged with those of the same seat that it touches."""
    if off.until <= max(off.since, clock.since):
        return clock
    rest = []
    for one in clock.stops:
        if one.seat == off.seat and one.since <= off.until and off.since <= one.until:
            off = ClockStop(min(one.since, off.since), max(one.until, off.until), off.seat)
        else:
            rest.append(one)
    return msgspec.structs.replace(clock, stops=tuple(sorted((*rest, off))))


# queries


def time_of_turn(clock: MatchClock, seat: Seat, now: int) -> int:
    """Return the counted ms of the running turn until `now`, supposing it is the turn of `seat`."""
    now = max(now, clock.since)
    if _all_time_counts(clock):
        return now - clock.since
    skipped = sum(
        _counted_until(clock, min(until, now)) - _counted_until(clock, min(since, now))
        for since, until in _stops_of(clock, seat)
    )
    return _counted_until(clock, now) - _counted_until(clock, clock.since) - skipped


def time_used(clock: MatchClock, seat: Seat) -> int:
    """Return the counted ms of all turns of `seat` that ended with a ply."""
    return sum(_finished_turns(clock, seat))


def time_left(clock: MatchClock, seat: Seat, mover: Seat | None, now: int) -> int | None:
    """Return the counted ms until the flag of `seat` falls, by the nearest limit.

    For a seat that is not to move, those of its next turn. 0 once the flag has fallen, None without
    a limit.
    """
    allowance = _turn_allowance(clock, seat)
    if allowance is None:
        return None
    return max(0, allowance - (time_of_turn(clock, seat, now) if seat == mover else 0))


def turn_allowance_after(clock: MatchClock, seat: Seat, plies: int) -> int | None:
    """Return the counted ms that a turn of `seat` could take after so many plies.

    None without a limit, and where a ruling gave time, because the clock does not record when.
    """
    if clock.given:
        return None
    then = msgspec.structs.replace(clock, turns=clock.turns[: plies * TURN_SIZE])
    allowance = _turn_allowance(then, seat)
    return None if allowance is None else max(0, allowance)


def vacation_left(clock: MatchClock, seat: Seat) -> int | None:
    """Return how much more vacation may stop the clock of `seat`, ms; None without a limit.

    Vacations count from their beginning to their end, whether or not it is the seat's turn.
    """
    allowed = clock.terms.options.vacation
    if allowed is None:
        return None
    return allowed * DAY - sum(one.until - one.since for one in clock.stops if one.seat == seat)


def flag_time(clock: MatchClock, mover: Seat) -> int | None:
    """Return the instant at which the mover's flag falls; None during a pause or without a limit.

    It is the first instant at which the running turn has used its allowance.
    """
    allowance = _turn_allowance(clock, mover)
    return None if clock.paused or allowance is None else _instant_at(clock, mover, allowance)


def reminder_time(clock: MatchClock, mover: Seat) -> int | None:
    """Return the instant of the mover's reminder; None if there is none.

    There is one for each day that the terms name, and none after the flag.
    """
    day = _reminder_day(clock)
    if clock.paused or not day:
        return None
    instant, flag = _instant_at(clock, mover, day * DAY), flag_time(clock, mover)
    return instant if flag is None or instant < flag else None


def _reminder_day(clock: MatchClock) -> int:
    """Return the day of the running turn's next reminder; 0 if there is none."""
    if not clock.nagged:
        return clock.terms.nag
    days = clock.terms.nag_days
    return days[clock.nagged] if clock.nagged < len(days) else 0


def next_due(clock: MatchClock, mover: Seat) -> int | None:
    """Return the instant of the next reminder or flag; None if there is none."""
    instant = reminder_time(clock, mover)  # None, or before the flag
    return flag_time(clock, mover) if instant is None else instant


def seats_of_turns(turns: bytes) -> list[Seat]:
    """Return the seat of each turn; `struct.error` if the bytes are no turns."""
    return [seat for seat, _, _ in iter_unpack(_TURN_FORMAT, turns)]


def turn_of_no_time(seat: Seat) -> bytes:
    """Return the record of a turn whose time is not known."""
    return _TURN_RECORD.pack(seat, 0, 0)


def _turn_allowance(clock: MatchClock, seat: Seat) -> int | None:
    """Return the counted ms that a turn of `seat` may take; negative if the bank is overdrawn."""
    terms = clock.terms
    if not terms.bank and not terms.total and not clock.given:
        return terms.turn * DAY or None  # most matches need no look at their plies
    return min(_turn_allowances(clock, seat), default=None)


def _turn_allowances(clock: MatchClock, seat: Seat) -> Iterator[int]:
    terms, given = clock.terms, _given_to(clock, seat)
    if terms.turn:
        yield terms.turn * DAY + given.turn
    finished = list(_finished_turns(clock, seat))
    if terms.bank:
        yield _bank_after(terms, finished) + given.total
    if terms.total:
        yield terms.total * DAY + given.total - sum(finished)


def _bank_after(terms: TimeControl, finished: Sequence[int]) -> int:
    """Return the bank after turns of these ms, without the time that rulings gave."""
    bank, more, cap = terms.bank * DAY, terms.increment * DAY, terms.options.cap * DAY
    if not cap:
        return bank + more * len(finished) - sum(finished)
    for took in finished:
        bank = min(cap, bank - took + more)
    return bank


def _finished_turns(clock: MatchClock, seat: Seat) -> Iterator[int]:
    return (
        high << 32 | low for of, high, low in iter_unpack(_TURN_FORMAT, clock.turns) if of == seat
    )


def _instant_at(clock: MatchClock, seat: Seat, counted: int) -> int:
    """Return the first instant with this counted time of the running turn, if it is that of `seat`."""
    if _all_time_counts(clock):
        return clock.since + max(0, counted)
    goal = _counted_until(clock, clock.since) + counted
    for since, until in _stops_of(clock, seat):
        begin = _counted_until(clock, since)
        if begin < goal:
            goal += _counted_until(clock, until) - begin
    return max(clock.since, instant_of_count(goal, weekends=clock.terms.options.weekends))


def _all_time_counts(clock: MatchClock) -> bool:
    """Return whether all time of the running turn counts, as in most matches."""
    return clock.terms.weekends is True and not clock.stops and not clock.paused


def _stops_of(clock: MatchClock, seat: Seat) -> Iterable[tuple[int, int]]:
    """Return the times that don't count in the running turn of `seat`, in order and disjoint."""
    # most clocks have none
    return _disjoint_stops(clock, seat) if clock.stops or clock.paused else ()


def _disjoint_stops(clock: MatchClock, seat: Seat) -> Iterator[tuple[int, int]]:
    off = [one for one in clock.stops if one.seat in (seat, ALL_SEATS)]
    if clock.paused:
        off = sorted((*off, ClockStop(clock.paused, _NEVER, ALL_SEATS)))
    at = clock.since
    for since, until, _ in off:
        if until > at:
            yield max(since, at), until
            at = until


def _counted_until(clock: MatchClock, instant: int) -> int:
    return counted_ms(instant, weekends=clock.terms.options.weekends)
