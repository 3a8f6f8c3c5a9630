"""The laws of a match with clocks and replies, whatever is asked of it and whenever.

Moves taken back by agreement, at any place of any game: what is left is as if never played.
"""

import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby, pairwise
from typing import Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.fairness import Commitment
from domain.match import events
from domain.match.audit import verify
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
    StartMatch,
    StartVacation,
    SubstitutePlayer,
)
from domain.match.conditional_moves import NO_CONDITIONAL_MOVES, ConditionalMove
from domain.match.deals import DealKind, deal_kind
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.history import EMPTY_SNAPSHOT, chain_events, decode_event, replay
from domain.match.imports import import_command
from domain.match.state import (
    MatchState,
    cache_position,
    deadline,
    next_due,
    position_at,
    position_of,
    reminder_is_due,
)
from domain.records import SERVER_ACCOUNT
from domain.rules import latest_rules, rules_by_id
from domain.tournament.events import TournamentEventBody
from tests.domain.given import KINDS, any_move, called, seeds
from tests.helpers.examples import examples
from tests.helpers.given import ALICE, BEGIN, BOARD, BOB, CAROL, Match, challenge, sent

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
    matches = [played(kind, seed).bodies for seed in range(70) for kind in EVERY]
    assert {deal_kind(match) for match in matches} == {*DealKind, None} - {DealKind.ALONE}
    bodies = [body for match in matches for body in match]
    of_matches = {
        kind for kind in get_args(events.Event) if not issubclass(kind, TournamentEventBody)
    }
    assert {type(body) for body in bodies} == of_matches
    assert any(isinstance(body, events.Moved) and body.queued for body in bodies)
    reasons = {body.reason for body in bodies if isinstance(body, events.Ended)}
    wanted = {"time", "resignation", "agreement", "aborted", "declined", "no-tile", "transferred"}
    assert wanted <= reasons
    changed = {body.reason for body in bodies if isinstance(body, events.ResultChanged)}
    assert changed == {"ruling", "annulled"}


PLAYERS = (ALICE, BOB, CAROL)

GAMES = {
    "pow2": StartMatch(rules="pow2/1", options=("-fast",), seats=PLAYERS[:2]),
    "pow2 placed freely": StartMatch(rules="pow2/1", options=("-free",), seats=PLAYERS[:2]),
    "line": StartMatch(rules="line/1", options=("-stones=9",), seats=PLAYERS[:2]),
    "halves of three": StartMatch(
        rules="halves/1", options=("-manual_start", "-tiles_each=3"), seats=PLAYERS
    ),
    "halves of three, inverted": StartMatch(
        rules="halves/1",
        options=("-free_edges=4", "-invert_win", "-manual_start", "-no_contract", "-tiles_each=4"),
        seats=PLAYERS,
    ),
}


class UndoTable:
    """A match whose commands are decided and sealed one after the other."""

    def __init__(self, start: StartMatch) -> None:
        self.snapshot = EMPTY_SNAPSHOT
        self.events: list[bytes] = []
        self.rules = latest_rules(start.rules.partition("/")[0])
        self._sent = 0
        self.say(0, start)

    @property
    def state(self):
        return self.snapshot.state

    def say(self, seat: int, command: Command) -> Decision | Rejection:
        """Decide a player's command; what it leads to has happened."""
        self._sent += 1
        order = sent(PLAYERS[seat], command, self._sent)
        decided = decide(order, self.state, DecisionContext(self._sent))
        if isinstance(decided, Decision):
            sealed, self.snapshot = chain_events(order, decided, self.snapshot, self._sent)
            self.events += sealed
        return decided

    def play(self, chance: random.Random) -> None:
        """Play a legal move."""
        moves = self.rules.moves(position_of(self.state))
        text = self.rules.write(chance.choice(moves))
        assert isinstance(self.say(self.state.next, PlayMove(text=text)), Decision)

    def undo(self, seat: int) -> Decision | Rejection:
        """Propose to take the seat's last move back; all others accept."""
        decided = self.say(seat, MakeOffer(kind="undo"))
        for other in self.state.active_seats:
            if isinstance(decided, Decision) and other != seat:
                decided = self.say(other, AnswerOffer(accept=True))
        return decided


def replayed(table: UndoTable, start: StartMatch):
    """The position that the moves left give, played anew from the start."""
    options = table.rules.read_options(start.options)
    position = table.rules.start(options, len(start.seats), None)
    for text in table.state.first_moves(table.state.ply):
        position = table.rules.play(position, table.rules.read(text))
    return position


def holds(table: UndoTable) -> None:
    """Assert that the snapshot, the events and the rules say the same."""
    state = table.state
    assert position_of(state) == position_at(state, state.ply)
    assert cache_position(replay(table.events)) == cache_position(state)
    verdict = verify(BOARD, table.events)
    assert verdict.state == state
    assert verdict.head == table.snapshot.head
    if not state.over:
        assert table.rules.outcome(position_of(state)) is None
        assert state.next == table.rules.to_move(position_of(state))
        assert state.next in state.active_seats


def taken_back(table: UndoTable, seat: int) -> None:
    """Take a seat's last move back, if it has one; assert what that leads to."""
    before = table.state
    movers = [table.rules.to_move(position_at(before, ply)) for ply in range(before.ply)]
    decided = table.undo(seat)
    if seat not in movers:
        assert isinstance(decided, Rejection)
        assert decided.code == Code.UNKNOWN_OFFER
        return
    ply = max(ply for ply, mover in enumerate(movers) if mover == seat)
    assert decided.events[-1] == events.Undone(ply=ply, next=seat)
    assert table.state.ply == ply
    assert table.state.first_moves(ply) == before.first_moves(ply)
    assert table.state.next == seat
    assert table.state.offer is None


def ready(table: UndoTable, chance: random.Random, start: StartMatch, leaves: float) -> None:
    """Play, take back and leave by chance, until the match is over or long enough."""
    for _ in range(chance.randint(1, 40)):
        if table.state.over:
            return
        what = chance.random()
        if what < leaves and len(table.state.active_seats) > 2:
            table.say(chance.choice(table.state.active_seats), ResignMatch())
        elif what < 0.3:
            taken_back(table, chance.choice(table.state.active_seats))
            holds(table)
            if not table.state.out:
                assert position_of(table.state) == replayed(table, start)
        else:
            table.play(chance)


@examples(10, 500)
@given(seed=st.integers(0, 2**32))
@pytest.mark.parametrize("game", GAMES)
def test_what_is_left_after_moves_were_taken_back_is_as_if_they_were_never_played(game, seed):
    table = UndoTable(GAMES[game])
    ready(table, random.Random(seed), GAMES[game], leaves=0)
    holds(table)
