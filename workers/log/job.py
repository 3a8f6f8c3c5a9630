"""The job of the publisher: a long run under a lease, which requests the next one."""

from collections.abc import Callable
from functools import partial
from typing import Final

import redis

from infra.log.key_files import keys_folder, read_keys
from infra.log.published_logs import PublishedLogs
from infra.objects.location import is_local, open_objects
from infra.redis.rq_jobs import PUBLISH, PUBLISHED_LOG
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShards
from infra.store.log_channel import LogListener
from infra.store.published_sizes import PublishedSizes
from infra.store.redis_store import RedisStore
from infra.store.restored_leaves import RestoredLeaves
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from infra.witness.client import read_witnesses
from workers.leased_run import ENDLESS_SECONDS, LeasedRun, LeasedWork
from workers.log.publisher import Publisher
from workers.log.recovery import LogRecovery
from workers.log.restore import ShardRestorer
from workers.log.trim import trim
from workers.log.witnessing import Witnessing
from workers.rq_worker import run_endless

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
        lambda: trim(data, store.layout().shards),
        recovery=LogRecovery(closed, restorer),
        news=LogListener(queue),
    )


def make_witnessing(settings: Settings, data: redis.Redis) -> Witnessing:
    """Return what asks the witnesses that are named beside the keys; it has a cache of its own."""
    store = RedisStore(data, settings.durability, replicas=settings.replicas)
    return Witnessing(
        open_objects(settings.store, settings.data),
        PublishedLogs(settings).of,
        lambda: store.layout().shards,
        partial(read_witnesses, keys_folder(settings)),
    )


class _Publishing(LeasedWork):
    """The work of a run: the same leaves give the same objects, so nothing has to be recovered."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._begun = False

    def step(self) -> int:
        """Publish what is new."""
        if not self._begun:
            self._publisher.begin()
            self._begun = True
        return self._publisher.round()

    def has_more(self) -> bool:
        """Return that there is always more to come."""
        return True


def publish(
    publisher: Publisher, queue: redis.Redis, stopping: Callable[[], bool] = lambda: False
) -> None:
    """Publish for a while."""
    run = LeasedRun("publish", JOB.leases(queue), JOB.lease, stopping, most=ENDLESS_SECONDS)
    run.run(_Publishing(publisher))


def run(publisher: Publisher, queue: redis.Redis) -> None:
    """Run the jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """
    run_endless(queue, JOB, lambda stopping: publish(publisher, queue, stopping))
