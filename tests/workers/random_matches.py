"""Matches by chance, for tests of the projections."""

import random

from domain.clocks.time_control import TimeControl
from domain.match.events import AccountId, Declined, Event, MatchStarted, OfferAnswered
from domain.match.state import Reason
from tests.fakes.logs import REFUSAL, Logs
from tests.helpers.given import (
    ARBITER,
    challenged,
    claimed,
    ended,
    moved,
    offered,
    resigned,
    result_changed,
    ruled,
    set_back,
    started,
    undone,
)

PLAYERS = tuple(b"player%02d%s" % (number, bytes(8)) for number in range(9))
GAMES = ("pow2", "halves", "one")
Story = list[tuple[AccountId, tuple[Event, ...]]]


class Chance:
    """A server's life by chance, as far as logs tell it: matches that go on side by side."""

    def __init__(self, seed: int, matches: int = 25) -> None:
        self.logs = Logs()
        self._chance = random.Random(seed)
        self._at = 1_000
        self._plays = {board: self._story() for board in range(1, matches + 1)}

    def go_on(self) -> bool:
        """Add the next events of a match; whether there were any."""
        while self._plays:
            self._at += self._chance.randrange(3)
            self.logs.mark = self._at
            board = self._chance.choice(sorted(self._plays))
            events = self._plays[board][:1]
            if not events:
                del self._plays[board]
                continue
            self._plays[board] = self._plays[board][1:]
            actor, bodies = events[0]
            self.logs.add(board, self._at, actor, *bodies)
            if self._chance.random() < 0.2:
                self.logs.add_leaf(self._chance.randrange(4), REFUSAL)
            return True
        self.logs.mark = 1 << 50
        return False

    def _story(self) -> Story:
        """The events of a match, some at a time."""
        count = self._chance.choice((1, 2, 2, 2, 3))
        seats = tuple(self._chance.sample(PLAYERS, count))
        if count == 1:
            one = started(*seats, rules="one/1", turn=0)
            story = [(seats[0], body) for body in ((one,), (moved(1, 0, 0),), (ended(0),))]
            return [*story, *self._disputes(seats, 1)]
        story = []
        if count == 2 and self._often(0.2):
            story.append((seats[0], (challenged(*seats),)))
            if self._often(0.5):
                return [*story, (seats[1], (Declined(1), ended(reason=Reason.DECLINED)))]
        story.append((seats[0], (self._start(seats),)))
        plies = self._chance.randrange(1, 7)
        for ply in range(1, plies + 1):
            story.append((seats[ply % count - 1], (moved(ply, (ply - 1) % count, ply % count),)))
            if self._often(0.3):
                story.append((seats[0], (offered(0),)))
            if self._often(0.3):
                story.append((seats[1], (OfferAnswered(1, kind="draw", accept=False),)))
            if self._often(0.1):
                story.append((seats[0], (undone(ply, ply % count),)))
        if count > 2 and self._often(0.5):
            story.append((seats[2], (resigned(2, 0),)))
        if self._often(0.7):
            winners = self._chance.choice([(0,), (1,), (0, 1), ()])
            story.append((seats[0], (resigned(1), ended(*winners))))
            story += self._disputes(seats, plies)
        return story

    def _disputes(self, seats: tuple[AccountId, ...], plies: int) -> Story:
        """What arbiters rule after the end, some of which makes a match go on and end again."""
        story: Story = []
        while self._often(0.5):
            story.append((self._chance.choice(seats), (claimed(0),)))
            match self._chance.choice(["dismissed", "annulled", "winners", "back", "back"]):
                case "dismissed":
                    story.append((ARBITER, (ruled(upheld=False),)))
                case "annulled":
                    story.append((ARBITER, (ruled(), result_changed())))
                case "winners":
                    winner = self._chance.randrange(len(seats))
                    story.append((ARBITER, (ruled(), result_changed(winner))))
                case _:
                    plies = self._chance.randrange(plies + 1)
                    gone = tuple(range(1, len(seats)))
                    back = set_back(plies, plies % len(seats), *gone)
                    story.append((ARBITER, (ruled(), back)))
                    if self._often(0.3):
                        return story
                    plies += 1
                    mover = (plies - 1) % len(seats)
                    story.append((seats[mover], (moved(plies, mover, plies % len(seats)),)))
                    winner = self._chance.randrange(len(seats))
                    story.append((seats[0], (ended(winner),)))
        return story

    def _start(self, seats: tuple[AccountId, ...]) -> MatchStarted:
        terms = self._chance.choice((None, TimeControl(rated=False)))
        rules = "halves/1" if len(seats) > 2 else "pow2/1"
        return MatchStarted(rules=rules, options=(), seats=seats, setup=None, next=0, terms=terms)

    def _often(self, share: float) -> bool:
        return self._chance.random() < share
