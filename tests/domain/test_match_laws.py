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
)
from domain.match.conditional_moves import NO_CONDITIONAL_MOVES, ConditionalMove
from domain.match.deals import DealKind, deal_kind
from domain.match.decision import Decision, Rejection
from domain.match.events import (
    SERVER_ACCOUNT,
    Ended,
    Event,
    Flagged,
    MatchSource,
    MatchStarted,
    Moved,
    Nagged,
    Resigned,
    ResultChanged,
    SetBack,
    Undone,
)
from domain.match.history import decode_event
from domain.match.imports import import_command
from domain.match.state import MatchState, deadline, next_due, position_of, reminder_is_due
from domain.rules import rules_by_id
from tests.domain.matches_given import KINDS, any_move, called, seeds
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
]
ELSEWHERE = MatchSource("document", "elsewhere/log/s00", 1, bytes(32), 1, bytes(32))
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
TURNING = MatchStarted | Moved | Undone | SetBack | Resigned | Flagged
"""Events with which a turn may begin."""
ENDING = Ended | ResultChanged | SetBack
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
        elif kind == "imported":
            source = Table(self.rng.choice(list(KINDS)), seed)
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
            command = RemindPlayer if reminder_is_due(state, self.now) else FlagPlayer
            return SERVER_ACCOUNT, command(ply=rng.choice([None, state.ply, 3]))
        return rng.choice([*state.seats * 6, *OTHERS]), rng.choice(self.commands())

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
        assert (actor == SERVER_ACCOUNT) == isinstance(command, RemindPlayer | FlagPlayer)
        flag = deadline(before)
        late = flag is not None and self.now >= flag
        assert late == isinstance(command, FlagPlayer) or isinstance(command, ResignMatch)

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
    assert match.state.over == isinstance(last, Ended | ResultChanged)
    for _, turn in groupby(envelopes, key=turns_before(envelopes)):
        assert sum(isinstance(one.body, Nagged) for one in turn) <= 1


def turns_before(envelopes):
    """Give a function that numbers the turn an event belongs to."""
    begins = [one.seq for one in envelopes if isinstance(one.body, TURNING)]
    return lambda one: sum(begin <= one.seq for begin in begins)


def played(kind: str, seed: int) -> Match:
    table = Table(kind, seed)
    for _ in range(STEPS):
        table.step()
    return table.match


EVERY = [*KINDS, "gathered", "committed", "proposed", "deal-proposed", "imported"]


@pytest.mark.parametrize("kind", EVERY)
@examples(30, 1_000)
@given(seeds)
def test_whatever_is_asked_and_whenever_a_match_keeps_its_laws(kind: str, seed: int) -> None:
    history_is_lawful(played(kind, seed))


def test_in_these_matches_everything_happens() -> None:
    """So that the laws are no laws of empty matches."""
    matches = [played(kind, seed).bodies for seed in range(60) for kind in EVERY]
    assert {deal_kind(match) for match in matches} == {*DealKind, None} - {DealKind.ALONE}
    bodies = [body for match in matches for body in match]
    assert {type(body) for body in bodies} == set(get_args(Event))
    assert any(isinstance(body, Moved) and body.queued for body in bodies)
    reasons = {body.reason for body in bodies if isinstance(body, Ended)}
    wanted = {"time", "resignation", "agreement", "aborted", "declined", "no-tile", "transferred"}
    assert wanted <= reasons
    changed = {body.reason for body in bodies if isinstance(body, ResultChanged)}
    assert changed == {"ruling", "annulled"}
