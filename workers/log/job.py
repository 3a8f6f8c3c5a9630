"""Trims the logs in Redis: leaves that are published and read by all are there no longer.

Whatever reads earlier leaves, as a rebuild does, gets them from the published log.

The job of the publisher: a long run under a lease, which requests the next one.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import redis

from infra.log.key_files import keys_folder, read_keys
from infra.log.published_log import PublishedLogs
from infra.log.tiles import WIDTH
from infra.mail.progress import MailerProgress
from infra.mail.push import PushQueue
from infra.objects.location import is_local, open_objects
from infra.process.intervals import every
from infra.projections.buckets import SPECS
from infra.projections.generations import Generations
from infra.redis import keys
from infra.redis.rq_jobs import PUBLISH, PUBLISHED_LOG
from infra.settings.settings import Settings
from infra.store.channels import LogListener
from infra.store.closed_shards import ClosedShards
from infra.store.discarded_leaves import RestoredLeaves
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from infra.store.watermarks import PublishedSizes, read_published_sizes
from infra.witness.witnesses import read_witnesses
from workers.leased_run import LeasedRun, LeasedWork
from workers.log.publisher import Publisher
from workers.log.restore import LogRecovery, ShardRestorer
from workers.log.witnessing import Witnessing
from workers.rq_worker import run_endless

KEPT: Final = 10_000
"""Leaves of a shard that stay, so that what is read often is near, and small servers trim nothing."""


MOST_WAITING: Final = 200_000
"""Leaves of a shard that wait for slow readers; a slower one reads the published log."""


def trim(client: redis.Redis, shards: int, kept: int = KEPT) -> list[int]:
    """Trim the logs of all shards, and return below which leaf of each nothing is kept.

    The last published bundle stays, with which the publisher compares before it goes on. Of a shard whose
    data contradict what is published, everything stays.
    """
    published = read_published_sizes(client, shards)
    spare = [
        0 if one.fault else max(0, one.size // WIDTH * WIDTH - max(kept, WIDTH))
        for one in published
    ]
    if not any(spare):
        return spare  # the positions of all readers are dozens of reads
    limits = [
        min(most, max(position, one.size - MOST_WAITING))
        for most, one, position in zip(spare, published, _positions(client, shards), strict=True)
    ]
    with client.pipeline(transaction=False) as pipe:
        for shard, limit in enumerate(limits):
            if limit > 0:
                pipe.xtrim(keys.log(shard), minid=f"{limit}-0", approximate=False)
        pipe.execute()
    return limits


def _positions(client: redis.Redis, shards: int) -> Sequence[int]:
    """Return for each shard how far all projections and the mailer have read, for mail and for push."""
    found = []
    for spec in SPECS:
        generations = Generations(client, spec)
        live = generations.live()
        checkpoints = generations.checkpoints(live[1]) if live else []
        found += [one.counts if one else (0,) * shards for one in checkpoints]
        if live is None:
            # the projection worker is about to read everything
            found.append((0,) * shards)
    for follower in (MailerProgress(client), PushQueue(client)):
        cursor = follower.cursor()
        if cursor is not None:
            found.append(cursor)
    return [min(counts) for counts in zip(*found, strict=True)]


INTERVAL_SECONDS: Final = 1.0
"""Between two checkpoints in files."""

CLOUD_INTERVAL_SECONDS: Final = 15.0
"""Between two checkpoints at a cloud, which asks money for each write."""

JOB: Final = LeasedJob(
    # a run that takes so long is stuck
    WakeupJob(PUBLISHED_LOG, PUBLISH, 600, "publish the logs"),
    "publish",
    10_000,
)


def make_publisher(settings: Settings, data: redis.Redis, queue: redis.Redis) -> Publisher:
    """Return the publisher of the settings; `ObjectStoreError` if their store can't be used."""
    default = INTERVAL_SECONDS if is_local(settings.store) else CLOUD_INTERVAL_SECONDS
    store = RedisStore(data, settings.durability, replicas=settings.replicas)
    logs, closed = PublishedLogs(settings), ClosedShards(data)

    def restorer(shard: int) -> ShardRestorer:
        log = logs.of(shard)
        log.refresh()
        return ShardRestorer(store, RestoredLeaves(data, store.layout()), closed, log)

    return Publisher(
        store,
        PublishedSizes(data, queue),
        open_objects(settings.store, settings.data),
        partial(read_keys, keys_folder(settings)),
        settings.publish_seconds or default,
        lambda: trim(data, store.shards),
        recovery=LogRecovery(closed, restorer),
        news=LogListener(queue),
    )


def make_witnessing(settings: Settings, data: redis.Redis) -> Witnessing:
    """Return what asks the witnesses that are named beside the keys; it has a cache of its own."""
    store = RedisStore(data, settings.durability, replicas=settings.replicas)
    return Witnessing(
        open_objects(settings.store, settings.data),
        PublishedLogs(settings).of,
        lambda: store.shards,
        partial(read_witnesses, keys_folder(settings)),
    )


MOST_SECONDS: Final = 300.0
"""How long a run goes on at most, because the end of each costs RQ dozens of commands."""

AGAIN_SECONDS: Final = 60.0
"""How often a run begins again: with the keys of now, and with shards that have stopped."""


class _Publishing(LeasedWork):
    """The work of a run: the same leaves give the same objects, so nothing has to be recovered."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._begin = every(AGAIN_SECONDS, publisher.begin)

    def step(self) -> int:
        """Publish what is new."""
        self._begin()
        return self._publisher.round()

    def has_more(self) -> bool:
        """Return that there is always more to come."""
        return True


def publish(
    publisher: Publisher, queue: redis.Redis, stopping: Callable[[], bool] = lambda: False
) -> None:
    """Publish for a while."""
    run = LeasedRun("publish", JOB.leases(queue), JOB.lease, stopping, most=MOST_SECONDS)
    run.run(_Publishing(publisher))


def run(publisher: Publisher, queue: redis.Redis) -> None:
    """Run the jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """
    run_endless(queue, JOB, lambda stopping: publish(publisher, queue, stopping), publisher.stop)
