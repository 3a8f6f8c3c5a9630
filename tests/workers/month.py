"""A month of many matches in a time of its own: players, keepers and drains, and misfortune.

Time goes from one happening to the next. What the plain clock of a match says must come is looked
for a millisecond before, at the instant or within the second, and a second after it. That nothing
comes early, twice, late or after a move that was there before is checked as the leaves come into
the logs.

`tests/workers/keeping.py` runs it by hand.
"""

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl, read_time_control
from domain.errors import Code
from domain.match.audit import verify
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    EndVacation,
    MakeOffer,
    PlayMove,
    ResignMatch,
    ResumeMatch,
    StartMatch,
    StartVacation,
)
from domain.match.conditional_moves import (
    ConditionalMove,
    ConditionalMoves,
    ConditionalMovesBySeat,
    merge,
    pack,
    unpack,
)
from domain.match.events import MatchSource, Moved
from domain.match.history import (
    EventEnvelope,
    RefusedLeaf,
    decode_event,
    decode_refusal,
    unpack_snapshot,
)
from domain.match.imports import import_command
from domain.match.state import MatchState, next_due, position_of
from domain.records import SERVER_ACCOUNT, CommandId
from domain.rules import rules_by_id
from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.keys import Lane
from infra.store.layout import Layout
from infra.store.port import CommitResult, Queued, Submission, SubmitResult, Write
from tests.fakes.dying import DyingClient, Killed
from tests.helpers.doctor import damaged_matches
from tests.helpers.given import ALICE, BOB, CAROL, Match
from tests.helpers.timed import BEGIN, HOUR, TimedBench, TimedStore
from tests.helpers.writes import CommitsInOne
from tests.workers.plain_clock import Kept, PlainClock
from workers.commands.drain import Drain

SECOND, MINUTE = 1_000, 60_000
SHAPE = Layout(shards=4, lanes=2)

TERMS: tuple[TimeControl | None, ...] = (
    None,
    *(
        read_time_control(words.split())
        for words in (
            "",
            "--days=3 --nagtime=1",
            "--days=1 --nagtime=0",
            "--days=5 --nagtime=7",
            "--days=2 --nagtime=1 --weekends=off",
            "--bank=10+1 --nagtime=0",
            "--bank=3 --nagtime=2",
            "--bank=5+1 --nagtime=2 --weekends=off",
            "--totaltime=12 --nagtime=3",
            "--weekends=off",
            "--forfeittime=0 --nagtime=3",
            "--forfeittime=0 --nagtime=0",
            "--forfeittime=10 --totaltime=20 --bank=8+2 --nagtime=1 --weekends=off",
            "--bank=6+2:7 --nagtime=2,4,5 --vacation=4",
            "--nagtime=5,8,12 --silence=15 --vacation=0 --pause=off --weekends=off",
        )
    ),
)
GAMES = (
    *[("pow2/1", (), 2, False)] * 3,
    ("line/1", (), 2, False),
    ("torere/1", (), 2, False),
    ("powerdrain/1", (), 2, True),
    ("halves/1", ("-no_contract", "-tiles_each=9"), 3, False),
    ("halves/1", ("-manual_start",), 3, False),
)
"""Rules, options, players, and whether all give entropy first."""

PACES = (9 * HOUR, 30 * HOUR, 3 * DAY, 6 * DAY, 15 * DAY)
"""Between two doings in a match, on the average."""

LATE = (Code.MATCH_OVER, Code.NOT_A_PLAYER, Code.NOT_STARTED)
"""Refusals that are told before anybody looks at the clock."""


class Fate(CommitsInOne, TimedStore):
    """A store whose users may die, and that remembers what came to it."""

    dies = ""

    def __init__(self, *args: object, **more: object) -> None:
        super().__init__(*args, **more)  # type: ignore[arg-type]
        self.came: dict[CommandId, tuple[int, int]] = {}
        """For each command, which one in all it was, and its received time."""

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        self._die("before the commit")
        results = super().commit(writes)
        self._die("after the commit")
        return results

    def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        answers = super().submit(submissions)
        for new, answer in zip(submissions, answers, strict=True):
            if isinstance(answer, Queued):
                self.came.setdefault(new.id, (len(self.came), answer.received))
        self._die("after the submit")
        return answers

    def _die(self, where: str) -> None:
        if self.dies == where:
            raise Killed


class Darkness:
    """When nothing could come at its time, and why; true while that is so."""

    def __init__(self) -> None:
        self.why: Counter[str] = Counter()
        self._spans: list[list[int]] = []
        """Since and until when."""

    def __bool__(self) -> bool:
        return self.why.total() > 0

    def begin(self, why: str, now: int) -> None:
        if not self:
            self._spans.append([now, now])
        self.why[why] += 1

    def end(self, why: str, now: int) -> None:
        self.why[why] -= 1
        if not self:
            self._spans[-1][1] = now

    def between(self, since: int, now: int) -> int:
        """How long it was so since then, ms."""
        if self:
            self._spans[-1][1] = now
        return sum(max(0, until - max(begin, since)) for begin, until in self._spans)


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


class Month(TimedBench):
    """Matches, their plain clocks, two keepers, and everything that can happen to them.

    `lucky` leaves out what goes wrong with keepers, drains and clocks.
    """

    make_store = Fate
    mode = Mode.NONE  # nobody waits for a disk: no power is lost here
    store: Fate

    def __init__(
        self, client: Redis, seeds: Path, matches: int, seed: int = 1, *, lucky: bool = False
    ) -> None:
        super().__init__(client, seeds, SHAPE)
        self.figures: Counter[str] = Counter()
        self.chance = random.Random(seed)
        self._players = Players(self.chance)
        self._lucky = lucky
        self._matches = matches
        self._clocks = [PlainClock() for _ in range(matches + 1)]
        self._last = [(0, 0)] * (matches + 1)
        """Of each match, the place and the received time of the last command that was decided."""
        self._keepers = [self.keeper(), self.keeper()]
        self._happenings: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers_of_happenings = itertools.count()
        self._read = [0] * SHAPE.shards
        self.hears = True
        """Whether the plain clocks follow; not where the history goes another way than they know."""
        self._dark = Darkness()
        self._end = 0

    # time

    def run(self, days: int) -> None:
        """Let the players play for so many days, and the clocks go on until nothing is due."""
        self._end = BEGIN + days * DAY
        for board in range(1, self._matches + 1):
            begin = BEGIN + self.chance.randrange(3 * DAY)
            self._at(begin, lambda board=board: self._challenge(board))
        if not self._lucky:
            self._misfortunes()
        while self._happenings:
            self.now, _, happening = heapq.heappop(self._happenings)
            happening()
        self._check_end()

    def _at(self, when: int, what: Callable[[], None]) -> None:
        number = next(self._numbers_of_happenings)
        heapq.heappush(self._happenings, (max(when, self.now), number, what))

    def _after(self, wait: float, what: Callable[[], None]) -> None:
        self._at(self.now + int(wait), what)

    # players

    def _challenge(self, board: int) -> None:
        rules, options, players, gather = self.chance.choice(GAMES)
        terms = TERMS[board % len(TERMS)]
        seats = (ALICE, BOB, CAROL)[:players]
        start = StartMatch(rules=rules, options=options, seats=seats, gather=gather, terms=terms)
        if board % 5:
            self._say(board, ALICE, start)
        else:
            self._say(board, SERVER_ACCOUNT, self._elsewhere(replace(start, gather=False)))
        pace = self.chance.choice(PACES)
        self._after(self.chance.expovariate(1 / pace), lambda: self._play(board, pace))

    def _elsewhere(self, start: StartMatch) -> Command:
        """A match of a few moves on another server goes on here."""
        there = Match((ALICE, start))
        for _ in range(self.chance.randrange(9)):
            if there.state.next is not None:
                there.do(*self._players.move(there.state), 1_000 + DAY * there.state.ply // 9)
        source = MatchSource("document", "elsewhere/log/s00", 1, there.snapshot.head, 1, bytes(32))
        return import_command(there.state, start.seats, source)

    def _play(self, board: int, pace: int) -> None:
        state = self.state(board)
        if state.over or self.now > self._end:
            return
        if state.started:
            self._say(board, *self._players.act(state, self.now))
            if self.chance.random() < 0.15:
                self._lay(board)
        self._after(self.chance.expovariate(1 / pace), lambda: self._play(board, pace))

    def _move(self, board: int) -> None:
        state = self.state(board)
        if state.next is not None:
            self._say(board, *self._players.move(state))

    def _lay(self, board: int) -> None:
        ((data, laid),) = self.store.snapshots_with_conditional_moves([board])
        snapshot = unpack_snapshot(data)
        if snapshot.state.next is not None:
            more = pack(self._players.lay(snapshot.state, unpack(laid)))
            done = self.store.set_conditional_moves(board, snapshot.head, laid, more)
            self.figures["replies laid"] += done and more != laid

    def _say(self, board: int, actor: bytes, command: Command) -> None:
        """Submit a command as a front end does."""
        self.send(actor, command, board)
        self.figures["commands of players"] += 1
        self.lanes.request(SHAPE.lane_of(board))
        self.pump()

    # keepers and drains

    def _tick(self) -> None:
        if self._dark.why["keepers away"]:
            return
        for i in self.chance.sample(range(2), self.chance.choice([1, 2])):
            if not self._lucky and self.chance.random() < 0.03:
                self._keepers[i] = self.keeper()
                self.figures["keepers replaced"] += 1
            self.store.dies = self._fate(0.02, "after the submit")
            try:
                self._keepers[i].tick()
            except Killed:
                self._keepers[i] = self.keeper()
                self._died("keepers killed")
            self.store.dies = ""
            self.figures["ticks"] += 1
        self.pump()

    def pump(self) -> int:
        """Run the drains that were asked for, unless they are held."""
        done = 0
        while self.woken and not self._dark.why["drains held"]:
            done += self._drain(self.woken.pop())
        self._hear()
        return done

    def _drain(self, lane: Lane) -> int:
        fates = ("before the commit", "after the commit", "before it told the doors")
        fate = self._fate(0.04, *fates)
        client = DyingClient(self.client, 0) if fate == fates[-1] else self.client
        self.store.dies = fate
        try:
            return Drain(self.store, self.lanes, client, lane, seeds=self.seeds).run()  # type: ignore[arg-type]
        except Killed:
            self.client.delete(keys.lease(lane))  # as it ends by itself after three seconds
            self._died(f"drains killed {fate}")
            return 0
        finally:
            self.store.dies = ""

    def _fate(self, chance: float, *fates: str) -> str:
        if self._lucky or self.now > self._end or self.chance.random() > chance:
            return ""
        return self.chance.choice(fates)

    def _died(self, who: str) -> None:
        self.figures[who] += 1
        self._dark.begin("somebody died", self.now)
        self._after(SECOND, self._recover)

    def _recover(self) -> None:
        if self._dark.why["keepers away"]:  # only they know that a drain is wanted
            self._after(MINUTE, self._recover)
            return
        self._tick()
        self._dark.end("somebody died", self.now)
        self._tick()

    # misfortune

    def _misfortunes(self) -> None:
        self._again(20 * HOUR, "drains held", (SECOND, 3 * HOUR))
        self._again(5 * DAY, "drains held", (DAY, 2 * DAY))
        self._again(3 * DAY, "keepers away", (MINUTE, 12 * HOUR))
        self._again(4 * DAY, "clocks apart", (MINUTE, 5 * HOUR))

    def _again(self, every: int, what: str, lasts: tuple[int, int]) -> None:
        def happen() -> None:
            if self.now < self._end:
                self._suffer(what, self.chance.randrange(*lasts))
                self._again(every, what, lasts)

        self._after(self.chance.expovariate(1 / every), happen)

    def _suffer(self, what: str, lasts: int) -> None:
        self.figures[what] += 1
        self._dark.begin(what, self.now)
        if what == "clocks apart":
            self.ahead = self.chance.choice([HOUR, -HOUR, 61 * SECOND, -61 * SECOND])
            self._tick()
        self._after(lasts, lambda: self._relieve(what))

    def _relieve(self, what: str) -> None:
        self._dark.end(what, self.now)
        if not self._dark.why["clocks apart"]:
            self.ahead = 0
        self.pump()
        self._tick()

    # what is heard

    def _hear(self) -> None:
        if not self.hears:
            return
        for shard in self.store.next_leaves(dict(enumerate(self._read))):
            for index, leaf in self.store.leaves(shard, self._read[shard], 10_000):
                self._read[shard] = index + 1
                kind = msgspec.msgpack.decode(leaf)[0]
                if kind == "refused":
                    self._hear_refusal(decode_refusal(leaf))
                elif kind != "anchor":
                    self._hear_event(decode_event(leaf))

    def _in_order(self, board: int, command: CommandId, at: int) -> None:
        """A match's commands are decided in the order they came, by the times they came at."""
        came = self.store.came[command]
        assert came >= self._last[board], f"match {board}: what came before was decided after"
        assert at == came[1], f"match {board}: decided by {at}, received at {came[1]}"
        self._last[board] = came

    def _hear_event(self, envelope: EventEnvelope) -> None:
        clock, board = self._clocks[envelope.match], envelope.match
        self._in_order(board, envelope.command, envelope.at)
        before, known, flag = clock.due(), len(clock.kept), clock.flag()
        clock.hear(envelope)
        if isinstance(envelope.body, Moved) and flag is not None and self.now >= flag:
            self.figures["moves that were in the inbox before"] += 1
        self.figures[type(envelope.body).__name__.lower()] += 1
        self.figures["replies played"] += getattr(envelope.body, "queued", False)
        for kept in clock.kept[known:]:
            self._judge(kept)
        if clock.due() and clock.due() != before:
            self._expect(board, clock.due())
            self._brinkmanship(board, clock.flag())

    def _judge(self, kept: Kept) -> None:
        late = kept.at - kept.due
        dark = self._dark.between(kept.due, self.now)
        assert late - dark <= SECOND, f"{kept} is {late} ms late, of which {dark} ms are excused"
        when = "to the millisecond" if not late else "within the second" if not dark else "excused"
        self.figures[f"{kept.kind.__name__.lower()} {when}"] += 1

    def _hear_refusal(self, leaf: RefusedLeaf) -> None:
        who = "of the keepers'" if leaf.actor == SERVER_ACCOUNT else "of players'"
        self.figures[f"{who} refused as {leaf.code}"] += 1
        self._in_order(leaf.match, leaf.command, leaf.at)
        if leaf.actor != SERVER_ACCOUNT and leaf.code not in LATE:
            clock = self._clocks[leaf.match]
            clock.refused(leaf.at, as_late=leaf.code == Code.TIME_OVER)

    def _expect(self, board: int, when: int) -> None:
        """Look before it is due, when it is, and afterwards."""
        wait = self.chance.choice([0, 0, self.chance.randrange(SECOND)])
        self._at(when - 1, self._tick)
        self._at(when + wait, self._tick)
        self._at(when + SECOND, lambda: self._check(board, when))

    def _check(self, board: int, when: int) -> None:
        self._tick()
        if not self._dark and not self._dark.between(when, self.now):
            assert self._clocks[board].due() != when, f"what was due at {when} has not come"

    def _brinkmanship(self, board: int, flag: int | None) -> None:
        """Have a player move at the last moment, or at the first that is too late."""
        if flag is None or flag > self._end or self.chance.random() > 0.4:
            return
        if not self._lucky and self.chance.random() < 0.6:
            lasts = self.chance.choice([5, 700, 90 * SECOND, HOUR])
            self._at(flag - 2, lambda: self._suffer("drains held", lasts))
        self._at(flag + self.chance.choice([-1, -1, 0, 1]), lambda: self._move(board))

    # the end

    def _check_end(self) -> None:
        for _ in range(3):
            self.now += SECOND
            self._tick()
        assert self.waits() == 0
        assert not self._dark
        dues = self._dues()
        for board in range(1, self._matches + 1):
            state = verify(board, self.store.events(board)).state
            clock = self._clocks[board]
            assert next_due(state) == clock.due() == dues.pop(board, 0)
            assert not 0 < clock.due() <= self.now
            assert state.over == clock.over
            self._check_once(board, state)
        assert dues == {}
        assert dict(damaged_matches(self.store, range(1, self._matches + 1))) == {}
        self.figures["matches over"] = sum(clock.over for clock in self._clocks)
        self.figures["days"] = (self.now - BEGIN) // DAY

    def _dues(self) -> dict[int, int]:
        found = {}
        for shard in range(SHAPE.shards):
            rows = self.client.zrange(keys.due(shard), 0, -1, withscores=True)
            found |= {int(board): int(score) for board, score in rows}  # type: ignore[union-attr]
        return found

    def _check_once(self, board: int, state: MatchState) -> None:
        """Each command has led to its events once, and nothing is laid ready where it is over."""
        groups = [key for key, _ in itertools.groupby(self._commands(board))]
        assert len(groups) == len(set(groups))
        ((_, laid),) = self.store.snapshots_with_conditional_moves([board])
        assert not (state.over and laid)

    def _commands(self, board: int) -> list[bytes]:
        return [decode_event(data).command for data in self.store.events(board)]
