"""The facts: what the server, RQ's Redis, the data directory and the clock say, without judgement."""

import os
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import redis
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from infra import keys
from infra.clients import make_client, shown_url
from infra.clock import Clock, ClockNotes
from infra.damage import Damage
from infra.disk import median_fdatasync
from infra.durability import DurabilityError, check_version, verify
from infra.embedded import NotRunningError, socket_url
from infra.files import LOW, most_files
from infra.heartbeats import Beat, read_beats
from infra.mail.outbox import Outbox
from infra.process import is_alive, owner_of
from infra.projections.lag import Lag, lag
from infra.projections.specs import SPECS
from infra.queue import COMMANDS
from infra.seeds import chains_left
from infra.settings import Settings
from infra.store.port import Shape
from infra.store.server import RedisStore

OVERDUE_MS: Final = 60_000
"""Milliseconds after which a reminder or a flag that has not come is told: sixty ticks."""


class DirectoryFacts(msgspec.Struct, frozen=True):
    """The data directory and the disk below it."""

    path: str
    exists: bool
    free: int
    """Bytes this user may still write."""
    fsync_ms: float | None = None
    """Median of an fdatasync there; None where nothing can be written."""
    owner: int | None = None
    """Process id of the `matchpost serve` that owns it and lives."""


class ShardFacts(msgspec.Struct, frozen=True):
    """What waits in a shard."""

    number: int
    waiting: int
    oldest: int | None
    """When the oldest entry was received, in ms by the server's clock."""
    aside: int
    """Entries that could not be decoded."""
    tries: int
    """The most attempts at an entry that made trouble; 0 when there is none."""
    overdue: int = 0
    """Matches whose reminder or flag ought to have come more than a minute ago."""
    due: int | None = None
    """When the next reminder or flag is due, in ms by the server's clock."""


class OutboxFacts(msgspec.Struct, frozen=True):
    """The mail that goes out."""

    waiting: int = 0
    """Letters that are not sent yet."""
    late: int = 0
    """Milliseconds since the first of them was due; 0 where none is."""
    down: str = ""
    """Why the relay is left alone; empty when it is not."""


class ServerFacts(msgspec.Struct, frozen=True):
    """The server of the matches."""

    name: str
    clock: int
    """Its time, in ms."""
    pid: int
    uptime: int
    """Seconds."""
    memory: int
    """Bytes used."""
    memory_limit: int
    """Its `maxmemory`, or else the machine's memory; 0 where neither is told."""
    log_ok: bool
    """Whether it could last write its append-only file."""
    not_durable: str
    """Why the durability that is set is not given; empty when it is."""
    shape: Shape | None
    no_shape: str
    """Why there is no shape; empty when there is one."""
    shards: tuple[ShardFacts, ...] = ()
    beats: tuple[Beat, ...] = ()
    """Signs of life of all processes."""
    gone: frozenset[str] = frozenset()
    """The fields of those that were processes of this machine, and are none any more."""
    outbox: OutboxFacts = OutboxFacts()
    projections: tuple[Lag, ...] = ()
    damaged: tuple[int, ...] = ()
    """Matches that could not be read."""
    steps: Clock = Clock()
    """What is known of steps of its clock."""


class LaneFacts(msgspec.Struct, frozen=True):
    """A lane's lease."""

    number: int
    holder: str
    """Empty when nobody has it, `wanted` when a drain was asked for."""
    ttl: int
    """Milliseconds until it ends; negative when it never does."""
    unreleased: bool
    """Whether a drain has it, or had it and never gave it back."""


class WorkerFacts(msgspec.Struct, frozen=True):
    """A command worker as registered with RQ."""

    pid: int
    host: str
    alive: bool
    """Whether the process exists; for other machines, whether it was heard of of late."""


class QueueFacts(msgspec.Struct, frozen=True):
    """RQ's Redis."""

    waiting: int
    failed: int
    workers: tuple[WorkerFacts, ...]
    lanes: tuple[LaneFacts, ...]


class Facts(msgspec.Struct, frozen=True):
    """Everything the checks look at."""

    settings: Settings
    clock: int
    """This machine's time, in ms, when the server told its own."""
    directory: DirectoryFacts
    server: ServerFacts | None
    unreachable: str
    """Why there is no server; empty when there is one."""
    queue: QueueFacts | None
    queue_unreachable: str = ""
    files: int = LOW
    """How many files a process of this user may have open."""
    seeds_left: tuple[str, ...] = ()
    """Why chains of seeds were left for new ones."""


def now() -> int:
    """Return this machine's time in ms."""
    return time.time_ns() // 1_000_000


def gather(settings: Settings, clock: Callable[[], int] = now) -> Facts:
    """Ask everything that can be asked; `clock` is this machine's, in ms."""
    directory = _directory(settings)
    server, queue, why, queue_why = None, None, "", ""
    when = clock()
    try:
        url = settings.redis_url or socket_url(settings.data)
        with make_client(url) as client:
            client.ping()
            when = clock()
            server = _server(client, settings)
    except (NotRunningError, RedisError) as error:
        why, url = _reason(settings.redis_url, error), None
    place = settings.queue_url or url
    if place:
        try:
            with make_client(place) as client:
                queue = _queue(client, server.shape if server else None)
        except RedisError as error:
            queue_why = _reason(place, error)
    left = tuple(chains_left(settings.seeds or settings.data / "seeds"))
    return Facts(settings, when, directory, server, why, queue, queue_why, most_files(), left)


def _reason(url: str | None, error: Exception) -> str:
    if isinstance(error, NotRunningError):
        return str(error).partition(";")[0]
    return f"the server at {shown_url(url)} does not answer ({error})" if url else str(error)


def _directory(settings: Settings) -> DirectoryFacts:
    path = settings.data
    there = next(place for place in (path, *path.parents) if place.exists())
    free = shutil.disk_usage(there).free
    return DirectoryFacts(
        path=str(path),
        exists=path.is_dir(),
        free=free,
        fsync_ms=_fsync_ms(path),
        owner=_owner(path),
    )


def _fsync_ms(path: Path) -> float | None:
    if not os.access(path, os.W_OK | os.X_OK):
        return None
    try:
        return median_fdatasync(path) * 1000
    except OSError:  # a full disk: that is told by the free space
        return None


def _owner(path: Path) -> int | None:
    pid = owner_of(path)
    return pid if pid is not None and is_alive(pid) else None


def _server(client: redis.Redis, settings: Settings) -> ServerFacts:
    seconds, micros = client.time()
    clock = int(seconds) * 1000 + int(micros) // 1000
    info: Mapping[str, Any] = client.info()
    shape, no_shape = _shape(client, settings)
    beats = sorted(read_beats(client), key=lambda beat: beat.field)
    return ServerFacts(
        name=_name(info),
        clock=clock,
        pid=int(info.get("process_id", 0)),
        uptime=int(info.get("uptime_in_seconds", 0)),
        memory=int(info.get("used_memory", 0)),
        memory_limit=int(info.get("maxmemory", 0)) or int(info.get("total_system_memory", 0)),
        log_ok=info.get("aof_last_write_status", "ok") == "ok",
        not_durable=_not_durable(client, settings),
        shape=shape,
        no_shape=no_shape,
        shards=_shards(client, shape, clock) if shape else (),
        beats=tuple(beats),
        gone=frozenset(beat.field for beat in beats if beat.is_gone),
        outbox=_outbox(client, clock),
        projections=_projections(client, settings) if shape else (),
        damaged=tuple(Damage(client).found()),
        steps=ClockNotes(client).read(),
    )


def _outbox(client: redis.Redis, clock: int) -> OutboxFacts:
    outbox = Outbox(client)
    first, rest = outbox.first_due(), outbox.last_rest()
    late = 0 if first is None else max(0, clock - first)
    return OutboxFacts(outbox.waiting(), late, rest.why if rest else "")


def _name(info: Mapping[str, Any]) -> str:
    if "valkey_version" in info:
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info.get('redis_version', 'of an unknown version')}"


def _not_durable(client: redis.Redis, settings: Settings) -> str:
    try:
        if settings.durability.durable:
            verify(client, settings.durability)
        else:
            check_version(client)
    except DurabilityError as error:
        return str(error)
    return ""


def _shape(client: redis.Redis, settings: Settings) -> tuple[Shape | None, str]:
    try:
        return RedisStore(client, settings.durability).shape(), ""
    except LookupError as error:
        return None, str(error)


def _shards(client: redis.Redis, shape: Shape, clock: int) -> tuple[ShardFacts, ...]:
    with client.pipeline(transaction=False) as pipe:
        for number in range(shape.shards):
            pipe.xlen(keys.inbox(number))
            pipe.xrange(keys.inbox(number), count=1)
            pipe.xlen(keys.aside(number))
            pipe.hvals(keys.tries(number))
            pipe.zcount(keys.due(number), 0, clock - OVERDUE_MS)
            pipe.zrange(keys.due(number), 0, 0, withscores=True)
        replies = iter(pipe.execute())
    rows = zip(*[replies] * 6, strict=True)
    return tuple(_shard(number, row) for number, row in enumerate(rows))


def _shard(number: int, row: tuple[Any, ...]) -> ShardFacts:
    waiting, first, aside, tries, overdue, due = row
    return ShardFacts(
        number,
        waiting,
        _received(first),
        aside,
        tries=max(map(int, tries), default=0),
        overdue=overdue,
        due=int(due[0][1]) if due else None,
    )


def _projections(client: redis.Redis, settings: Settings) -> tuple[Lag, ...]:
    store = RedisStore(client, settings.durability)
    return tuple(lag(store, client, spec) for spec in SPECS)


def _received(first: Any) -> int | None:
    return int(first[0][1].get(b"t", 0)) if first else None


def _queue(client: redis.Redis, shape: Shape | None) -> QueueFacts:
    queue = Queue(COMMANDS, connection=client, serializer=JSONSerializer)
    # the mailer is a worker of RQ's, too
    workers = Worker.all(connection=client, serializer=JSONSerializer)
    deciding = [worker for worker in workers if COMMANDS in worker.queue_names()]
    return QueueFacts(
        waiting=queue.count,
        failed=FailedJobRegistry(queue=queue).get_job_count(cleanup=False),
        workers=tuple(map(_worker, deciding)),
        lanes=_lanes(client, shape.lanes if shape else 0),
    )


def _worker(worker: BaseWorker) -> WorkerFacts:
    here = worker.hostname == socket.gethostname()
    pid = int(worker.pid or 0)
    # RQ forgets a worker of any machine that has not been heard of for its time
    return WorkerFacts(pid, str(worker.hostname), alive=not here or is_alive(pid))


def _lanes(client: redis.Redis, lanes: int) -> tuple[LaneFacts, ...]:
    with client.pipeline(transaction=False) as pipe:
        for number in range(lanes):
            pipe.get(keys.lease(number))
            pipe.pttl(keys.lease(number))
            pipe.exists(keys.held(number))
        replies = iter(pipe.execute())
    return tuple(
        LaneFacts(number, (holder or b"").decode(errors="replace"), left, bool(held))
        for number, (holder, left, held) in enumerate(zip(*[replies] * 3, strict=True))
    )
