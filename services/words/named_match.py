"""A match at one moment with the names of its players, for sentences in one language."""

from collections.abc import Sequence
from functools import reduce
from typing import Any, Self

import msgspec

from domain.match.state import MatchState, position_of
from domain.rules import AnyRules, MissingRules, Seat, rules_by_id
from domain.sentences import Text, text_in
from infra.languages.wording import IN_ENGLISH, Wording
from services.app.context import App
from services.app.names import names_by_seat
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

    @classmethod
    def of(cls, app: App, board: int, state: MatchState, words: Wording = IN_ENGLISH) -> Self:
        """Look up the names, the rules and the position of a state."""
        names = names_by_seat(app, state.seats, words)
        rules = rules_by_id(state.rules)
        unknown = state.has_no_position or isinstance(rules, MissingRules)
        position = None if unknown else position_of(state)
        return cls(board, state, rules, names, position, words)

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
