"""Players who move, wait, go on vacation, pause, take back, give up and get things wrong."""

import random
from itertools import islice

from domain.clocks.time_control import DAY
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    EndVacation,
    MakeOffer,
    PlayMove,
    ResignMatch,
    ResumeMatch,
    StartVacation,
)
from domain.match.conditional_moves import (
    ConditionalMove,
    ConditionalMoves,
    ConditionalMovesBySeat,
    merge,
)
from domain.match.state import MatchState, position_of
from domain.rules import rules_by_id

HABITS = {
    "move": 200,
    "undo": 14,
    "pause": 8,
    "away": 14,
    "back": 10,
    "wrong": 12,
    "draw": 3,
    "abort": 1,
    "resign": 2,
}
"""What they do when nothing waits for an answer, and how often."""


class Players:
    """All of them, by one chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def act(self, state: MatchState, now: int) -> tuple[bytes, Command]:
        """Who does what in a match that runs."""
        if state.awaits_entropy:
            waiting = [seat for seat, text in enumerate(state.texts) if text is None]
            said = AnswerOffer(accept=True) if self._chance.random() < 0.9 else DeclineMatch()
            return state.seats[self._chance.choice(waiting)], said
        seat = self._chance.choice(state.active_seats)
        if state.clock and state.clock.paused and self._chance.random() < 0.4:
            return state.seats[seat], ResumeMatch()
        offer = state.offer
        asked = [s for s in state.active_seats if offer and s not in (offer.seat, *offer.accepted)]
        if asked and self._chance.random() < 0.8:
            accept = self._chance.random() < 0.7
            return state.seats[self._chance.choice(asked)], AnswerOffer(accept=accept)
        (habit,) = self._chance.choices(list(HABITS), list(HABITS.values()))
        return self._habit(habit, state, seat, now)

    def move(self, state: MatchState) -> tuple[bytes, Command]:
        """The mover's move."""
        assert state.next is not None
        said = self._chance.choice([state.ply, None])
        return state.seats[state.next], PlayMove(text=self._legal(state.rules, state), ply=said)

    def _habit(self, habit: str, state: MatchState, seat: int, now: int) -> tuple[bytes, Command]:
        who = state.seats[seat]
        match habit:
            case "move":
                return self.move(state)
            case "away":
                return who, StartVacation(until=now + self._chance.choice([1, 2, 3, 7, 12]) * DAY)
            case "back":
                return who, EndVacation(until=now + self._chance.randrange(DAY))
            case "resign":
                return who, ResignMatch()
            case "wrong":
                return who, PlayMove(
                    text=self._chance.choice(["a1-a2", "1,1", "e5"]), ply=state.ply
                )
            case kind:
                return who, MakeOffer(kind=kind)

    def _legal(self, rules: str, state: MatchState) -> str:
        found = rules_by_id(rules).legal_moves(position_of(state))
        return self._chance.choice(list(islice(found, 30)))

    def lay(self, state: MatchState, replies: ConditionalMovesBySeat) -> ConditionalMovesBySeat:
        """Replies with one more, to a move that the mover may play, or to whatever comes."""
        rules, before = rules_by_id(state.rules), position_of(state)
        guess = self._legal(state.rules, state)
        after = rules.play(before, rules.check(before, rules.read(guess)))
        seat = rules.to_move(after)
        if seat is None or seat == state.next:
            return replies
        text = self._chance.choice(list(islice(rules.legal_moves(after), 30)))
        path = self._chance.choice([(guess,), None])
        laid = merge(
            replies.get(seat, ConditionalMoves()), [ConditionalMove(state.ply + 1, path, text)]
        )
        return {**replies, seat: laid}
