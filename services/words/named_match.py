"""A match at one moment with the names of its players, for sentences in one language.

The clocks of a match in words.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Self

import msgspec

from domain.clocks import match_clock as clocks
from domain.clocks.time_control import TimeControl
from domain.match.state import MatchState, deadline, position_of
from domain.rules import AnyRules, MissingRules, Seat, rules_by_id
from domain.sentences import Text, text_in
from infra.languages.wording import IN_ENGLISH, Wording
from services.app.context import App
from services.app.names import names_by_seat
from services.words.agreements import described
from services.words.endings import named_side
from services.words.match_sentences import SAY


class NamedMatch(msgspec.Struct, frozen=True):
    """A match at one moment, with the names of its players, for sentences in one language."""

    board: int
    state: MatchState
    rules: AnyRules
    names: tuple[str, ...]
    position: Any
    """A struct of the game's own type; None before a draw, and of a game not installed."""
    words: Wording = IN_ENGLISH
    left: tuple[str, ...] = ()
    """The names of those whose seats substitutes have taken over, in the order of `left_seats`."""

    @classmethod
    def of(cls, app: App, board: int, state: MatchState, words: Wording = IN_ENGLISH) -> Self:
        """Look up the names, the rules and the position of a state."""
        names = names_by_seat(app, state.seats, words)
        rules = rules_by_id(state.rules)
        unknown = state.has_no_position or isinstance(rules, MissingRules)
        position = None if unknown else position_of(state)
        gone = [one.account for one in state.left_seats]
        left = names_by_seat(app, gone, words) if gone else ()
        return cls(board, state, rules, names, position, words, left)

    def side(self, seat: Seat) -> str:
        """Return the name of a seat, such as `Light`."""
        return text_in(self.rules.sides[seat], self.words)

    def who(self, seat: Seat) -> str:
        """Return a player's side and name, such as `Light (alice)`."""
        return named_side(self.side(seat), self.names[seat])

    def everyone(self, seats: Sequence[Seat]) -> str:
        """Return several players, as `who` names them."""
        return self.words.names([self.who(seat) for seat in seats])

    @property
    def opponents(self) -> str:
        """All players against each other, as `who` names them."""
        return reduce(self._against, map(self.who, range(len(self.names))))

    def _against(self, one: str, other: str) -> str:
        return self.said(SAY("against", one=one, other=other))

    def others(self, seat: Seat) -> str:
        """Return all players but one, as `who` names them."""
        return self.everyone([s for s in range(len(self.names)) if s != seat])

    def turn(self, seat: Seat) -> str:
        """Return a clause on whose turn it is, such as `it is Dark's turn (bob)`."""
        return self.said(SAY("turn", side=self.side(seat), name=self.names[seat]))

    def said(self, text: Text) -> str:
        """Return a text in the language of the sentences."""
        return text_in(text, self.words)

    @property
    def place(self) -> str:
        """The match and how many moves have been played in it, such as `match 1, #4`."""
        return self.said(SAY("place", board=self.board, ply=self.state.ply))

    @property
    def game(self) -> str:
        """The game's name, with the options of the match."""
        return f"{self.rules.title}{self.options}"

    @property
    def options(self) -> str:
        """The options as they are written in a challenge."""
        return "".join(f" {option}" for option in self.state.options)


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
