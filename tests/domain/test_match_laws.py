"""The laws of a match with clocks and replies, whatever is asked of it and whenever."""

import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby, pairwise
from typing import Final, get_args

import pytest
from hypothesis import given
from msgspec import UNSET
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.fairness import Commitment
from domain.match import events
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    EndVacation,
    FlagPlayer,
    GiveRuling,
    MakeAppeal,
    MakeClaim,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    RevealText,
    StartVacation,
    SubstitutePlayer,
)
from domain.match.conditional_moves import NO_CONDITIONAL_MOVES, ConditionalMove
from domain.match.deals import DealKind, deal_kind
from domain.match.decision import Decision, Rejection
from domain.match.history import decode_event
from domain.match.imports import import_command
from domain.match.state import (
    MatchState,
    deadline,
    next_due,
    position_at,
    position_of,
    reminder_is_due,
)
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from domain.tournament.events import TournamentEventBody
from tests.domain.given import KINDS, any_move, called, seeds
from tests.helpers.examples import examples
from tests.helpers.given import BEGIN, CAROL, Match, challenge

STEPS = 80
HOUR: Final = DAY // 24
LAPSE: Final = 14 * DAY
OTHERS = (CAROL, b"mallory.", SERVER_ACCOUNT)

TERMS = [
    ("--days=3", "--nagtime=1"),
    ("--bank=4+1", "--nagtime=2"),
    ("--totaltime=9", "--days=4", "--weekends=off"),
    ("--forfeittime=0",),
    ("--bank=4+1:5", "--nagtime=1,2,3", "--vacation=3", "--pause=off"),
]
ELSEWHERE = events.MatchSource("document", "elsewhere/log/s00", 1, bytes(32), 1, bytes(32))
KEPT = b"a text of 32 bytes that is kept."
COMMITTED = Commitment(sha256(KEPT).digest())
BEFORE_A_DRAW = [
    AnswerOffer(accept=True, commitment=COMMITTED),
    AnswerOffer(accept=True, commitment=Commitment(b"short")),
    RevealText(text=KEPT),
    RevealText(text=KEPT),
    RevealText(text=b"another"),
    MakeOffer(kind="deal"),
]
TURNING = (
    events.MatchStarted
    | events.Moved
    | events.Undone
    | events.SetBack
    | events.Resigned
    | events.Flagged
    | events.SeatTakenOver
)
"""Events with which a turn may begin."""
ENDING = events.Ended | events.ResultChanged | events.SetBack
OF_THE_SERVER = RemindPlayer | FlagPlayer | SubstitutePlayer
DISPUTES = MakeClaim | GiveRuling | MakeAppeal
TEXT = bytes(32)
ARBITER, OTHER_ARBITER = b"arbiter1", b"arbiter2"


class Table:
    """A match at which anything may be asked at any time."""

    def __init__(self, kind: str, seed: int) -> None:
        self.rng = random.Random(seed)
        self.now = BEGIN + self.rng.randrange(7 * DAY)
        self.match = Match()
        terms = self.rng.choice(TERMS)
        if kind == "gathered":
            actor, start = challenge("powerdrain", *terms)
            self.match.do(actor, replace(start, gather=True), self.now)
        elif kind == "committed":
            actor, start = challenge("powerdrain", *terms)
            self.match.kept = {seat: KEPT for seat in range(2) if self.rng.random() < 0.2}
            given = tuple(self.rng.choice([Commitment(), COMMITTED, COMMITTED]) for _ in range(2))
            self.match.do(actor, replace(start, gather=True, commitments=given), self.now)
        elif kind == "proposed":
            game = self.rng.choice(list(KINDS))
            actor, start = called(game, *self.rng.choice([terms, terms, ()]))
            self.match.do(actor, replace(start, lapse=LAPSE), self.now)
        elif kind == "deal-proposed":
            actor, start = challenge("powerdrain", *self.rng.choice([terms, terms, ()]))
            deals = self.rng.choice([UNSET, UNSET, True])
            self.match.kept = {0: KEPT, 1: KEPT} if deals is True else {}
            self.match.unseen = frozenset(seat for seat in range(2) if self.rng.random() < 0.3)
            given = (COMMITTED, Commitment())
            start = replace(start, gather=True, commitments=given, server_deals=deals)
            self.match.do(actor, replace(start, lapse=LAPSE), self.now)
        elif kind == "paired":
            _, start = called(self.rng.choice(list(KINDS)), *terms)
            self.match.do(SERVER_ACCOUNT, replace(start, pairing=(7, 2)), self.now)
        elif kind == "with an opening":
            actor, start = called(self.rng.choice(list(KINDS)), *terms)
            tried = Match((actor, start))
            for _ in range(self.rng.randrange(1, 5)):
                tried.play(any_move(tried, self.rng))
            changes = self.rng.choice([{"pairing": (7, 2)}, {"lapse": LAPSE}, {}])
            actor = SERVER_ACCOUNT if "pairing" in changes else actor
            given = replace(start, opening=tried.state.moves, **changes)
            self.match.do(actor, given, self.now)
        elif kind == "imported":
            source = Table(self.rng.choice([*KINDS, "with an opening"]), seed)
            for _ in range(self.rng.randrange(STEPS)):
                source.step()
            self.now, seats = source.now, source.state.seats
            self.match = Match(board=2)
            command = import_command(source.state, seats, ELSEWHERE)
            self.match.do(SERVER_ACCOUNT, command, self.now)
        else:
            self.match.do(*called(kind, *terms), self.now)

    @property
    def state(self) -> MatchState:
        return self.match.state

    def later(self) -> int:
        """Some time on, now and then to the millisecond at which something falls due."""
        rng, flag = self.rng, deadline(self.state)
        instant = flag if flag and rng.random() < 0.3 else next_due(self.state)
        if instant and rng.random() < 0.15:
            return max(self.now, instant + rng.choice([-1, -1, 0, 1]))
        return self.now + rng.choice([0, 1, HOUR, 5 * HOUR, 11 * HOUR])

    def asked(self) -> tuple[bytes, Command]:
        """Anything anybody can ask for; most often what makes sense."""
        state, rng = self.state, self.rng
        if state.offer is not None and rng.random() < 0.5:
            return rng.choice(state.seats), AnswerOffer(accept=rng.random() < 0.8)
        if state.next is not None and rng.random() < 0.4:
            return state.seats[state.next], PlayMove(text=any_move(self.match, rng))
        if state.gather is not None and not state.over and rng.random() < 0.3:
            return rng.choice(state.seats), rng.choice(BEFORE_A_DRAW)
        if rng.random() < (0.4 if state.over else 0.05):
            return self.disputed()
        if rng.random() < 0.2:
            return SERVER_ACCOUNT, self.of_the_server()
        return rng.choice([*state.seats * 6, *OTHERS]), rng.choice(self.commands())

    def of_the_server(self) -> Command:
        """A reminder, a flag, or in a tournament a substitute, some of which make no sense."""
        state, rng = self.state, self.rng
        if state.pairing is not None and rng.random() < 0.5:
            account = rng.choice([*state.seats, CAROL, b"dave...."])
            return SubstitutePlayer(seat=rng.randrange(-1, 3), account=account)
        command = RemindPlayer if reminder_is_due(state, self.now) else FlagPlayer
        return command(ply=rng.choice([None, state.ply, 3]))

    def disputed(self) -> tuple[bytes, Command]:
        """A claim, a ruling or an appeal, some of which make no sense."""
        state, rng = self.state, self.rng
        ply = rng.randrange(-1, state.ply + 2)
        case = rng.choice([*(one.claim for one in state.cases), 99])
        if rng.random() < 0.3:
            return rng.choice([*state.seats, ARBITER]), MakeClaim(ply=ply, text=TEXT)
        if rng.random() < 0.2:
            return rng.choice(state.seats), MakeAppeal(claim=case, text=TEXT)
        winners = rng.choice([(0,), (1,), (0, 1), (9,), (1, 0), ()])
        time = tuple((rng.randrange(3), rng.randrange(3 * DAY)) for _ in range(rng.randrange(2)))
        changes = rng.choice(
            [
                {},
                {"back_to": ply},
                {"back_to": ply, "time": time},
                {"time": time},
                {"winners": winners},
                {"annul": True},
            ]
        )
        ruling = GiveRuling(
            claim=rng.choice([case, case, None]), upheld=bool(changes), text=TEXT, **changes
        )
        return rng.choice([ARBITER, OTHER_ARBITER, *state.seats]), ruling

    def commands(self) -> Sequence[Command]:
        kinds = ["pause", "pause", "undo", "undo", "count", "deal"]
        until = self.now + self.rng.choice([-1, 0, 1, DAY, 9 * DAY])
        leaves = [StartVacation(until=until), StartVacation(until=until), EndVacation(until=until)]
        accept = AnswerOffer(accept=True)
        many = [
            *(MakeOffer(kind=kind) for kind in kinds),
            ResumeMatch(),
            ResumeMatch(),
            accept,
            accept,
            *leaves,
        ]
        return [
            *many,
            *self.rare(),
            AnswerOffer(accept=False),
            PlayMove(text="a1"),
            RemindPlayer(),
            FlagPlayer(),
        ]

    def rare(self) -> Sequence[Command]:
        """What ends a match, or may."""
        ends = [ResignMatch(), DeclineMatch(), MakeOffer(kind="draw"), MakeOffer(kind="abort")]
        ends.append(MakeOffer(kind="transfer"))
        return ends if self.rng.random() < 0.1 else []

    def lay(self) -> None:
        """Lay a reply ready: a move that may come to be, a legal answer to it, or nonsense."""
        state, rng = self.state, self.rng
        if state.next is None:
            return
        move = any_move(self.match, rng)
        rules, position = rules_by_id(state.rules), position_of(state)
        after = rules.play(position, rules.read(move))
        answers = [*map(rules.write, rules.moves(after)), "nonsense"]
        seat = rng.choice(state.active_seats)
        path = rng.choice([None, (move,)])
        self.match.lay(seat, ConditionalMove(state.ply + 1, path, rng.choice(answers)))
        self.match.lay(
            seat, ConditionalMove(state.ply + rng.randrange(4), None, rng.choice(answers))
        )

    def step(self) -> None:
        """Ask for something, and see that what comes of it is lawful."""
        self.now = self.later()
        if self.rng.random() < 0.3:
            self.lay()
        before = self.match.snapshot
        actor, command = self.asked()
        decided = self.match.decided(actor, command, self.now)
        if isinstance(decided, Rejection):
            assert self.match.snapshot == before
            self.is_refused_with_reason(decided)
        else:
            self.is_entitled(before.state, actor, command, decided)
        self.clock_is_lawful()

    def is_refused_with_reason(self, rejected: Rejection) -> None:
        assert Code(rejected.code) is not Code.INTERNAL
        assert rejected.sentence
        if rejected.code == Code.TIME_OVER:
            assert self.now >= deadline(self.state)

    def is_entitled(
        self, before: MatchState, actor: bytes, command: Command, decided: Decision
    ) -> None:
        assert decided.events
        if isinstance(command, DISPUTES):
            assert isinstance(command, GiveRuling) <= (actor not in before.seats)
            return
        assert not before.over
        assert (actor == SERVER_ACCOUNT) == isinstance(command, OF_THE_SERVER)
        flag = deadline(before)
        late = flag is not None and self.now >= flag
        assert late == isinstance(command, FlagPlayer) or isinstance(command, ResignMatch)
        self.what_is_taken_back_is_as_if_never_played(before, decided)

    def what_is_taken_back_is_as_if_never_played(
        self, before: MatchState, decided: Decision
    ) -> None:
        for undone in decided.events:
            if isinstance(undone, events.Undone):
                rules, state = rules_by_id(before.rules), self.state
                plies = range(before.opening, before.ply)
                own = [n for n in plies if rules.to_move(position_at(before, n)) == undone.next]
                assert (undone.ply, state.next) == (own[-1], undone.next)
                assert state.first_moves(undone.ply) == before.first_moves(undone.ply)
                assert position_of(state) == position_at(state, undone.ply)
                assert state.out or position_of(state) == position_at(before, undone.ply)
                assert state.offer is None

    def clock_is_lawful(self) -> None:
        state, instant = self.state, next_due(self.match.state)
        if state.over:
            assert (instant, self.match.replies) == (0, NO_CONDITIONAL_MOVES)
        elif state.invited:
            assert instant == deadline(state)
            assert state.awaits_entropy or state.clock is None or state.clock.paused
        elif state.clock is None or state.clock.paused:
            assert instant == 0
        elif state.awaits_entropy:
            assert instant == (deadline(state) or 0)
            assert state.gather or instant == 0
            assert state.waits
        else:
            flag = deadline(state)
            # whoever's turn begins has some time for it
            # at once for a player whose time is used up to the millisecond
            assert flag is None or flag >= state.clock.since
            assert instant == 0 or state.clock.since <= instant <= (flag or instant)
            assert reminder_is_due(state) == (instant not in (0, flag))


def history_is_lawful(match: Match) -> None:
    match.holds()
    envelopes = [decode_event(data) for data in match.events]
    assert all(one.at <= other.at for one, other in pairwise(envelopes))
    last = next((one.body for one in reversed(envelopes) if isinstance(one.body, ENDING)), None)
    given = next((one.moves for one in match.bodies if isinstance(one, events.OpeningGiven)), "")
    assert match.state.first_moves(match.state.opening) == given.split()
    assert match.state.over == isinstance(last, events.Ended | events.ResultChanged)
    most = 1 + len(match.state.clock.terms.options.nags) if match.state.clock else 0
    for _, turn in groupby(envelopes, key=turns_before(envelopes)):
        assert sum(isinstance(one.body, events.Nagged) for one in turn) <= most


def turns_before(envelopes):
    """Give a function that numbers the turn an event belongs to."""
    begins = [one.seq for one in envelopes if isinstance(one.body, TURNING)]
    return lambda one: sum(begin <= one.seq for begin in begins)


def played(kind: str, seed: int) -> Match:
    table = Table(kind, seed)
    for _ in range(STEPS):
        table.step()
    return table.match


EVERY = [*KINDS, "gathered", "committed", "proposed", "deal-proposed"]
EVERY += ["paired", "with an opening", "imported"]


@pytest.mark.parametrize("kind", EVERY)
@examples(12, 1_000)
@given(seeds)
def test_whatever_is_asked_and_whenever_a_match_keeps_its_laws(kind: str, seed: int) -> None:
    history_is_lawful(played(kind, seed))


@pytest.mark.slow
def test_in_these_matches_everything_happens() -> None:
    """So that the laws are no laws of empty matches."""
    of_matches = {
        kind for kind in get_args(events.Event) if not issubclass(kind, TournamentEventBody)
    }
    wanted = {
        *of_matches,
        *(f"deal {kind}" for kind in (*DealKind, None) if kind is not DealKind.ALONE),
        "queued",
    }
    wanted |= {"time", "resignation", "agreement", "aborted", "declined", "no-tile", "transferred"}
    wanted |= {"ruling", "annulled"}
    for seed in range(100):
        for kind in EVERY:
            bodies = played(kind, seed).bodies
            wanted -= {f"deal {deal_kind(bodies)}"}
            for body in bodies:
                wanted -= {type(body), getattr(body, "reason", None)}
                wanted -= {"queued"} if isinstance(body, events.Moved) and body.queued else set()
        if not wanted:
            return
    assert not wanted
