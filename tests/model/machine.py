"""The real path, from submit to outcome, worked beside the model one step after the other.

What a step has done is compared at once. A drain that died is asked only how far it came.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import ClassVar

import redis
from hypothesis import event, note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from domain.aggregates import Decider
from domain.match import commands
from domain.match.commands import Command, CommandEnvelope, MakeOffer, PlayMove, StartMatch
from domain.match.decide import decide
from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.keys import Lane, all_lanes, shard_of
from infra.store.gateway import submission_of
from infra.store.layout import Layout
from infra.store.leases import LEASE_MS, LaneLeases
from infra.store.port import AlreadyDecided, CommitResult, NotAccepted, Queued, Write
from tests.helpers.gateways import OutcomeListener
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.writes import CommitsInOne
from tests.model.compare import Comparison, Place
from tests.model.plain import Outcome, Server, Waiting
from workers.commands.drain import Drain

SHARDS, LANES, CAP = 4, 2, 30
CHANNEL = "reply:model"
BOARDS = st.integers(1, 5)
LANE = st.sampled_from(all_lanes(LANES))
ACTORS = st.sampled_from([ALICE, BOB, CAROL])
OPTIONS = st.sampled_from(
    [(), ("-fast",), ("-middle",), ("-fast", "-exact"), ("-noborder",), ("-noborder", "-exact")]
)
BAD_STARTS = st.sampled_from(
    [
        StartMatch(rules=rules, options=options, seats=seats)
        for rules, options, seats in (
            ("pow2/9", (), (ALICE, BOB)),
            ("pow2/1", ("-quick",), (ALICE, BOB)),
            ("pow2/1", ("-fast", "-middle"), (ALICE, BOB)),
            ("pow2/1", (), (ALICE, ALICE)),
            ("pow2/1", (), (ALICE, BOB, CAROL)),
        )
    ]
)
NO_MOVES = ("", "?", "m13:j7", "a13-z9", "m13-m5:l4,l4", "m13-m5:", "m13-m9-m5", "x" * 513)
MOVES = ("c3", "a1-a1", "m13-m5", "m1-m13", "g1-m7", " M13 - j7 ", "a13-a5", "m13-m9", "a1-c3")
FOREIGN = ("a1-\u212a5", "m13-\u2029m9", "\uff4d13-m9")
TEXTS = st.sampled_from(NO_MOVES + MOVES + FOREIGN)
WORDS = st.sampled_from(
    [
        *(MakeOffer(kind=kind) for kind in ("draw", "undo", "abort", "pause", "tea")),
        *(commands.AnswerOffer(accept=accept) for accept in (True, False)),
        commands.ResignMatch(),
        commands.DeclineMatch(),
    ]
)


class Died(Exception):  # noqa: N818 - it says what happened
    """A drain was killed."""


def die() -> None:
    raise Died


def live() -> None:
    """Go on."""


def nobody_comes(lane: Lane) -> None:
    """Wake nobody: the steps say when a lane is drained."""
    del lane


class Steps(CommitsInOne):
    """The store, with something to happen before or after a drain's next commits."""

    before: Callable[[], None] = staticmethod(live)
    after: Callable[[], None] = staticmethod(live)

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        self.before()
        results = super().commit(writes)
        self.after()
        return results


class MatchServer(RuleBasedStateMachine):
    """Rules for all that players, strangers and misfortune do; a subclass gives the server."""

    mode: ClassVar[Mode] = Mode.NONE
    store_class: ClassVar[type[Steps]] = Steps
    decider: Decider = staticmethod(decide)
    sequences: ClassVar[int] = 0
    steps: ClassVar[int] = 0
    commands_sent: ClassVar[int] = 0

    connect: ClassVar[Callable[["MatchServer"], redis.Redis]]
    """Gives a client of an empty server; each subclass has its own."""

    @initialize()
    def begin(self) -> None:
        type(self).sequences += 1
        self.client = self.connect()
        self.store = self.store_class(self.client, self.mode, CAP)
        self.store.create(Layout(SHARDS, LANES))
        self.lanes = LaneLeases(self.client, nobody_comes)
        self.listener = OutcomeListener(self.client, CHANNEL)
        self.model = Server(SHARDS, CAP)
        self.compare = Comparison(self.store, self.model, self.listener, SHARDS)
        self.sent: list[CommandEnvelope] = []
        self.cut = dict.fromkeys(all_lanes(LANES), False)
        """Whether the lane's last drain died."""

    def check_invariants(self, *args: object, **more: object) -> None:
        """Count the step; called after each."""
        super().check_invariants(*args, **more)
        type(self).steps += 1

    def teardown(self) -> None:
        if not hasattr(self, "compare"):
            return
        try:
            for lane in all_lanes(LANES):
                self.drain(lane)
            self.compare.check_histories()
        finally:
            self.listener.close()
            self.client.close()

    # what is sent

    def _send(self, sent: CommandEnvelope) -> None:
        """Submit a command; the answer is the model's."""
        type(self).commands_sent += 1
        note(f"send {sent}")
        ply = self.model.match(sent.match).ply
        new = submission_of(sent, ply, CHANNEL)
        expected = self.model.expected(sent, ply)
        (answer,) = self.store.submit([new])
        match answer:
            case AlreadyDecided(stored):
                assert isinstance(expected, Outcome)
                self.compare.check_outcome(stored, expected)
            case NotAccepted(code):
                event(code)
                assert code == expected
            case Queued(entry, _):
                assert expected == "queued"
                self.model.waiting.append(Waiting(entry, sent))

    def _new(self, board: int, actor: bytes, command: Command) -> None:
        sent = CommandEnvelope(board, len(self.sent).to_bytes(16, "big"), actor, command)
        self.sent.append(sent)
        self._send(sent)

    def _play(self, board: int, text: str) -> None:
        """Move, as the player whose turn it will be when what waits is done."""
        match = self.model.foreseen(board)
        if match.turn is not None:
            self._new(board, match.seats[match.turn], PlayMove(text=text))

    @rule(board=BOARDS, options=OPTIONS, swapped=st.booleans())
    def challenge(self, *, board: int, options: tuple[str, ...], swapped: bool) -> None:
        seats = (BOB, ALICE) if swapped else (ALICE, BOB)
        self._new(board, seats[0], StartMatch(rules="pow2/1", options=options, seats=seats))

    @rule(board=BOARDS, actor=ACTORS, start=BAD_STARTS)
    def challenge_badly(self, board: int, actor: bytes, start: StartMatch) -> None:
        self._new(board, actor, start)

    @rule(
        board=BOARDS,
        choices=st.lists(st.integers(0, 999), min_size=1, max_size=6),
        ply=st.booleans(),
        loud=st.booleans(),
    )
    def play(self, *, board: int, choices: list[int], ply: bool, loud: bool) -> None:
        """Some legal moves, one upon the other, canonical or not, with the ply or without."""
        for choice in choices:
            match = self.model.foreseen(board)
            if match.turn is None:
                return
            legal = match.legal()
            text = legal[choice % len(legal)]
            text = f" {text.upper()} " if loud else text
            move = PlayMove(text=text, ply=match.ply if ply else None)
            self._new(board, match.seats[match.turn], move)

    @rule(board=BOARDS)
    def shuffle(self, board: int) -> None:
        """There and back again, both of them: the position stands once more."""
        ways = []
        for _ in range(2):
            there = [text for text in self.model.foreseen(board).legal() if ":" not in text]
            if not there:
                return
            ways.append(there[0])
            self._play(board, there[0])
        for way in ways:
            self._play(board, "-".join(reversed(way.split("-"))))

    @rule(board=BOARDS, actor=ACTORS, text=TEXTS, ply=st.none() | st.integers(-1, 3))
    def play_anything(self, board: int, actor: bytes, text: str, ply: int | None) -> None:
        self._new(board, actor, PlayMove(text=text, ply=ply))

    @rule(board=BOARDS, actor=ACTORS, command=WORDS)
    def say(self, board: int, actor: bytes, command: Command) -> None:
        self._new(board, actor, command)

    @rule(board=BOARDS, first=st.booleans(), accept=st.booleans())
    def propose(self, *, board: int, first: bool, accept: bool) -> None:
        """One offers a draw, and the other answers."""
        pair = (ALICE, BOB) if first else (BOB, ALICE)
        self._new(board, pair[0], MakeOffer(kind="draw"))
        self._new(board, pair[1], commands.AnswerOffer(accept=accept))

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 999), times=st.integers(1, 3))
    def repeat(self, which: int, times: int) -> None:
        for _ in range(times):
            self._send(self.sent[-1 - which % len(self.sent)])

    @precondition(lambda self: self.sent)
    @rule(which=st.integers(0, 999), board=st.none() | BOARDS, actor=ACTORS, command=WORDS)
    def reuse(self, which: int, board: int | None, actor: bytes, command: Command) -> None:
        """An id comes again, with another command."""
        old = self.sent[-1 - which % len(self.sent)]
        self._send(CommandEnvelope(board or old.match, old.id, actor, command))

    @rule(board=BOARDS, actor=ACTORS)
    def insist(self, board: int, actor: bytes) -> None:
        for _ in range(20):
            self._new(board, actor, PlayMove(text="?"))

    # what is done with it

    def _drain(self, lane: Lane, stopping: Callable[[], bool] = lambda: False) -> int:
        place = (self.store, self.lanes, self.client, lane)
        return Drain(*place, stopping=stopping, decider=self.decider).run()

    def _lane(self, lane: Lane) -> list[Waiting]:
        shards = set(lane.shards(SHARDS))
        return [one for one in self.model.waiting if shard_of(one.sent.match, SHARDS) in shards]

    def _compare(self, lane: Lane, *, died: bool = False) -> None:
        """Ask the inboxes how far the drain came, and compare."""
        entries = self.store.read_inbox(lane.shards(SHARDS), 10_000)
        left: set[Place] = {(entry.shard, entry.id) for entry in entries}
        self.compare.settle(self._lane(lane), left, cut=self.cut[lane])
        self.compare.check_published()
        assert len(self._lane(lane)) == len(left)
        self.cut[lane] = died

    @rule(lane=LANE)
    def drain(self, lane: Lane) -> None:
        """Everything is done, and its outcomes are published."""
        new = {waits.sent.id for waits in self._lane(lane)}
        self._drain(lane)
        self.compare.settle(self._lane(lane), set(), cut=self.cut[lane])
        self.compare.check_published(new)
        assert self.store.inbox_size(lane.shards(SHARDS)) == 0
        assert not self.client.exists(keys.lease(lane), keys.lease_mark(lane))
        self.cut[lane] = False

    @rule(lane=LANE)
    def drain_one_batch(self, lane: Lane) -> None:
        """A worker that is stopping leaves what it can't finish to the next."""
        self._drain(lane, stopping=lambda: True)
        self._compare(lane)

    @rule(lane=LANE, commits=st.integers(1, 3), after=st.booleans())
    def drain_and_die(self, *, lane: Lane, commits: int, after: bool) -> None:
        """A drain is killed before or after its nth commit; its lease runs out."""
        fates = iter([live] * (commits - 1) + [die])

        def meet_fate() -> None:
            next(fates, live)()

        setattr(self.store, "after" if after else "before", meet_fate)
        died = True
        with suppress(Died):
            self._drain(lane)
            died = False
        self.store.before = self.store.after = live
        self.client.delete(keys.lease(lane))
        self._compare(lane, died=died)

    @rule(lane=LANE)
    def drain_and_be_overtaken(self, lane: Lane) -> None:
        """A drain is paused before its commit; its lease runs out and another does its work."""

        def overtake() -> None:
            self.store.before = live
            self.client.delete(keys.lease(lane))
            self.compare.read_tries()
            self.cut[lane] = True
            self.drain(lane)

        self.store.before = overtake
        self._drain(lane)
        self.store.before = live
        self._compare(lane)

    @rule(lane=LANE)
    def drain_and_lose_the_lease(self, lane: Lane) -> None:
        """The lease vanishes while a drain works, and nobody else takes it."""
        self.store.after = lambda: self.client.delete(keys.lease(lane))
        self._drain(lane)
        self.store.after = live
        self._compare(lane)

    @rule(lane=LANE)
    def drain_beside_another(self, lane: Lane) -> None:
        """Another holds the lease: nothing happens."""
        self.client.set(keys.lease(lane), "another", px=LEASE_MS)
        assert self._drain(lane) == 0
        self.client.delete(keys.lease(lane))
        self._compare(lane, died=self.cut[lane])

    @rule()
    def forget_the_scripts(self) -> None:
        self.client.script_flush()
