"""The drain: reads the inboxes of a lane, commits what is decided, and publishes the outcomes.

One batch crosses all shards of the lane, so that one fsync serves everything that waits. An entry
stays in its inbox until its outcome is committed; killing a drain at any point loses nothing:

- before the commit: the entries are read again by the next drain;
- after the commit: the next drain finds nothing, and the senders find the stored outcomes;
- paused and overtaken: the heads it decided on are no longer the matches', so it writes nothing.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final
from uuid import uuid4

import msgspec
import redis

from domain.match import commands
from domain.match.decide import Rejected, decide
from infra.announce import Told, announce, messages
from infra.faults import point
from infra.keys import shards_of
from infra.lanes import Lanes, Taken
from infra.seeds import Seeds
from infra.store.port import Conflict, Entry, Store
from workers.commands.handle import CommandHandler, Decider, Task
from workers.commands.start_context import StartContexts
from workers.commands.suspects import Suspects

logger = logging.getLogger(__name__)

BATCH: Final = 512
"""About how many commands are committed together."""

SMALL_BACKLOG: Final = 64
"""If no more commands than this wait, they are committed in small batches."""

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
        lanes: Lanes,
        client: redis.Redis,
        lane: int,
        stopping: Callable[[], bool] = lambda: False,
        decider: Decider = decide,
        *,
        seeds: Seeds | None = None,
        data: redis.Redis | None = None,
    ) -> None:
        shape = store.shape()
        self._store = store
        self._lanes = lanes
        self._client = client
        self._lane = lane
        self._shards = list(shards_of(lane, shape.lanes, shape.shards))
        self._contexts = StartContexts(seeds, client if data is None else data)
        self._handler = CommandHandler(store, self._contexts, decider)
        self._suspects = Suspects(store)
        self._stopping = stopping
        self._token = uuid4().hex
        self._renewed = 0.0
        """When the lease was last renewed, by the monotonic clock."""
        self._to_publish: dict[str, list[Told]] = {}
        """Committed outcomes, by the channels on which their senders listen."""

    def run(self) -> int:
        """Drain until the lane is empty, and return the number of outcomes.

        After `RUN_SECONDS`, or when the process is stopping, the rest is left to the next drain,
        which is requested.
        """
        point("drain.started")
        taken = self._lanes.take(self._lane, self._token)
        if taken is Taken.BUSY:
            return 0
        point("drain.taken")
        if taken is Taken.EXPIRED:
            self._suspect_backlog()
        done = self._drain_until(time.monotonic() + RUN_SECONDS)
        self._publish()
        # release first, look afterwards: see infra.lanes
        released = self._lanes.leave(self._lane, self._token)
        point("drain.released")
        if released and self._store.depth(self._shards):
            self._lanes.want(self._lane)
        point("drain.left")
        return done

    def _suspect_backlog(self) -> None:
        """Suspect everything that waits, because the drain before may have died of it."""
        entries = self._store.waiting(self._shards, BATCH)
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
            entries = self._read_inbox()
            if not entries:
                break
            point("drain.read")
            done += self._work(self._read_tasks(_next_batch(entries)))
            if self._stopping() or time.monotonic() > end:
                break
        return done

    def _renew_lease(self) -> bool:
        """Keep the lease; return False if another drain has it.

        Not done for each batch, because it is a write, and so a sync of the server. In between the
        heads that a commit compares keep a drain that was overtaken from writing anything.
        """
        now = time.monotonic()
        if now - self._renewed < RENEW_SECONDS:
            return True
        self._renewed = now
        return self._lanes.renew(self._lane, self._token)

    def _read_inbox(self) -> list[Entry]:
        """Publish the outcomes and wait for more commands, in one round trip."""
        outcomes, self._to_publish = self._to_publish, {}
        entries = self._store.waiting(self._shards, BATCH, BLOCK_MS, messages(outcomes))
        if outcomes:
            point("drain.announced")
        return entries

    def _publish(self) -> None:
        """Publish the outcomes now, because it may take long until the next `_read_inbox`."""
        if self._to_publish:
            announce(self._client, self._to_publish)
            self._to_publish = {}
            point("drain.announced")

    def _read_tasks(self, entries: Sequence[Entry]) -> list[Task]:
        return [task for entry in entries if (task := self._read_task(entry))]

    def _read_task(self, entry: Entry) -> Task | None:
        try:
            return Task(entry, commands.decode(entry.payload))
        except msgspec.MsgspecError:
            logger.exception(
                "ALARM: inbox entry %s of shard %d can't be decoded; it is set aside",
                entry.id,
                entry.shard,
            )
            self._store.set_aside(entry)
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
        verdict: Rejected | None = None,
    ) -> int:
        """Decide commands in order, or give all the same verdict, and commit them.

        Commands of blocked matches are left out; a command that can't be decided blocks its match.
        Returns the number of outcomes.
        """
        tasks = [task for task in tasks if task.sent.match not in blocked_matches]
        if not tasks:
            return 0
        self._handler.load({task.sent.match for task in tasks})
        point("drain.loaded")
        writes, channels = [], []
        for task in tasks:
            if task.sent.match in blocked_matches:
                continue
            write = self._handler.handle(task, verdict)
            if write is None:
                self._suspects.add([task])
                blocked_matches.add(task.sent.match)
                continue
            if verdict is None and task in self._suspects:
                self._suspects.forgive(task)
            writes.append(write)
            channels.append(task.entry.reply_to)
        point("drain.decided")
        if not writes:
            return 0
        self._contexts.record_seeds()
        results = self._store.commit(writes)
        point("drain.committed")
        self._handler.remember(zip(writes, results, strict=True))
        done = 0
        for write, channel, result in zip(writes, channels, results, strict=True):
            if not isinstance(result, Conflict):
                self._to_publish.setdefault(channel, []).append((write.id, result.stored))
                done += 1
        return done


def _next_batch(entries: list[Entry]) -> list[Entry]:
    """Return the commands to commit together: a large backlog whole, of a small one the oldest.

    With a small backlog committed whole, senders and drain would wait for each other in turn: the
    senders would hear all outcomes at one moment, and send all their commands at another.
    """
    if len(entries) > SMALL_BACKLOG:
        return entries
    return sorted(entries, key=_age)[:SMALL_BATCH]


def _age(entry: Entry) -> tuple[int, ...]:
    """Return when an entry came, by the server's id for it, which never decreases in a shard."""
    return tuple(map(int, entry.id.split("-")))
