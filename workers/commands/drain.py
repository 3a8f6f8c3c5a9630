"""The drain: reads the inboxes of a lane, commits what is decided, and publishes the outcomes.

One batch crosses all shards of the lane, so that one fsync serves everything that waits. An entry
stays in its inbox until its outcome is committed; killing a drain at any point loses nothing:

- before the commit: the entries are read again by the next drain;
- after the commit: the next drain finds nothing, and the senders find the stored outcomes;
- paused and overtaken: the heads it decided on are no longer the matches', so it writes nothing.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final
from uuid import uuid4

import msgspec
import redis

from domain.match import commands
from domain.match.decide import Rejection, decide
from domain.match.events import AccountId
from infra.durability_watch import DurabilityWatch
from infra.failpoints import failpoint
from infra.redis.keys import shards_of
from infra.seed_chains import SeedChains
from infra.store.leases import LaneLeases, LeaseResult
from infra.store.outcome_pubsub import OutcomeMessage, encode, publish
from infra.store.port import CommitConflict, InboxEntry, Store
from workers.commands.handle import CommandHandler, Decider, Task, Undecided
from workers.commands.start_context import StartContexts
from workers.commands.suspects import Suspects

logger = logging.getLogger(__name__)

BATCH: Final = 512
"""About how many commands are committed together."""

SMALL_BACKLOG: Final = 64
"""If at most this many commands wait, they are committed in small batches."""

SMALL_BATCH: Final = 16
"""Commands of a small batch: senders hear of it, and send more, while the next is decided."""

BLOCK_MS: Final = 100
"""How long a drain waits for more commands before it ends."""

RUN_SECONDS: Final = 5.0
"""How long a drain runs before it makes room for RQ's own business."""

RENEW_SECONDS: Final = 0.5
"""How often the lease is renewed, which lasts several times as long."""


class Drain:
    """Drains one lane; `client` publishes the outcomes, `stopping` asks the drain to end early.

    `data` has the accounts, if that is another server than `client`'s.
    """

    def __init__(  # noqa: PLR0913 - one for each dependency
        self,
        store: Store,
        lanes: LaneLeases,
        client: redis.Redis,
        lane: int,
        stopping: Callable[[], bool] = lambda: False,
        decider: Decider = decide,
        *,
        seeds: SeedChains | None = None,
        data: redis.Redis | None = None,
        durability: DurabilityWatch | None = None,
    ) -> None:
        shape = store.layout()
        self._store = store
        self._lanes = lanes
        self._client = client
        self._lane = lane
        self._shards = list(shards_of(lane, shape.lanes, shape.shards))
        self._contexts = StartContexts(seeds, client if data is None else data)
        self._handler = CommandHandler(store, self._contexts, decider)
        self._suspects = Suspects(store)
        self._stopping = stopping
        self._durability = durability
        self._token = uuid4().hex
        self._renewed = 0.0
        """When the lease was last renewed, by the monotonic clock."""
        self._postponed: set[int] = set()
        """Matches with a command that can't be decided for now; the next drain tries it again."""
        self._left = 0
        """Commands of those matches among what was last read."""
        self._to_publish: dict[str, list[OutcomeMessage]] = {}
        """Committed outcomes, by the channels on which their senders listen."""

    def run(self) -> int:
        """Drain until the lane is empty, and return the number of outcomes.

        After `RUN_SECONDS`, or when the process is stopping, the rest is left to the next drain,
        which is requested.
        """
        failpoint("drain.started")
        taken = self._lanes.acquire(self._lane, self._token)
        if taken is LeaseResult.BUSY:
            return 0
        failpoint("drain.taken")
        if taken is LeaseResult.EXPIRED:
            self._suspect_backlog()
        done = self._drain_until(time.monotonic() + RUN_SECONDS)
        self._publish()
        # release first, look afterwards: see infra.store.leases
        released = self._lanes.release(self._lane, self._token)
        failpoint("drain.released")
        # for commands that only wait the scheduler requests a drain, once a second
        if released and self._store.inbox_size(self._shards) > self._left:
            self._lanes.request_drain(self._lane)
        failpoint("drain.left")
        return done

    def _suspect_backlog(self) -> None:
        """Suspect everything that waits, because the drain before may have died of it."""
        entries = self._store.read_inbox(self._shards, BATCH)
        if entries:
            logger.warning(
                "lane %d: the drain before was cut off; commands now worked one by one: %d",
                self._lane,
                len(entries),
            )
        self._suspects.add(self._read_tasks(entries))

    def _drain_until(self, end: float) -> int:
        done = 0
        while self._renew_lease():
            tasks = self._read_tasks(self._read_inbox())
            waiting = [task for task in tasks if task.sent.match not in self._postponed]
            before, self._left = self._left, len(tasks) - len(waiting)
            if not waiting and self._left > before:
                continue  # further commands may be behind those that are left
            if not waiting:
                break
            failpoint("drain.read")
            done += self._work(_next_batch(waiting))
            if self._stopping() or time.monotonic() > end:
                break
        return done

    def _renew_lease(self) -> bool:
        """Keep the lease; return False if another drain has it, or nothing can be kept now.

        Not done for each batch, because it is a write, and so a sync of the server. In between the
        heads that a commit compares keep a drain that was overtaken from writing anything.
        """
        now = time.monotonic()
        if now - self._renewed < RENEW_SECONDS:
            return True
        self._renewed = now
        if self._durability is not None and not self._durability.check():
            return False
        return self._lanes.renew(self._lane, self._token)

    def _read_inbox(self) -> list[InboxEntry]:
        """Publish the outcomes and wait for more commands, in one round trip."""
        outcomes, self._to_publish = self._to_publish, {}
        # more in each shard than are left, because they must not hide those that came after them
        count = BATCH + 2 * self._left * len(self._shards)
        entries = self._store.read_inbox(self._shards, count, BLOCK_MS, encode(outcomes))
        if outcomes:
            failpoint("drain.announced")
        return entries

    def _publish(self) -> None:
        """Publish the outcomes now, because it may take long until the next `_read_inbox`."""
        if self._to_publish:
            publish(self._client, self._to_publish)
            self._to_publish = {}
            failpoint("drain.announced")

    def _read_tasks(self, entries: Sequence[InboxEntry]) -> list[Task]:
        return [task for entry in entries if (task := self._read_task(entry))]

    def _read_task(self, entry: InboxEntry) -> Task | None:
        try:
            return Task(entry, commands.decode_command(entry.payload))
        except msgspec.MsgspecError:
            logger.exception(
                "ALARM: inbox entry %s of shard %d can't be decoded; it is set aside",
                entry.id,
                entry.shard,
            )
            self._store.dead_letter(entry)
            return None

    def _work(self, tasks: Sequence[Task]) -> int:
        """Work on commands, the suspects first and each alone; return the number of outcomes."""
        suspects = [task for task in tasks if task in self._suspects]
        blocked_matches: set[int] = set()
        done = 0
        for task in suspects:
            if task.sent.match not in blocked_matches:
                done += self._retry_suspect(task, blocked_matches)
        # what waits behind a suspect of its own match keeps its place
        blocked_matches.update(task.sent.match for task in suspects)
        return done + self._run_batch(tasks, blocked_matches)

    def _retry_suspect(self, task: Task, blocked_matches: set[int]) -> int:
        self._publish()
        self._lanes.renew(self._lane, self._token)
        verdict = self._suspects.count_attempt(task)
        return self._run_batch([task], blocked_matches, verdict)

    def _run_batch(
        self,
        tasks: Sequence[Task],
        blocked_matches: set[int],
        verdict: Rejection | None = None,
    ) -> int:
        """Decide commands in order, or give all the same verdict, and commit them.

        Commands of blocked matches are left out; a command that can't be decided blocks its match.
        Returns the number of outcomes.
        """
        tasks = [task for task in tasks if task.sent.match not in blocked_matches]
        if not tasks:
            return 0
        self._handler.load({task.sent.match for task in tasks})
        failpoint("drain.loaded")
        writes, channels = [], []
        for task in tasks:
            if task.sent.match in blocked_matches:
                continue
            write = self._handler.handle(task, verdict)
            if isinstance(write, Undecided):
                self._leave(task, write)
                blocked_matches.add(task.sent.match)
                continue
            if verdict is None and task in self._suspects:
                self._suspects.forgive(task)
            writes.append(write)
            channels.append(task.entry.reply_to)
        failpoint("drain.decided")
        if not writes:
            return 0
        self._contexts.record_seeds()
        results = self._store.commit(writes)
        failpoint("drain.committed")
        self._handler.remember(zip(writes, results, strict=True))
        done = 0
        for write, channel, result in zip(writes, channels, results, strict=True):
            if not isinstance(result, CommitConflict):
                self._to_publish.setdefault(channel, []).append((write.id, result.stored))
                done += 1
        return done

    def _leave(self, task: Task, why: Undecided) -> None:
        """Leave a command in its inbox, and with it those of its match that came later."""
        if why is Undecided.FAILED:
            self._suspects.add([task])
            return
        self._postponed.add(task.sent.match)
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
