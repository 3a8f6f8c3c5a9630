"""A game that is played again from a text, move by move, and becomes the state of a match.

Move records and game texts are read by it. Nothing proves what such a text says: the moves are checked by the rules.
"""

from contextlib import suppress
from typing import Any, Final

import msgspec

from domain.clocks.match_clock import MatchClock, turn_of_no_time
from domain.clocks.time_control import TimeControl
from domain.errors import Code, Refusal
from domain.match.decision import read_move
from domain.match.events import Ended
from domain.match.state import MatchState, Reason, first_position
from domain.rules import AnyRules, Seat, rules_id


class ReplayedGame:
    """A game of so many players; `needs` says in a refusal what a game of chance lacks without a setup.

    `bad-setup` for a setup that the game does not have, or that it lacks; other refusals are those of the rules.
    """

    def __init__(
        self,
        rules: AnyRules,
        options: tuple[str, ...],
        players: int,
        setup: str | None,
        needs: str,
    ) -> None:
        self.rules: Final = rules
        if (
            setup is None
            and players in rules.players
            and rules.needs_draw(rules.read_options(options), players)
        ):
            raise Refusal(Code.BAD_SETUP, needs)
        self.state = MatchState(
            rules=rules_id(rules), options=options, seats=(b"",) * players, setup=setup
        )
        self._turns = b""
        try:
            self._position: Any = first_position(self.state)
        except (msgspec.DecodeError, RecursionError):
            raise Refusal(Code.BAD_SETUP, "the setup isn't JSON") from None

    @property
    def to_move(self) -> Seat | None:
        """The seat to move; None once the game is over by its rules."""
        over = self.rules.outcome(self._position) is not None
        return None if over else self.rules.to_move(self._position)

    def play(self, text: str) -> None:
        """Play a move of the seat to move; `beyond-end` after the end, else as the rules refuse it."""
        rules, state, seat = self.rules, self.state, self.to_move
        if seat is None:
            raise Refusal(Code.BEYOND_END, "the match is over before it")
        move = rules.check(self._position, read_move(rules, text))
        self.state = msgspec.structs.replace(
            state,
            ply=state.ply + 1,
            moves=f"{state.moves} {rules.write(move)}".strip(),
            acted=state.acted | 1 << seat,
        )
        self._turns += turn_of_no_time(seat)
        self._position = rules.play(self._position, move)

    def leave(self, seat: Seat) -> None:
        """Have a seat leave, while others may play on; `not-a-player` for one that has left already."""
        state = self.state
        if seat not in state.active_seats:
            raise Refusal(Code.NOT_A_PLAYER, "that player has left already")
        self.state = msgspec.structs.replace(state, out=(*state.out, (seat, state.ply)))
        if len(self.state.active_seats) > 1:
            self._position = self.rules.remove_seat(self._position, seat)

    def ended(self, result: Ended | None = None) -> MatchState:
        """Return the state after all moves, with this end, or else that of the rules or of those who left."""
        playing, ended = self.state.active_seats, result or self.outcome
        if ended is None and self.state.out and len(playing) <= 1:
            ended = Ended(winners=playing, reason=Reason.RESIGNATION)
        terms = None if len(self.state.seats) == 1 else TimeControl(rated=False)
        clock = None if terms is None else MatchClock(terms, 0, self._turns)
        return msgspec.structs.replace(self.state, result=ended, clock=clock)

    @property
    def outcome(self) -> Ended | None:
        """How the game is over by its rules; None while it is not."""
        found = self.rules.outcome(self._position)
        return None if found is None else Ended(winners=found.winners, reason=found.reason)

    @property
    def outcomes(self) -> list[Ended]:
        """How the game can be over now: by its rules, or by an offer of its own that was accepted."""
        found = [self.rules.outcome(self._position)]
        for kind in self.rules.offers:
            with suppress(Refusal):  # which makes no sense now
                self.rules.check_offer(self._position, kind)
                found.append(self.rules.outcome_by_offer(self._position, kind))
        return [Ended(winners=one.winners, reason=one.reason) for one in found if one is not None]
