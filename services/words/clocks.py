"""The clocks of a match in words."""

from domain.clocks import match_clock as clocks
from domain.clocks.time_control import TimeControl
from domain.match.state import MatchState, deadline
from domain.rules import rules_by_id
from domain.sentences import Text, text_in
from infra.languages.wording import Wording
from services.words.match_sentences import SAY
from services.words.time_controls import described


def clock_lines(state: MatchState, names: tuple[str, ...], now: int, words: Wording) -> list[str]:
    """Return lines about the clocks of a match at `now`; none for a match without clocks."""
    clock = state.clock
    if clock is None:
        return []
    lines: list[Text] = [terms_line(clock.terms, words)]
    if state.awaits_entropy or state.invited:
        lines += _waiting(deadline(state), now, words)
    elif not state.over and state.next is not None:
        rules = rules_by_id(state.rules)
        shown = [
            f"{text_in(rules.sides[seat], words)} {name} {_left(state, seat, now, words)}"
            for seat, name in enumerate(names)
            if seat in state.active_seats
        ]
        lines.append(SAY("clocks-line", clocks=", ".join(shown)))
        lines += [
            SAY("absent", player=names[off.seat], until=words.stamp(off.until))
            for off in clock.stops
            if off.seat != clocks.ALL_SEATS and off.since <= now < off.until
        ]
        lines += _deadline(state, state.next, now, words)
    return [text_in(line, words) for line in lines]


def terms_line(terms: TimeControl, words: Wording) -> str:
    """Return the line about a time control, such as `time: 21 days a move, a reminder after 7`."""
    said = SAY("time-line", terms=described(terms, words))
    return said.in_language(words)


def _waiting(until: int | None, now: int, words: Wording) -> list[Text]:
    """Return a line on how long a match waits for its players' parts in the draw."""
    if until is None:
        return []
    left = words.span(until - now)
    return [SAY("waits-until", until=words.stamp(until), span=left)]


def _left(state: MatchState, seat: int, now: int, words: Wording) -> str:
    assert state.clock is not None
    left = clocks.time_left(state.clock, seat, state.next, now)
    return SAY("no-clock-limit").in_language(words) if left is None else words.span(left)


def _deadline(state: MatchState, mover: int, now: int, words: Wording) -> list[Text]:
    """Return a line on when the flag of the player to move falls."""
    assert state.clock is not None
    if state.clock.paused:
        return [SAY("paused-since", since=words.stamp(state.clock.paused))]
    deadline = clocks.flag_time(state.clock, mover)
    if deadline is None:
        return []
    left = words.span(deadline - now)
    return [SAY("deadline", until=words.stamp(deadline), span=left)]
