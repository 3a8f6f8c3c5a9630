"""The drain: takes the steps of `workers.commands.core` for a lane, as long as commands wait there.

One batch crosses all shards of the lane, so that few fsyncs serve everything that waits. A large batch
is committed in chunks, and while one is committed the next is decided. An entry stays in its inbox until
its outcome is committed; killing a drain at any point loses nothing:

- before the commit: the entries are read again by the next drain;
- after the commit: the next drain finds nothing, and the senders find the stored outcomes;
- paused and overtaken: the heads it decided on are no longer the matches', so it writes nothing.

The quarantine of commands that may kill the worker.

A command is a *suspect* if deciding it raised, or if a drain that died had read it. Suspects are
decided one at a time, each attempt is counted before it is made, and after `TRIES` attempts the
command is refused. A sender that repeats a command has it in the inbox more than once, so the
command is the suspect and not the entry: the repetitions of a refused command are not tried. A command
id is unique in its match only, because a sender may use it for another match, too.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from operator import itemgetter
from struct import Struct
from typing import Final, NamedTuple, Self

import redis

from domain.aggregates import Decider
from domain.match.decide import decide
from domain.match.decision import INTERNAL, Rejection
from domain.records import AccountId, CommandId
from infra.durability.durability_watch import DurabilityWatch
from infra.process.failpoints import failpoint
from infra.process.metrics import count_commit, count_decisions
from infra.redis.keys import Lane
from infra.store.leases import LaneLeases
from infra.store.log_gate import LogGate
from infra.store.outcomes import CommandOutcome
from infra.store.port import (
    CommitClosed,
    CommitDone,
    CommitResult,
    CommitUnderWay,
    LogCutOff,
    NotDurable,
    Store,
    Write,
)
from infra.store.seed_chains import SeedChains
from workers.commands.core import CommandLoop, Decided
from workers.commands.handle import CommandHandler, StartContexts, Task, Undecided
from workers.commands.outcome_publisher import OutcomePublisher
from workers.leased_run import LeasedRun

logger = logging.getLogger(__name__)

TRIES: Final = 3
"""Counted attempts at a suspect before it is refused as `internal`."""


class Suspect(NamedTuple):
    """Which command it is."""

    match: int
    command: CommandId


def suspect(task: Task) -> Suspect:
    """Return which command a task has."""
    return Suspect(task.sent.match, task.sent.id)


class Suspects:
    """The suspects of one drain; the store counts the attempts at them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting: set[Suspect] = set()
        """Those that have no outcome yet."""

    def __contains__(self, task: Task) -> bool:
        return bool(self.waiting) and suspect(task) in self.waiting

    def add(self, tasks: Sequence[Task]) -> None:
        """Decide these commands one at a time from now on."""
        self.waiting.update(map(suspect, tasks))

    def discard(self, match: int, command: CommandId) -> None:
        """Drop a command, because it has an outcome."""
        if self.waiting:
            self.waiting.discard(Suspect(match, command))

    def count_attempt(self, task: Task) -> Rejection | None:
        """Count an attempt before it is made, because it may kill the process.

        Returns the rejection to write instead if there were too many.
        """
        if self._store.outcome(task.sent.match, task.sent.id) is not None:
            # a repetition: the commit finds the stored outcome, and writes nothing
            return INTERNAL
        tries = self._store.count_attempt(task.entry.shard, task.entry.id)
        failpoint("drain.counted")
        if tries > TRIES:
            logger.error("command %s is refused after %d attempts", task.sent.id.hex(), TRIES)
            return INTERNAL
        return None

    def forgive(self, task: Task) -> None:
        """Reset the count: deciding went well, and a failure of the commit is the server's fault."""
        self._store.reset_attempts(task.entry.shard, task.entry.id)


BATCH: Final = 1024
"""About how many commands are read together."""

CHUNK: Final = 128
"""Commands that are committed together while the next are decided."""

SMALL_BACKLOG: Final = 64
"""If at most this many commands wait, they are committed in small batches."""

SMALL_BATCH: Final = 32
"""Commands of a small batch: senders hear of it, and send more, while the next is decided."""

_MARKED: Final = Struct(">Q16s")
"""A match and a command id in a mark."""

SUSPECTS: Final = 16
"""Suspects that are decided before other commands have their turn."""

POSTPONE_SECONDS: Final = 1.0
"""Until a command that could not be decided for now is tried again."""

_RELEASED: Final = b"r"
"""First byte of the mark that a drain leaves which releases its lane with suspects left."""

_AT_WORK: Final = b"w"
"""First byte of the mark of a drain that began a large batch."""


class _ChunkCommits:
    """Commits the chunks of a batch, each after the one before; left by an error, it waits for the last.

    Two at a time could overtake each other at the server, and so would the commands of a match.
    """

    def __init__(self, begin: Callable[[Sequence[Write]], CommitUnderWay]) -> None:
        self._begin = begin
        self._under_way: CommitUnderWay | None = None
        self.results: list[CommitResult] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(redis.RedisError, NotDurable):
            self.wait()

    def begin(self, writes: Sequence[Write]) -> None:
        """Begin to commit a chunk, after the one before is committed."""
        self.wait()
        self._under_way = self._begin(writes)

    def wait(self) -> None:
        """Wait until all that was begun is committed."""
        committed, self._under_way = self._under_way, None
        if committed:
            self.results += committed()


class Drain:
    """Drains one lane; `queue` publishes the outcomes, `stopping` asks the drain to end early.

    `data` has the accounts, if that is another server than `queue`'s. `linger` is how many seconds the
    drain waits for more commands.
    """

    def __init__(  # noqa: PLR0913 - one for each dependency
        self,
        store: Store,
        lanes: LaneLeases,
        queue: redis.Redis,
        lane: Lane,
        stopping: Callable[[], bool] = lambda: False,
        decider: Decider = decide,
        *,
        seeds: SeedChains | None = None,
        data: redis.Redis | None = None,
        linger: float = 0.0,
        durability: DurabilityWatch | None = None,
        gate: LogGate | None = None,
    ) -> None:
        shape = store.layout()
        self._store = store
        self._lane = lane
        self._shards = lane.shards(shape.shards)
        self._gate = gate
        contexts = StartContexts(seeds, queue if data is None else data, gate)
        self._handler = CommandHandler(store, contexts, decider)
        self._publisher = OutcomePublisher(queue)
        self._loop = CommandLoop(store, self._handler, self._publisher)
        self._suspects = Suspects(store)
        may_run = durability.check if durability else lambda: True
        self._run = LeasedRun("drain", lanes, lane, stopping, linger=linger, may_run=may_run)
        self._postponed: set[int] = set()
        """Matches with a command that can't be decided for now."""
        self._try_again = 0.0
        """When their commands are tried again, by the monotonic clock."""
        self._lingers = linger > 0
        self._is_alone = False
        """Whether the last batch was the only command that waited, so that the next comes with a wake-up."""
        self._left = 0
        """Commands of those matches among what was last read."""
        self.batches = 0
        """How many batches were committed."""

    def run(self) -> int:
        """Drain until the lane is empty, and return the number of outcomes."""
        return self._run.run(self)

    @property
    def seconds(self) -> float:
        """Return how long the drain has run."""
        return self._run.seconds

    def recover(self, mark: bytes) -> None:
        """Suspect what the drain before had read, because it may have died of it.

        Its small batches were the first in turn; of a large one the mark has the commands.
        """
        tasks = self._loop.read(self._store.read_inbox(self._shards, BATCH))
        released, marked = _read_mark(mark)
        ordered = sorted(tasks, key=_age)
        # commands that came since may have changed the turns
        first = [] if released else [*ordered[:SMALL_BATCH], *_in_turn(ordered)[:SMALL_BATCH]]
        commands_read = marked | set(map(suspect, first))
        suspects = [task for task in tasks if suspect(task) in commands_read]
        if suspects:
            logger.warning(
                "lane %s: the drain before %s; commands now worked one by one: %d",
                self._lane,
                "left suspects" if released else "was cut off",
                len(suspects),
            )
        self._suspects.add(suspects)

    def step(self) -> int | None:
        """Read what waits, decide and commit a batch, and publish it; return how many outcomes."""
        if self._is_alone:
            self._is_alone = False
            return None
        if self._postponed and time.monotonic() >= self._try_again:
            self._postponed.clear()
        # more in each shard than are postponed, because they must not hide those that came after them
        count = BATCH + 2 * self._left * len(self._shards)
        entries = self._store.read_inbox(self._shards, count)
        tasks = self._loop.read(entries)
        closed = self._gate.closed_among({entry.shard for entry in entries}) if self._gate else ()
        waiting = [
            task
            for task in tasks
            if task.sent.match not in self._postponed and task.entry.shard not in closed
        ]
        before, self._left = self._left, len(tasks) - len(waiting)
        if not waiting:
            # further commands may be behind those that are left or were set aside
            return 0 if self._left > before or len(tasks) < len(entries) else None
        failpoint("drain.read")
        done = self._work(_next_batch(waiting))
        self._publisher.publish()
        self._is_alone = self._lingers and done == len(entries) == 1
        return done

    def finish(self) -> bytes:
        """Return a mark with the suspects that the next drain has to work one by one."""
        waiting = self._suspects.waiting
        return _mark(waiting, released=True) if waiting else b""

    def has_more(self) -> bool:
        """Return whether commands wait that can be decided; for the others the scheduler asks."""
        if not self._left:
            return bool(self._store.read_inbox(self._shards, 1))
        return self._store.inbox_size(self._shards) > self._left

    def _work(self, tasks: Sequence[Task]) -> int:
        """Work on commands, the suspects first and each alone; return the number of outcomes."""
        suspects = [task for task in tasks if task in self._suspects]
        blocked_matches: set[int] = set()
        done = 0
        for task in suspects[:SUSPECTS]:
            if task.sent.match in blocked_matches:
                continue
            if not self._run.renew(now=True):
                return done
            self._publisher.publish()
            verdict = self._suspects.count_attempt(task)
            done += self._run_batch([task], blocked_matches, verdict)
            if self._run.is_over:
                return done
        # what waits behind a suspect of its own match keeps its place
        blocked_matches.update(task.sent.match for task in suspects)
        return done + self._run_batch(tasks, blocked_matches)

    def _run_batch(
        self,
        tasks: Sequence[Task],
        blocked_matches: set[int],
        verdict: Rejection | None = None,
    ) -> int:
        """Decide commands in order, or give all the same verdict, and commit them.

        Commands of blocked matches are left out; a command that can't be decided blocks its match.
        While a chunk is committed the next is decided, as if everything in it will be written: if it is
        not, the commands after it conflict, because they were decided on another head. Returns the
        number of outcomes.
        """
        tasks = [task for task in tasks if task.sent.match not in blocked_matches]
        if not tasks:
            return 0
        if len(tasks) > SMALL_BATCH:
            may_kill = self._suspects.waiting.union(map(suspect, tasks))
            self._run.write_mark(_mark(may_kill, released=False))
        self._handler.load({task.sent.match for task in tasks})
        failpoint("drain.loaded")
        decided: list[Decided] = []
        with _ChunkCommits(self._begin_commit) as commits:
            for start in range(0, len(tasks), CHUNK):
                chunk = self._decide(tasks[start : start + CHUNK], blocked_matches, verdict)
                if chunk:
                    self._handler.record_seeds()
                    decided += chunk
                    commits.begin([one.write for one in chunk])
            # while the last chunk is committed
            known = len(commits.results)
            done = self._add_all(decided[:known], commits.results)
            commits.wait()
        done += self._add_all(decided[known:], commits.results[known:])
        if not decided:
            return 0
        self._handler.remember(
            (one.write, result) for one, result in zip(decided, commits.results, strict=True)
        )
        self.batches += 1
        return done

    def _decide(
        self, tasks: Sequence[Task], blocked_matches: set[int], verdict: Rejection | None
    ) -> list[Decided]:
        """Decide commands in order, or give all the same verdict; what can't be decided is left."""
        decided = []
        for task, one in self._loop.decide(tasks, blocked_matches, verdict):
            if isinstance(one, Undecided):
                self._leave(task, one)
                continue
            if verdict is None and task in self._suspects:
                self._suspects.forgive(task)
            decided.append(one)
        failpoint("drain.decided")
        return decided

    def _begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        began = time.perf_counter()
        results = self._loop.begin_commit(writes)

        def committed() -> list[CommitResult]:
            found = results()
            count_commit(len(writes), time.perf_counter() - began)
            failpoint("drain.committed")
            return found

        return committed

    def _add_all(self, decided: Sequence[Decided], results: Sequence[CommitResult]) -> int:
        """Add the outcomes that are known to the next messages, and count them; return how many there are."""
        done = 0
        decisions: Counter[tuple[str, str]] = Counter()
        for one, result in zip(decided, results, strict=True):
            outcome = self._add(one, result)
            if outcome is not None:
                done += 1
                if isinstance(result, CommitDone):
                    decisions[one.kind, outcome.code] += 1
        for (kind, code), times in decisions.items():
            count_decisions(kind, code, times)
        return done

    def _add(self, decided: Decided, result: CommitResult) -> CommandOutcome | None:
        """Add an outcome to the next messages; return None if there is none."""
        write = decided.write
        outcome = self._loop.add(decided, result)
        if outcome is None:
            if self._gate and isinstance(result, LogCutOff):
                self._gate.close(write.shard, result.end)
            elif self._gate and isinstance(result, CommitClosed):
                self._gate.note_closed(write.shard)
            return None
        self._suspects.discard(write.board, write.id)
        if self._gate and isinstance(result, CommitDone):
            end = outcome.index + len(write.leaves)
            self._gate.note_commit(write.shard, outcome.index, end)
        return outcome

    def _leave(self, task: Task, why: Undecided) -> None:
        """Leave a command in its inbox, and with it those of its match that came later."""
        if why is Undecided.FAILED:
            self._suspects.add([task])
            return
        self._postponed.add(task.sent.match)
        self._try_again = time.monotonic() + POSTPONE_SECONDS
        if task in self._suspects:
            # not the command's fault, so it is never refused for it
            self._suspects.forgive(task)


def _next_batch(tasks: list[Task]) -> list[Task]:
    """Return the commands to commit together: a large backlog whole, of a small one the oldest.

    With a small backlog committed whole, senders and drain would wait for each other in turn: the
    senders would hear all outcomes at one moment, and send all their commands at another.
    """
    if len(tasks) > SMALL_BACKLOG:
        return tasks
    return _in_turn(sorted(tasks, key=_age))[:SMALL_BATCH]


def _in_turn(tasks: Sequence[Task]) -> list[Task]:
    """Return commands with the first of each account first, then the second of each, and so on.

    So an account that sends many holds up nobody else. The commands of a match keep their order.
    """
    sent: Counter[AccountId] = Counter()
    turns: dict[int, int] = {}
    ranked = []
    for task in tasks:
        account, match = task.sent.actor, task.sent.match
        turns[match] = max(sent[account], turns.get(match, 0))
        sent[account] += 1
        ranked.append((turns[match], task))
    return [task for _, task in sorted(ranked, key=itemgetter(0))]


def _age(task: Task) -> tuple[int, ...]:
    """Return when a command came, by the server's id for its entry, which never decreases in a shard."""
    return tuple(map(int, task.entry.id.split("-")))


def _mark(suspects: Collection[Suspect], *, released: bool) -> bytes:
    """Return a mark with commands for the next drain."""
    return (_RELEASED if released else _AT_WORK) + b"".join(_MARKED.pack(*one) for one in suspects)


def _read_mark(mark: bytes) -> tuple[bool, set[Suspect]]:
    """Return whether the drain released its lane, and the commands of its mark."""
    pairs = mark[1:]
    whole = pairs[: len(pairs) // _MARKED.size * _MARKED.size]
    return mark[:1] == _RELEASED, {Suspect(*pair) for pair in _MARKED.iter_unpack(whole)}
