"""The status of a whole server: each part is read once, by all who look at it.

`matchpost doctor` judges it; metrics, `matchpost queue` and `/readyz` show it. A part is read from Redis when it is
first asked for, so that who needs few of them pays for these alone.
"""

import logging
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Final

import msgspec
import redis
from redis.exceptions import ResponseError

from domain.clocks.time_control import DAY
from domain.match.history import time_of_leaf
from infra.durability.durability import DurabilityNotes, Mode
from infra.health.heartbeats import HeartbeatRecord, Role, lost_by_all, read_heartbeats
from infra.health.queue_status import QueueStatus, ShardStatus, read_queue, read_shards
from infra.health.retirement_limits import ArchiveFigures, archive_figures
from infra.mail.outbox import Outbox, OutboxStatus
from infra.projections.buckets import SPECS
from infra.projections.lag import Lag, lag
from infra.projections.robots import RobotFigures, read_robot_figures
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.reads import read_all
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShard, ClosedShards
from infra.store.failures import DamagedMatches
from infra.store.job_notes import RetireRun, last_retire_run
from infra.store.layout import Layout
from infra.store.log_gate import read_ends
from infra.store.lost_leaves import LostLeaves, losses_read
from infra.store.port import Store, Watermark
from infra.store.scrub_notes import NotedFault, ScrubNotes, ScrubRecord
from infra.store.watermarks import PublishedSize, published_sizes_read

logger = logging.getLogger(__name__)

LATE_DAYS: Final = 1
"""A match that has been due for the archive for longer is late."""


class LogStatus(msgspec.Struct, frozen=True):
    """The logs of all shards, and how far they are published."""

    published: tuple[PublishedSize, ...] = ()
    """The record of each shard."""
    ends: tuple[int, ...] = ()
    """Where each log ends."""
    since: int | None = None
    """When the first leaf was received that is not published, ms."""

    @property
    def leaves(self) -> int:
        """Return how many leaves there are, also of those that are in the published log alone."""
        return sum(self.ends)

    @property
    def size(self) -> int:
        """Return how many leaves are published."""
        return sum(one.size for one in self.published)

    @property
    def unpublished(self) -> int:
        """Return how many leaves are not published yet."""
        pairs = zip(self.published, self.ends, strict=True)
        return sum(max(0, end - one.size) for one, end in pairs)

    def waited_ms(self, now: int) -> int:
        """Return how long the first of these has waited; 0 if there is none."""
        return 0 if self.since is None else max(0, now - self.since)


class Status:
    """The status of a server at one moment; errors of the two servers pass through.

    `data` is a client of the matches' server, `queue` of RQ's. What needs the layout raises `LookupError` as long as
    there is none.
    """

    def __init__(
        self, settings: Settings, data: redis.Redis, queue: redis.Redis, store: Store
    ) -> None:
        self.settings = settings
        self.data = data
        self._queue = queue
        self._store = store

    @cached_property
    def now(self) -> int:
        """The time of the matches' server, ms."""
        return time_ms(self.data)

    @cached_property
    def layout(self) -> Layout:
        """The division of the data into shards and lanes."""
        return self._store.layout()

    @property
    def _shards(self) -> range:
        return range(self.layout.shards)

    # commands

    @cached_property
    def shards(self) -> tuple[ShardStatus, ...]:
        """The inbox of each shard, and its reminders and flags."""
        return read_shards(self.data, self.layout.shards, self.now)

    @cached_property
    def queue(self) -> QueueStatus:
        """RQ's Redis, and the lanes."""
        return read_queue(self._queue, self.layout, self.shards, self.now)

    @cached_property
    def damaged(self) -> tuple[int, ...]:
        """Matches that can't be read."""
        return tuple(DamagedMatches(self.data).all())

    @cached_property
    def move_fault(self) -> str | None:
        """Why no move is accepted, by the last verification; empty if moves are. None if nobody verifies."""
        if not self.settings.durability.durable:
            return ""
        note = DurabilityNotes(self._queue).read()
        return None if note is None else note.fault

    @property
    def replicas(self) -> int:
        """Replicas that have to sync each move."""
        return self.settings.replicas if self.settings.durability is Mode.REPLICATED else 0

    # processes

    @cached_property
    def beats(self) -> tuple[HeartbeatRecord, ...]:
        """The signs of life of all processes, in the order of role, host and process."""
        return tuple(sorted(read_heartbeats(self._queue), key=lambda beat: beat.field))

    @property
    def expected(self) -> list[Role]:
        """The roles that have to run."""
        return expected_roles(self.settings, {beat.role for beat in self.beats})

    @property
    def seeds_fault(self) -> str:
        """Why matches that need a draw wait; empty if they do not."""
        workers = [beat for beat in self.beats if beat.role is Role.WORKER]
        lost = lost_by_all([beat for beat in workers if not beat.is_silent(self.now)])
        if not lost:
            return ""
        return (
            f"no command worker has the seeds of shards {', '.join(map(str, lost))}, so matches that need "
            "a draw wait there; restore the folder of seeds from a backup"
        )

    @cached_property
    def outbox(self) -> OutboxStatus:
        """Outgoing mail."""
        return Outbox(self.data).status(self.now)

    @cached_property
    def robots(self) -> RobotFigures:
        """The matches in which robots are to act."""
        return read_robot_figures(self.data, self.now)

    # logs

    @cached_property
    def closed(self) -> Mapping[int, ClosedShard]:
        """The shards that take no command."""
        return ClosedShards(self.data).read(self._shards)

    @cached_property
    def _publication(self) -> tuple[list[PublishedSize], list[LostLeaves]]:
        sizes, lost = read_all(
            self.data, published_sizes_read(self._shards), losses_read(self._shards, self.now)
        )
        return sizes, lost

    @property
    def published(self) -> tuple[PublishedSize, ...]:
        """How far the log of each shard is published."""
        return tuple(self._publication[0])

    @property
    def log_faults(self) -> list[str]:
        """Why logs are not published, for each shard that has a fault."""
        return [one.fault for one in self.published if one.fault]

    @property
    def lost(self) -> tuple[LostLeaves, ...]:
        """Leaves that were lost in the last week before they were published."""
        return tuple(self._publication[1])

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Where the log of each shard ends."""
        _ = self.published  # before the ends, because what is published later may be beyond them
        return tuple(read_ends(self.data, self._shards))

    @cached_property
    def log(self) -> LogStatus:
        """The logs of all shards, and how far they are published."""
        return LogStatus(self.published, self.ends, self.unpublished_since)

    @cached_property
    def unpublished_since(self) -> int | None:
        """When the first leaf was received that is not published, ms; None if there is none, or it is not known."""
        pipe: Any  # redis-py types no part of its pipelines
        with self.data.pipeline(transaction=False) as pipe:
            for shard, one in enumerate(self.published):
                pipe.xrange(keys.log(shard), f"{one.size}-0", count=1)
            try:
                rows = pipe.execute()
            except ResponseError:  # the log was changed by another program
                return None
        first = [time_of_leaf(row[0][1][b"l"]) for row in rows if row]
        return min((at for at in first if at is not None), default=None)

    @cached_property
    def projections(self) -> tuple[Lag, ...]:
        """How far each projection is behind the logs; empty if what is stored of them can't be read."""
        # as a watermark of the store, without the write that promises it: nothing is built upon this one
        oldest = [shard.oldest for shard in self.shards if shard.oldest is not None]
        try:
            mark = Watermark(min([self.now, *oldest]), self.ends)
            return tuple(lag(self._store, self.data, spec, mark) for spec in SPECS)
        except (ResponseError, ValueError) as error:
            # pointers of a projection were changed by another program
            logger.warning("the lag of the projections can't be read: %s", error)
            return ()

    # what is kept

    @cached_property
    def archive(self) -> ArchiveFigures:
        """The archive, and what is due for it."""
        return self._archive(self.settings.archive_after)

    @cached_property
    def late_archive(self) -> ArchiveFigures:
        """The archive, and what is late for it."""
        return self._archive(self.settings.archive_after + LATE_DAYS)

    def _archive(self, days: int) -> ArchiveFigures:
        return archive_figures(self.data, self.layout.shards, self.now - days * DAY)

    @cached_property
    def last_retirement(self) -> RetireRun | None:
        """The last run of the retire job, if one is known."""
        return last_retire_run(self._queue, self.layout.shards)

    @cached_property
    def scrub(self) -> ScrubNotes:
        """How far the scrubber is."""
        return ScrubRecord(self.data).read()

    @cached_property
    def scrub_faults(self) -> tuple[NotedFault, ...]:
        """Faults that the scrubber has found."""
        return tuple(ScrubRecord(self.data).faults())


def expected_roles(settings: Settings, ran: Collection[Role]) -> list[Role]:
    """Return the roles that have to run: by the settings, or because one `ran` recently.

    Command workers are not among them, because any worker of RQ will do.
    """
    wanted: Mapping[Role, bool] = {
        Role.PROJECTIONS: True,
        Role.SCHEDULER: True,
        Role.PUBLISHER: settings.durability.durable,
        Role.MAINTENANCE: False,  # a server may be run without one
        Role.ROBOTS: settings.robots > 0,
        Role.WEB: settings.http != "off",
        Role.MAIL: settings.takes_mail,
        Role.MAILER: settings.has_mailer,
    }
    return [role for role, is_wanted in wanted.items() if is_wanted or role in ran]
