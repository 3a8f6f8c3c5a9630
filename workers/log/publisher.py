"""The publisher: writes what is new in all logs to the object store, at most once in an interval.

A shard whose data and published log contradict each other stops, with an alarm; the others go on.
Nothing here is on the path of a move.

Publishes the leaves of one shard, after proving that they continue what is published.
"""

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from redis.exceptions import OutOfMemoryError

from domain.match.history import without_last_command
from infra.audit.log import first_difference
from infra.log.key_files import LogKeyError, LogKeys
from infra.log.log_writer import LogWriter
from infra.log.names import shard_key
from infra.log.published_log import LogDamagedError
from infra.log.signed_note import NoteError
from infra.objects.port import (
    ObjectChangedError,
    ObjectDiffersError,
    ObjectStore,
    ObjectStoreError,
)
from infra.process.failpoints import failpoint
from infra.store.channels import LogListener
from infra.store.closed_shards import ClosedShard, forked, rolled_back
from infra.store.port import NotDurable, Store
from infra.store.watermarks import PublishedSize, PublishedSizes
from workers.log.restore import LogRecovery

Rows = Sequence[tuple[int, bytes]]
"""Leaves, each with its index."""


class ForkError(Exception):
    """The data do not continue what is published; the message is a sentence."""


class ClosingError(ForkError):
    """The data lack published leaves, or have another history: the shard takes no command."""

    def __init__(self, why: ClosedShard) -> None:
        super().__init__(why.reason)
        self.why = why


class ShardPublisher:
    """Publishes a shard from where its checkpoint ends; make a new one after any error.

    Call `compare` with the leaves from `overlap` on before anything is published.
    """

    def __init__(self, writer: LogWriter, sizes: PublishedSizes) -> None:
        writer.load()
        self._writer = writer
        self._sizes = sizes

    @property
    def size(self) -> int:
        """Return the published size."""
        return self._writer.size

    @property
    def overlap(self) -> int:
        """Return the index of the first published leaf that is compared with the data."""
        return self.size - len(self._writer.recent)

    def compare(self, rows: Rows, data: PublishedSize, queue: PublishedSize) -> None:
        """Compare the last published leaves with those in the data; `ForkError` if they differ.

        `data` and `queue` are the records of the two servers.
        """
        shard, size = self._writer.shard, self.size
        if size < (most := max(data.size, queue.size)):
            raise ForkError(
                f"shard {shard}: {most} leaves were published, and the object store has a checkpoint of "
                f"{size}: it is another store, or an older copy of it"
            )
        if (data.size, queue.size) != (size, size):
            # before the comparison, because drains have to know it where the data lack leaves
            self._record()
        if size and (not rows or rows[-1][0] < size - 1):
            raise ClosingError(rolled_back(shard, size, rows[-1][0] + 1 if rows else None))
        other = first_difference(rows, self._writer.recent, self.overlap)
        if other is not None:
            raise ClosingError(forked(shard, other))
        if not self._writer.has_checkpoint:
            # so that clients can tell an empty log from none
            self._writer.append([])
        if data.fault:
            self._record()

    def publish(self, rows: Rows) -> int:
        """Publish the leaves that follow, and return how many; `ForkError` if one is missing."""
        for expected, (index, _) in enumerate(rows, self.size):
            if index != expected:
                raise ForkError(
                    f"shard {self._writer.shard}: leaf {expected} is missing in the data and is not "
                    "published"
                )
        if rows:
            self._writer.append([leaf for _, leaf in rows])
            self._record()
        return len(rows)

    def _record(self) -> None:
        self._sizes.record(self._writer.shard, self._writer.size, self._writer.root)
        failpoint("publish.recorded")


logger = logging.getLogger(__name__)

BATCH: Final = 4_096
"""Most leaves of a shard that one checkpoint adds."""

LOOK_SECONDS: Final = 1.0
"""Between two looks into the logs without a listener to their news, or where the last look failed."""

PAUSE_SECONDS: Final = 0.5
"""From news until they are published, because the publisher would compete with the command that a leaf comes from, whose
outcome is on its way.
"""

LOST_SECONDS: Final = 10.0
"""Between two looks into the logs without news, which may be lost: with every second look for closed shards."""

_TOGETHER_SECONDS: Final = 0.1
"""How much later such a look may be, so that one wake-up is enough for both."""

WAIT_MS: Final = 5_000
"""How long a round waits at most, because a lease is to be renewed."""

_SLEEP_SECONDS: Final = 1.0
"""How long it sleeps at most, because nothing but news and `stop` wakes it."""

RETRY_SECONDS: Final = 5.0
"""Until a shard is tried again whose objects could not be written."""

_STOPS: Final = (ForkError, LogDamagedError, NoteError, ObjectDiffersError)
"""Errors after which nothing may be signed."""


_UNRESTORED: Final = (
    LogDamagedError, LogKeyError, NoteError, ObjectStoreError, OutOfMemoryError,
)  # fmt: skip
"""Errors after which leaves are restored later."""


class Publisher:
    """Publishes all shards. Call `begin`, and then `round` again and again; from time to time begin again.

    `read_keys` raises `LogKeyError` if there is no key to sign with. `interval` is in seconds. `trim` is
    called with each beginning. `recovery` closes and restores shards. Without `news` each look is into the logs.
    """

    def __init__(  # noqa: PLR0913 - one for each part
        self,
        store: Store,
        sizes: PublishedSizes,
        objects: ObjectStore,
        read_keys: Callable[[], LogKeys],
        interval: float,
        trim: Callable[[], object] = lambda: None,
        *,
        recovery: LogRecovery | None = None,
        news: LogListener | None = None,
    ) -> None:
        self._store = store
        self._sizes = sizes
        self._objects = objects
        self._read_keys = read_keys
        self._interval = interval
        self._trim = trim
        self._recovery = recovery
        self._news = news
        self._look_due = 0.0
        """When all logs are looked into, by the monotonic clock."""
        self._all = range(0)
        self._shards: dict[int, ShardPublisher] = {}
        self._faults: dict[int, str] = {}
        """Why a shard is not published, so that it is logged once."""
        self._retries: dict[int, float] = {}
        """When a shard is tried again, by the monotonic clock."""
        self._due = 0.0
        """When something may be published again, by the monotonic clock."""
        self._keys: LogKeys | None = None

    def begin(self) -> None:
        """Read the keys, and what is published of each shard."""
        self._shards.clear()
        self._retries.clear()
        self._look_due = 0.0
        self._all = range(self._store.shards)
        try:
            self._keys = self._read_keys()
        except LogKeyError as error:
            self._keys = None
            for shard in self._all:
                self._stop(shard, str(error), quiet=shard > 0)
            return
        self._load(self._keys, self._all)
        self._trim()
        failpoint("publish.trimmed")

    def round(self, wait_ms: int = WAIT_MS) -> int:
        """Publish what is new, and return the number of leaves; wait before it if it is too early."""
        restoring = self._restore()
        if not restoring and not self._wait(wait_ms / 1000):
            return 0
        self._reload()
        looked = time.monotonic()
        new = self._news.wait(0.0) if self._news else None
        if new is None or looked >= self._look_due:
            new, self._look_due = None, looked + LOST_SECONDS
        done = self._publish(
            {s: one.size for s, one in self._shards.items() if new is None or s in new},
            expected=bool(new),
        )
        # news end the wait that follows, unless the look has to be repeated
        rests = self._news is not None and self._look_due > looked
        pause = self._interval if done else 0.0 if rests else min(self._interval, LOOK_SECONDS)
        self._due = looked + pause
        return done

    def stop(self) -> None:
        """Wait for no news from now on; called in another thread or by the handler of a signal."""
        if self._news:
            self._news.stop()

    def _wait(self, seconds: float) -> bool:
        """Wait at most so long until there may be something to publish; return whether there may be."""
        end = (began := time.monotonic()) + seconds
        if (early := self._due - began) > 0:
            time.sleep(slept := min(early, seconds, _SLEEP_SECONDS))
            if slept < early:
                return False
        if self._news is None:
            return True
        due = [end, self._look_due + _TOGETHER_SECONDS, *self._retries.values()]
        if self._recovery is not None:
            # shards that are tried again later are no reason to look at once
            due.append(max(self._recovery.due, began + LOOK_SECONDS))
        if not self._news.hears(max(0.0, min(due) - time.monotonic())):
            return time.monotonic() >= min([self._look_due, *self._retries.values()])
        time.sleep(max(0.0, min(PAUSE_SECONDS, end - time.monotonic())))
        return True

    def _restore(self) -> bool:
        """Restore some leaves of the shards that were rolled back; return whether there are any."""
        if self._recovery is None:
            return False
        lost = [one for one in self._recovery.lost(self._all) if one not in self._retries]
        for shard in lost:
            self._shards.pop(shard, None)
            try:
                if self._recovery.step(shard):
                    self._retries[shard] = 0.0
            except _UNRESTORED as error:
                self._stop(shard, f"shard {shard} can't be restored: {error}", RETRY_SECONDS)
        return bool(lost)

    def _publish(self, starts: dict[int, int], *, expected: bool) -> int:
        done = 0
        while starts:
            try:
                found = self._store.durable_leaves(starts, BATCH, expected=expected)
            except NotDurable as error:
                self._look_due = 0.0
                logger.warning("nothing is published: %s", error)
                return done
            if not found:
                return done
            failpoint("publish.read")
            for shard, rows in found.items():
                # so that what is published can be restored: whole commands
                whole = (
                    len(without_last_command([leaf for _, leaf in rows]))
                    if len(rows) == BATCH
                    else BATCH
                )
                done += self._guarded(shard, partial(self._shards[shard].publish, rows[:whole]))
            starts = {
                shard: self._shards[shard].size
                for shard, rows in found.items()
                if len(rows) == BATCH and shard in self._shards
            }
        return done

    def _load(self, keys: LogKeys, shards: Sequence[int]) -> None:
        """Begin with shards, and compare what is published with the data."""
        recorded = self._sizes.recorded(shards)

        def load(shard: int) -> int:
            signers = [secret.signer(shard) for secret in keys.secrets]
            writer = LogWriter(
                self._objects, shard, signers, [shard_key(key, shard) for key in keys.public]
            )
            made = ShardPublisher(writer, self._sizes)
            made.compare(self._store.leaves(shard, made.overlap, BATCH), *recorded[shard])
            self._shards[shard] = made
            return 0

        for shard in shards:
            self._guarded(shard, partial(load, shard))

    def _reload(self) -> None:
        """Begin again with the shards whose time has come."""
        now = time.monotonic()
        for shard in [shard for shard, until in self._retries.items() if until <= now]:
            del self._retries[shard]
            self._look_due = 0.0
            if self._keys is not None:
                self._load(self._keys, [shard])

    def _guarded(self, shard: int, work: Callable[[], int]) -> int:
        """Do something with a shard; stop it after an error, with a sentence for the operator."""
        try:
            done = work()
        except ClosingError as error:
            if self._recovery:
                self._recovery.close(shard, error.why)
            self._stop(shard, str(error), quiet=self._recovery is not None)
            return 0
        except _STOPS as error:
            self._stop(shard, str(error))
            return 0
        except ObjectChangedError:
            # another publisher was faster
            self._stop(shard, "", RETRY_SECONDS)
            return 0
        except (ObjectStoreError, NotDurable) as error:
            self._stop(shard, str(error), RETRY_SECONDS)
            return 0
        if self._faults.pop(shard, ""):
            logger.warning("the log of shard %d is published again", shard)
        return done

    def _stop(
        self, shard: int, fault: str, seconds: float | None = None, *, quiet: bool = False
    ) -> None:
        """Stop a shard for a while, or for the rest of the run."""
        self._shards.pop(shard, None)
        if seconds is not None:
            self._retries[shard] = time.monotonic() + seconds
        if fault == self._faults.get(shard, ""):
            return
        self._faults[shard] = fault
        self._sizes.record_fault(shard, fault)
        if quiet:
            return
        if seconds is None:
            logger.error("ALARM: the log is not published: %s", fault)
        else:
            logger.warning("the log of shard %d is not published for now: %s", shard, fault)
