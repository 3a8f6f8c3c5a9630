"""Instants and spans of time in words. Instants are ms since 1970, shown in UTC."""

from datetime import UTC, datetime

from domain.clocks import match_clock as clocks
from domain.clocks.time_control import TimeControl, describe_time_control
from domain.match.state import MatchState, deadline
from domain.rules import rules_by_id
from domain.sentences import Text, text_in
from domain.translation import ENGLISH, Translation
from services.language.render.match_sentences import SAY

_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def instant(at: int, language: Translation = ENGLISH) -> str:
    """Return an instant to the minute, such as `2026-03-01 12:00 UTC`."""
    when = datetime.fromtimestamp(at / 1000, UTC)
    year, month, day, clock = f"{when:%Y %m %d %H:%M}".split()
    return SAY("instant", year=year, month=month, day=day, clock=clock).in_language(language)


def span(ms: int, language: Translation = ENGLISH) -> str:
    """Return a span in its two largest units, rounded down, such as `9 days 3 hours`."""
    days, rest = divmod(max(ms, 0), _DAY)
    hours, rest = divmod(rest, _HOUR)
    units = [(hours, SAY("hours", count=hours))]
    if days:
        units.insert(0, (days, SAY("days", count=days)))
    else:
        minutes = rest // _MINUTE
        units.append((minutes, SAY("minutes", count=minutes)))
    shown = [unit.in_language(language) for count, unit in units if count]
    return " ".join(shown) or SAY("short-span").in_language(language)


def clock_lines(
    state: MatchState, names: tuple[str, ...], now: int, language: Translation = ENGLISH
) -> list[str]:
    """Return lines about the clocks of a match at `now`; none for a match without clocks."""
    clock = state.clock
    if clock is None:
        return []
    lines: list[Text] = [terms_line(clock.terms, language)]
    if state.awaits_entropy or state.invited:
        lines += _waiting(deadline(state), now, language)
    elif not state.over and state.next is not None:
        rules = rules_by_id(state.rules)
        shown = [
            f"{text_in(rules.sides[seat], language)} {name} {_left(state, seat, now, language)}"
            for seat, name in enumerate(names)
            if seat in state.active_seats
        ]
        lines.append(SAY("clocks-line", clocks=", ".join(shown)))
        lines += [
            SAY("absent", player=names[off.seat], until=instant(off.until, language))
            for off in clock.stops
            if off.seat != clocks.ALL_SEATS and off.since <= now < off.until
        ]
        lines += _deadline(state, state.next, now, language)
    return [text_in(line, language) for line in lines]


def terms_line(terms: TimeControl, language: Translation = ENGLISH) -> str:
    """Return the line about a time control, such as `time: 21 days a move, a reminder after 7`."""
    said = SAY("time-line", terms=describe_time_control(terms, language))
    return said.in_language(language)


def _waiting(until: int | None, now: int, language: Translation) -> list[Text]:
    """Return a line on how long a match waits for its players' parts in the draw."""
    if until is None:
        return []
    left = span(until - now, language)
    return [SAY("waits-until", until=instant(until, language), span=left)]


def _left(state: MatchState, seat: int, now: int, language: Translation) -> str:
    assert state.clock is not None
    left = clocks.time_left(state.clock, seat, state.next, now)
    return SAY("no-clock-limit").in_language(language) if left is None else span(left, language)


def _deadline(state: MatchState, mover: int, now: int, language: Translation) -> list[Text]:
    """Return a line on when the flag of the player to move falls."""
    assert state.clock is not None
    if state.clock.paused:
        return [SAY("paused-since", since=instant(state.clock.paused, language))]
    deadline = clocks.flag_time(state.clock, mover)
    if deadline is None:
        return []
    left = span(deadline - now, language)
    return [SAY("deadline", until=instant(deadline, language), span=left)]
