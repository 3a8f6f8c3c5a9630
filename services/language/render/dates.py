"""Instants and spans of time in words. Instants are ms since 1970, shown in UTC."""

from datetime import UTC, datetime

from domain.clocks import match_clock as clocks
from domain.clocks.time_control import describe_time_control
from domain.match.state import MatchState, deadline
from domain.rules import rules_by_id

_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def instant(at: int) -> str:
    """Return an instant to the minute, such as `2026-03-01 12:00 UTC`."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def span(ms: int) -> str:
    """Return a span in its two largest units, rounded down, such as `9 days 3 hours`."""
    days, rest = divmod(max(ms, 0), _DAY)
    hours, rest = divmod(rest, _HOUR)
    if days:
        return _units((days, "day"), (hours, "hour"))
    return _units((hours, "hour"), (rest // _MINUTE, "minute")) or "less than a minute"


def _units(*counts: tuple[int, str]) -> str:
    return " ".join(f"{count} {unit}{'s' * (count != 1)}" for count, unit in counts if count)


def clock_lines(state: MatchState, names: tuple[str, ...], now: int) -> list[str]:
    """Return lines about the clocks of a match at `now`; none for a match without clocks."""
    clock = state.clock
    if clock is None:
        return []
    lines = [f"time: {describe_time_control(clock.terms)}"]
    if state.awaits_entropy:
        return [*lines, *_waiting(deadline(state), now)]
    if state.over or state.next is None:
        return lines
    shown = [
        f"{side} {name} {_left(state, seat, now)}"
        for seat, (side, name) in enumerate(
            zip(rules_by_id(state.rules).sides, names, strict=False)
        )
        if seat in state.active_seats
    ]
    away = [
        f"{names[off.seat]} is on vacation until {instant(off.until)}"
        for off in clock.stops
        if off.seat != clocks.ALL_SEATS and off.since <= now < off.until
    ]
    return [*lines, f"clocks: {', '.join(shown)}", *away, *_deadline(state, state.next, now)]


def _waiting(until: int | None, now: int) -> list[str]:
    """Return a line on how long a match waits for its players' parts in the draw."""
    if until is None:
        return []
    return [
        f"waits until {instant(until)}, for {span(until - now)}; a player who is late has declined"
    ]


def _left(state: MatchState, seat: int, now: int) -> str:
    assert state.clock is not None
    left = clocks.time_left(state.clock, seat, state.next, now)
    return "without limit" if left is None else span(left)


def _deadline(state: MatchState, mover: int, now: int) -> list[str]:
    """Return a line on when the flag of the player to move falls."""
    assert state.clock is not None
    if state.clock.paused:
        return [f"paused since {instant(state.clock.paused)}; `resume` ends it"]
    deadline = clocks.flag_time(state.clock, mover)
    if deadline is None:
        return []
    return [f"deadline: {instant(deadline)}, in {span(deadline - now)}"]
