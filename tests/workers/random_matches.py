"""Matches by chance, with events of every kind, for tests of the projections."""

import random
from collections.abc import Sequence

from msgspec.structs import replace

from domain.clocks.time_control import TimeControl
from domain.fairness import Commitment, SetupDraw
from domain.match import events
from domain.match.events import Event, MatchStarted
from domain.match.state import ROBOT_ACCOUNTS, Reason
from domain.records import SERVER_ACCOUNT, AccountId
from tests.fakes.logs import ANCHOR, REFUSAL, Logs
from tests.helpers.given import (
    ARBITER,
    TEXT,
    accepted,
    challenged,
    claimed,
    deal_proposed,
    ended,
    moved,
    offered,
    proposed,
    resigned,
    result_changed,
    ruled,
    set_back,
    started,
    undone,
)

PLAYERS = tuple(b"player%02d%s" % (number, bytes(8)) for number in range(9))
ROBOTS = tuple(ROBOT_ACCOUNTS.values())
GAMES = ("pow2", "halves", "one")
PUZZLE_MOVES = [
    "a1",
    "a5",
    "a7",
    "a9",
    "a13",
    "b4",
    "b10",
    "c3",
    "c5",
    "c6",
    "c8",
    "c9",
    "c11",
    "d2",
    "d4",
    "d7",
    "d10",
    "d12",
    "e1",
    "e3",
]
"""A puzzle's move at each ply."""


class Chance:
    """A server's life by chance, as far as logs tell it: matches that go on side by side."""

    def __init__(self, seed: int, matches: int = 25) -> None:
        self.logs = Logs()
        self._chance = random.Random(seed)
        self._at = 1_000
        self._plays = {board: _Story(self._chance).told for board in range(1, matches + 1)}

    def go_on(self) -> bool:
        """Add the next events of a match; whether there were any."""
        while self._plays:
            self._at += self._chance.randrange(3)
            self.logs.mark = self._at
            board = self._chance.choice(sorted(self._plays))
            if not self._plays[board]:
                del self._plays[board]
                continue
            actor, bodies = self._plays[board].pop(0)
            self.logs.add(board, self._at, actor, *bodies)
            if self._chance.random() < 0.2:
                leaf = self._chance.choice([REFUSAL, ANCHOR])
                self.logs.add_leaf(self._chance.randrange(4), leaf)
            return True
        self.logs.mark = 1 << 50
        return False


class _Story:
    """The events of a match, those of one command together."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.told: list[tuple[AccountId, tuple[Event, ...]]] = []
        count = chance.choice((1, 2, 2, 3, 3))
        self._seats = chance.sample(PLAYERS, count)
        if count > 1 and self._often(0.3):
            self._seats[1] = chance.choice(ROBOTS)
        self._left: list[int] = []
        self._ply = 0
        if self._begin():
            self._play(chance.randrange(1, 8))
            if self._often(0.8):
                self._end()
                self._disputes()

    def _often(self, share: float) -> bool:
        return self._chance.random() < share

    def _say(self, actor: int | bytes, *bodies: Event) -> int:
        """Add events; return the number of the first."""
        first = 1 + sum(len(before) for _, before in self.told)
        self.told.append((self._seats[actor] if isinstance(actor, int) else actor, bodies))
        return first

    # how it begins

    def _begin(self) -> bool:
        """Whether the match is played."""
        others = [*range(1, len(self._seats))]
        self._chance.shuffle(others)
        kind = self._chance.choice(["named", "gathers", "commits", "starts", "starts"])
        if kind == "starts" or not others:
            start, given = self._start(), []
            if others and self._often(0.2):
                self._ply, given = 2, [events.OpeningGiven(moves="a1 a1")]
                start = replace(start, next=self._ply % len(self._seats))
            self._say(0, start, *given)
            return True
        if kind == "named":
            return self._named(others)
        return self._gathers(others) if kind == "gathers" else self._commits(others)

    def _start(self) -> MatchStarted:
        rules = {1: "one/1", 2: "pow2/1", 3: "halves/1"}[len(self._seats)]
        options = ("-fast",) if rules == "pow2/1" and self._often(0.3) else ()
        terms = self._chance.choice((None, TimeControl(rated=False)))
        return replace(started(*self._seats, rules=rules, options=options), terms=terms)

    def _dealt(self) -> MatchStarted:
        draw = SetupDraw(1, 1, bytes(32), (b"",) * len(self._seats))
        rules = "halves/1"
        return replace(started(*self._seats, rules=rules), draw=draw)

    def _named(self, others: Sequence[int]) -> bool:
        start = proposed(*self._seats, invited=tuple(sorted(others)))
        self._say(0, start)
        if self._often(0.5):
            self._move()
        if self._ply and len(others) == 1 and self._often(0.5):
            self._move()  # by which the other accepts
            return True
        for seat in others:
            if self._often(0.2):
                return self._declines(seat)
            turn = self._ply % len(self._seats) if seat == others[-1] else None
            self._say(seat, accepted(seat, turn))
        return True

    def _declines(self, seat: int) -> bool:
        """A seat refuses to play, or lets the time lapse."""
        who = self._chance.choice([self._seats[seat], SERVER_ACCOUNT])
        self._say(who, events.Declined(seat=seat), ended(reason=Reason.DECLINED))
        return False

    def _gathers(self, others: Sequence[int]) -> bool:
        self._say(0, challenged(*self._seats))
        for seat in others:
            if self._often(0.2):
                return self._declines(seat)
            start = [self._dealt()] if seat == others[-1] else []
            self._say(seat, events.Gathered(seat=seat, text=b""), *start)
        return self._plays_deal()

    def _commits(self, others: Sequence[int]) -> bool:
        ready = {0, *([others.pop()] if len(others) > 1 and self._often(0.5) else [])}
        seats = range(len(self._seats))
        given = tuple(Commitment(bytes(32) if seat in ready else b"") for seat in seats)
        deal = replace(deal_proposed(), seats=tuple(self._seats), commitments=given)
        called = events.Called(
            rules=deal.rules, options=(), seats=deal.seats, text=b"", commitments=given
        )
        self._say(0, self._chance.choice([deal, called]))
        for seat in others[:-1]:
            self._say(seat, events.Committed(seat=seat, commitment=Commitment(bytes(32))))
        last, waits = others[-1], [seat for seat in seats if self._often(0.7)]
        sealed = events.Sealed(chain=1, k=1, waits=tuple(waits))
        committed = events.Committed(seat=last, commitment=Commitment(bytes(32)))
        self._say(last, committed, sealed, *([] if waits else [self._dealt()]))
        for seat in waits:
            if self._often(0.2):
                over = ended(reason=Reason.DECLINED)
                self._say(SERVER_ACCOUNT, events.Withheld(seat=seat), over)
                return False
            start = [self._dealt()] if seat == waits[-1] else []
            self._say(seat, events.Revealed(seat=seat, text=b"t"), *start)
        return self._plays_deal()

    def _plays_deal(self) -> bool:
        return not self._often(0.2) or self._declines(self._chance.randrange(len(self._seats)))

    # how it goes on

    @property
    def _staying(self) -> list[int]:
        return [seat for seat in range(len(self._seats)) if seat not in self._left]

    def _next(self) -> int:
        staying = self._staying
        return staying[self._ply % len(staying)]

    def _move(self) -> None:
        seat = self._next()
        self._ply += 1
        move = moved(self._ply, seat, self._next())
        if len(self._seats) == 1:
            move = replace(move, move=PUZZLE_MOVES[self._ply - 1])
        more = []
        if len(self._staying) > 1 and self._often(0.1):
            self._ply += 1
            more = [moved(self._ply, self._next(), self._next(), queued=True)]
        self._say(seat, move, *more)

    def _play(self, plies: int) -> None:
        for _ in range(plies):
            self._move()
            for _ in range(self._chance.randrange(4) if len(self._seats) > 1 else 0):
                self._happen()

    def _happen(self) -> None:
        """Something that is no move."""
        seat, other = self._chance.sample(self._staying, 2)
        kind = self._chance.choice(["draw", "undo"])
        match self._chance.choice(
            ["offer", "offer", "nag", "pause", "away", "back", "leave", "leave"]
        ):
            case "offer":
                self._say(seat, offered(seat, kind))
                if self._often(0.5):
                    no = self._often(0.5)
                    answer = events.OfferAnswered(seat=other, kind=kind, accept=not no)
                    self._say(other, answer, *self._taken_back(kind, refused=no))
            case "nag":
                self._say(SERVER_ACCOUNT, events.Nagged(seat=self._next()))
            case "pause":
                self._say(seat, events.Paused())
                self._say(other, events.Resumed(seat=other))
            case "away":
                self._say(seat, events.Absent(seat=seat, until=9))
                self._say(seat, events.Returned(seat=seat, until=8))
                self._say(SERVER_ACCOUNT, events.TimeGiven(seat=seat, ms=1))
            case "back":
                self._say(other, *self._taken_back("undo"))
            case _ if len(self._staying) > 2:
                self._left.append(seat)
                if self._often(0.5):
                    self._say(seat, resigned(seat, self._next()))
                else:
                    self._say(SERVER_ACCOUNT, events.Flagged(seat=seat, next=self._next()))

    def _taken_back(self, kind: str, *, refused: bool = False) -> list[Event]:
        if kind != "undo" or refused or len(self._staying) < len(self._seats):
            return []
        self._ply = self._chance.randrange(self._ply + 1)
        return [undone(self._ply, self._next())]

    def _end(self) -> None:
        winners = self._chance.choice([self._staying[:1], self._staying[1:], self._staying, []])
        loser = self._staying[-1]
        how = (resigned(loser), events.Flagged(seat=loser), None)
        last = self._chance.choice(how) if len(self._seats) > 1 else None
        who = SERVER_ACCOUNT if isinstance(last, events.Flagged) else loser
        self._say(who, *([last] if last else []), ended(*winners))

    def _disputes(self) -> None:
        """What is claimed and ruled after the end, some of which makes a match go on and end again."""
        seats = [*range(len(self._seats))]
        while self._often(0.5):
            seat = self._chance.choice(seats)
            claim = self._say(seat, claimed(seat))
            if self._often(0.2):
                return
            if self._often(0.3):
                self._say(ARBITER, ruled(claim, upheld=False))
                appeal = events.Appealed(seat=seat, claim=claim, text=TEXT)
                self._say(self._chance.choice(seats), appeal)
            match self._chance.choice(["dismissed", "annulled", "winners", "back", "back"]):
                case "dismissed":
                    self._say(ARBITER, ruled(claim, upheld=False))
                case "annulled":
                    self._say(ARBITER, ruled(claim), result_changed())
                case "winners":
                    self._say(ARBITER, ruled(claim), result_changed(self._chance.choice(seats)))
                case _:
                    if self._goes_on(claim):
                        return

    def _goes_on(self, claim: int) -> bool:
        """The match is set back; whether it has not ended again."""
        self._ply = self._chance.randrange(self._ply + 1)
        gone = [seat for seat in range(1, len(self._seats)) if self._often(0.7)]
        self._left = [seat for seat in self._left if seat not in gone]
        self._say(ARBITER, ruled(claim), set_back(self._ply, self._next(), *gone))
        if self._often(0.3):
            return True
        self._play(self._chance.randrange(1, 3))
        self._end()
        return False
