"""The job of the publisher: a long run under a lease, which requests the next one."""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import redis

from infra.log.key_files import keys_folder, read_keys
from infra.log.published_logs import PublishedLogs
from infra.objects.location import is_local, open_objects
from infra.rq_jobs import PUBLISH, PUBLISHED_LOG
from infra.settings import Settings
from infra.store.closed_shards import ClosedShards
from infra.store.leases import Leases
from infra.store.log_channel import LogListener
from infra.store.published_sizes import PublishedSizes
from infra.store.redis_store import RedisStore
from infra.store.restored_leaves import RestoredLeaves
from infra.store.rq_wakeup import WakeupJob, enqueue_wakeup
from infra.witness.client import read_witnesses
from workers.leased_run import LeasedRun
from workers.log.publisher import Publisher
from workers.log.recovery import LogRecovery
from workers.log.restore import ShardRestorer
from workers.log.trim import trim
from workers.log.witnessing import Witnessing
from workers.rq_worker import ListedWorker

LEASE: Final = "publish"
"""The name of the publisher's lease."""

LEASE_MS: Final = 10_000
"""How long it lasts: a publisher that was killed is replaced after this."""

RUN_SECONDS: Final = 60.0
"""How long a run goes on, because the end of each costs RQ dozens of commands."""

REQUEST_SECONDS: Final = 3.0
"""Between two looks whether a run goes on."""

INTERVAL_SECONDS: Final = 1.0
"""Between two checkpoints in files."""

CLOUD_INTERVAL_SECONDS: Final = 15.0
"""Between two checkpoints at a cloud, which asks money for each write."""

JOB: Final = WakeupJob(PUBLISHED_LOG, PUBLISH, 600, "publish the logs")
"""A run that takes so long is stuck."""


def publish_leases(queue: redis.Redis) -> Leases[str]:
    """Return the leases of which the publisher has one; `queue` is a client of RQ's Redis."""
    wake = partial(enqueue_wakeup, queue, JOB)
    return Leases(queue, lambda _: wake(), queue=PUBLISHED_LOG, lease_ms=LEASE_MS)


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


class PublisherWakeup:
    """Requests the publisher where a wake-up was lost; call `tick` once a second."""

    def __init__(self, queue: redis.Redis) -> None:
        self._leases = publish_leases(queue)
        self._due = 0.0

    def tick(self) -> None:
        """Request a run, unless one goes on."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + REQUEST_SECONDS
            self._leases.request(LEASE)


class PublisherRun:
    """A run of the publisher under its lease."""

    def __init__(
        self,
        publisher: Publisher,
        leases: Leases[str],
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._publisher = publisher
        self._run = LeasedRun("publish", leases, LEASE, stopping, most=RUN_SECONDS)
        self._begun = False

    def run(self) -> None:
        """Publish for a while."""
        self._run.run(self)

    def recover(self, mark: bytes) -> None:
        """Do nothing, because the same leaves give the same objects."""

    def step(self) -> int:
        """Publish what is new."""
        if not self._begun:
            self._publisher.begin()
            self._begun = True
        return self._publisher.round()

    def finish(self) -> bytes:
        """Return no mark."""
        return b""

    def has_more(self) -> bool:
        """Return that there is always more to come."""
        return True


def run(publisher: Publisher, queue: redis.Redis) -> None:
    """Run the jobs until SIGTERM or SIGINT, or until Redis goes away.

    `queue` must wait `IDLE_SECONDS` for an answer, because the worker listens with a blocking command.
    """
    leases = publish_leases(queue)

    def publish() -> None:
        PublisherRun(publisher, leases, lambda: rq_worker.stopping).run()

    rq_worker = ListedWorker(queue, PUBLISHED_LOG, {PUBLISH: publish})
    leases.request(LEASE)
    rq_worker.work(logging_level="WARNING")
