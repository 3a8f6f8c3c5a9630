"""The facts: what the server, RQ's Redis, the data directory and the clock report, not yet judged."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import redis
from redis.exceptions import NoPermissionError, RedisError, ResponseError

from domain.clocks.calendar import DAY
from domain.game.engine import RobotLevel
from infra.durability.durability import Mode, find_faults
from infra.durability.durability_watch import UNSYNCED_TEXT, DurabilityWatch
from infra.durability.replicas import Replica, read_replicas, unreadable
from infra.health.heartbeats import HeartbeatRecord, read_heartbeats
from infra.health.retirement_limits import ArchiveFigures, archive_figures
from infra.mail.outbox import Outbox
from infra.people.accounts import read_robot_userids
from infra.process.open_files import TOO_FEW, most_open_files
from infra.projections.lag import Lag, first_times, lag
from infra.projections.robot_figures import RobotFigures, read_robot_figures
from infra.projections.specs import SPECS
from infra.redis import keys
from infra.redis.access import ROLES, USER_PREFIX
from infra.redis.addresses import redact_url
from infra.redis.clients import make_client
from infra.redis.cluster import servers_of
from infra.redis.server_state import REQUIRED, write_fault
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShard, ClosedShards
from infra.store.damaged_matches import DamagedMatches
from infra.store.layout import Layout
from infra.store.lost_leaves import LostLeaves, read_losses
from infra.store.published_sizes import PublishedSize, read_published_sizes
from infra.store.redis_store import RedisStore
from infra.store.scrub_notes import NotedFault, ScrubNotes, ScrubRecord
from infra.store.seed_chains import abandoned_chains
from infra.store.server_clock import ServerClock, ServerClockRecord
from infra.store.trimmed_leaves import published_logs
from infra.valkey.queue_server import queue_url
from infra.valkey.server import NotRunningError, socket_url
from infra.witness.witness_status import WitnessReport, read_witness_report
from services.app.monitoring import OVERDUE_MS
from services.doctor.directory import DirectoryFacts, read_directory
from services.doctor.queue_facts import QueueFacts, read_queue
from services.secret_checks import read_other_secrets


class ShardFacts(msgspec.Struct, frozen=True):
    """The inbox of a shard, and its reminders and flags."""

    number: int
    waiting: int
    oldest: int | None
    """When the oldest entry was received, in ms by the server's clock."""
    aside: int
    """Entries that could not be decoded."""
    tries: int
    """The most attempts at any entry that failed; 0 if none failed."""
    overdue: int = 0
    """Matches whose reminder or flag has been due for more than a minute."""
    due: int | None = None
    """When the next reminder or flag is due, in ms by the server's clock."""
    floor: int = 0
    """No command is received before this time, in ms, even if the server's clock is behind it."""


class OutboxFacts(msgspec.Struct, frozen=True):
    """Outgoing mail."""

    waiting: int = 0
    """E-mails that are not sent yet."""
    late: int = 0
    """Milliseconds since the first of them was due; 0 if none is due."""
    down: str = ""
    """Why nothing is sent to the relay for now; empty if it works."""


class HashLimits(msgspec.Struct, frozen=True):
    """Up to here the server stores a hash as one compact block (a listpack). Beyond it is a table."""

    entries: int
    value: int
    """Bytes of the longest field or value."""


class ServerFacts(msgspec.Struct, frozen=True):
    """The server of the matches."""

    name: str
    clock: int
    """Its time in ms."""
    pid: int
    uptime: int
    """Seconds."""
    memory: int
    """Bytes used."""
    memory_limit: int
    """Its `maxmemory`, or else the machine's memory; 0 if neither is known."""
    write_faults: tuple[str, ...]
    """Why writes are refused now; empty if they are taken."""
    not_durable: tuple[str, ...]
    """Why the durability of the settings is not reached, by node; empty if it is."""
    shape: Layout | None
    no_shape: str
    """Why there is no shape; empty if there is one."""
    shards: tuple[ShardFacts, ...] = ()
    beats: tuple[HeartbeatRecord, ...] = ()
    """Signs of life of all processes, which are on the server of the queue."""
    gone: frozenset[str] = frozenset()
    """The fields of heartbeats whose process on this machine has ended."""
    outbox: OutboxFacts = OutboxFacts()
    projections: tuple[Lag, ...] = ()
    damaged: tuple[int, ...] = ()
    """Matches that could not be read."""
    steps: ServerClock = ServerClock()
    """Recorded steps of its clock."""
    hashes: HashLimits | None = None
    """None if the server does not show them."""
    closed: tuple[ClosedShard, ...] = ()
    """The shards that take no command."""
    published: tuple[PublishedSize, ...] = ()
    """How far the log of each shard is published."""
    lost: tuple[LostLeaves, ...] = ()
    """Leaves that were lost in the last week before they were published."""
    unpublished_since: int | None = None
    """When the first leaf was received that is not published, in ms; None if it is not known."""
    replicas: tuple[Replica, ...] = ()
    """Replicas that are connected to it."""
    witnesses: WitnessReport = WitnessReport()
    """The witnesses of the published log."""
    archive: ArchiveFigures | None = None
    """None without data. Late are matches that have been due for a day."""
    scrub: ScrubNotes = ScrubNotes()
    scrub_faults: tuple[NotedFault, ...] = ()
    """Faults that the scrubber has found."""
    robots: RobotFigures = RobotFigures()
    robot_userids: Mapping[RobotLevel, str] = {}
    """The userids of the robots that have accounts."""
    other_secrets: tuple[str, ...] = ()
    """Why secrets of this machine are not the server's."""
    unasked: tuple[str, ...] = ()
    """Addresses of replicas whose settings can't be read."""
    replication_readers: tuple[str, ...] = ()
    """The roles that can read the password of replicas, by which all data can be copied; none if it is not set."""
    nodes: int = 1
    """Primaries of a cluster. Memory is that of the fullest, and the rest that of the worst."""


class Facts(msgspec.Struct, frozen=True):
    """Everything the checks look at."""

    settings: Settings
    clock: int
    """This machine's time in ms, read together with the server's."""
    directory: DirectoryFacts
    server: ServerFacts | None
    unreachable: str
    """Why the server does not answer; empty if it does."""
    queue: QueueFacts | None
    queue_unreachable: str = ""
    files: int = TOO_FEW
    """Open files that a process of this user may have."""
    seeds_left: tuple[str, ...] = ()
    """Why chains of seeds were abandoned for new ones."""


def now() -> int:
    """Return this machine's time in ms."""
    return time.time_ns() // 1_000_000


def gather(settings: Settings, clock: Callable[[], int] = now) -> Facts:
    """Return all facts that can be read; `clock` is this machine's, in ms."""
    directory = read_directory(settings)
    server, queue, why, queue_why = None, None, "", ""
    when = clock()
    try:
        url = settings.redis_url or socket_url(settings.data)
        with make_client(url) as client:
            client.ping()
            when = clock()
            server = _server(client, settings)
    except (NotRunningError, RedisError) as error:
        why = _reason(settings.redis_url, error)
    # without a server of its own the queue is as silent as the data
    if server or settings.queue_url:
        place = queue_url(settings)
        try:
            with make_client(place) as client:
                queue = read_queue(client, server.shape if server else None)
                server = server and _with_beats(server, read_heartbeats(client))
        except RedisError as error:
            queue_why = _reason(place, error)
    left = tuple(abandoned_chains(settings.seeds or settings.data / "seeds"))
    return Facts(settings, when, directory, server, why, queue, queue_why, most_open_files(), left)


def _with_beats(server: ServerFacts, beats: Sequence[HeartbeatRecord]) -> ServerFacts:
    beats = sorted(beats, key=lambda beat: beat.field)
    gone = frozenset(beat.field for beat in beats if beat.is_gone)
    return msgspec.structs.replace(server, beats=tuple(beats), gone=gone)


def _reason(url: str | None, error: Exception) -> str:
    if isinstance(error, NotRunningError):
        return str(error).partition(";")[0]
    return f"the server at {redact_url(url)} does not answer ({error})" if url else str(error)


def _server(client: redis.Redis, settings: Settings) -> ServerFacts:
    seconds, micros = client.time()
    clock = int(seconds) * 1000 + int(micros) // 1000
    nodes = servers_of(client)
    infos: list[Mapping[str, Any]] = [node.info() for node in nodes]
    used, limit = max(map(_memory, infos), key=_share)
    shape, no_shape = _shape(client, settings)
    return ServerFacts(
        name=_name(infos[0]),
        clock=clock,
        pid=int(infos[0].get("process_id", 0)),
        uptime=min(int(info.get("uptime_in_seconds", 0)) for info in infos),
        memory=used,
        memory_limit=limit,
        write_faults=tuple(fault for fault in map(write_fault, infos) if fault),
        not_durable=_not_durable(client, settings),
        shape=shape,
        no_shape=no_shape,
        shards=_shards(client, shape, clock) if shape else (),
        outbox=_outbox(client, clock),
        projections=_projections(client, settings) if shape else (),
        damaged=tuple(DamagedMatches(client).all()),
        steps=ServerClockRecord(client).read(),
        hashes=_hash_limits(nodes),
        closed=tuple(ClosedShards(client).read(range(shape.shards)).values()) if shape else (),
        published=tuple(read_published_sizes(client, shape.shards)) if shape else (),
        lost=tuple(read_losses(client, range(shape.shards), clock)) if shape else (),
        unpublished_since=_unpublished_since(client, settings, shape) if shape else None,
        witnesses=read_witness_report(settings, shape.shards) if shape else WitnessReport(),
        archive=_archive(client, settings, shape, clock) if shape else None,
        replicas=max((tuple(read_replicas(info)) for info in infos), key=len),
        scrub=ScrubRecord(client).read(),
        scrub_faults=tuple(ScrubRecord(client).faults()),
        robots=read_robot_figures(client, clock) if shape else RobotFigures(),
        other_secrets=read_other_secrets(settings, client),
        robot_userids=read_robot_userids(client),
        unasked=tuple(
            address
            for node, info in zip(nodes, infos, strict=True)
            if settings.durability is Mode.REPLICATED
            for address in unreadable(node, info, REQUIRED)
        ),
        replication_readers=tuple(sorted({role for node in nodes for role in _readers(node)})),
        nodes=len(nodes),
    )


def _readers(node: redis.Redis) -> list[str]:
    try:
        found: Any = node.config_get("masterauth")
    except ResponseError:  # CONFIG is not allowed, which the finding on durability names
        return []
    return [role for role in ROLES if _reads_settings(node, role)] if any(found.values()) else []


def _reads_settings(node: redis.Redis, role: str) -> bool:
    words = ("ACL", "DRYRUN", f"{USER_PREFIX}{role}", "CONFIG", "GET", "masterauth")
    try:
        return bool(node.execute_command(*words) == b"OK")  # type: ignore[no-untyped-call]
    except (
        NoPermissionError
    ):  # a file of users of an earlier version, which lets every role read it
        return True
    except ResponseError:  # there is no such user
        return False


def _memory(info: Mapping[str, Any]) -> tuple[int, int]:
    """Return the memory in use, and its limit."""
    limit = int(info.get("maxmemory", 0)) or int(info.get("total_system_memory", 0))
    return int(info.get("used_memory", 0)), limit


def _share(memory: tuple[int, int]) -> float:
    used, limit = memory
    return used / limit if limit else 0.0


def _hash_limits(nodes: Sequence[redis.Redis]) -> HashLimits | None:
    names = ("hash-max-listpack-entries", "hash-max-listpack-value")
    try:
        found: list[Any] = [node.config_get(*names) for node in nodes]
    except ResponseError:  # CONFIG is not allowed, which the finding on durability names
        return None
    if any(len(one) < len(names) for one in found):
        return None
    return HashLimits(*(min(int(one[name]) for one in found) for name in names))


def _outbox(client: redis.Redis, clock: int) -> OutboxFacts:
    outbox = Outbox(client)
    first, rest = outbox.first_due(), outbox.last_backoff()
    late = 0 if first is None else max(0, clock - first)
    return OutboxFacts(outbox.size(), late, rest.why if rest else "")


def _name(info: Mapping[str, Any]) -> str:
    if "valkey_version" in info:
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info.get('redis_version', 'of an unknown version')}"


def _not_durable(client: redis.Redis, settings: Settings) -> tuple[str, ...]:
    mode, replicas = settings.durability, settings.replicas
    if found := tuple(find_faults(client, mode, replicas)):
        return found
    watch = DurabilityWatch(client, client, mode, replicas)
    return () if watch.confirm() else (UNSYNCED_TEXT[mode],)


def _shape(client: redis.Redis, settings: Settings) -> tuple[Layout | None, str]:
    try:
        return RedisStore(client, settings.durability).layout(), ""
    except LookupError as error:
        return None, str(error)


def _shards(client: redis.Redis, shape: Layout, clock: int) -> tuple[ShardFacts, ...]:
    with client.pipeline(transaction=False) as pipe:
        for number in range(shape.shards):
            pipe.xlen(keys.inbox(number))
            pipe.xrange(keys.inbox(number), count=1)
            pipe.xlen(keys.dead_letters(number))
            pipe.hvals(keys.attempts(number))
            pipe.zcount(keys.due(number), 0, clock - OVERDUE_MS)
            pipe.zrange(keys.due(number), 0, 0, withscores=True)
            pipe.get(keys.floor(number))
        replies = iter(pipe.execute())
    rows = zip(*[replies] * 7, strict=True)
    return tuple(_shard(number, row) for number, row in enumerate(rows))


def _shard(number: int, row: tuple[Any, ...]) -> ShardFacts:
    waiting, first, aside, tries, overdue, due, floor = row
    return ShardFacts(
        number,
        waiting,
        _received(first),
        aside,
        tries=max(map(int, tries), default=0),
        overdue=overdue,
        due=int(due[0][1]) if due else None,
        floor=int(floor or 0),
    )


def _projections(client: redis.Redis, settings: Settings) -> tuple[Lag, ...]:
    store = RedisStore(client, settings.durability, open_logs=lambda: published_logs(settings))
    try:
        return tuple(lag(store, client, spec) for spec in SPECS)
    except (ResponseError, ValueError):
        # a watermark is a write, and none is taken now; or the pointers or the layout were changed
        return ()


def _unpublished_since(client: redis.Redis, settings: Settings, shape: Layout) -> int | None:
    sizes = [one.size for one in read_published_sizes(client, shape.shards)]
    store = RedisStore(client, settings.durability, open_logs=lambda: published_logs(settings))
    try:
        return min(first_times(store, sizes, store.watermark()), default=None)
    except (ResponseError, ValueError):  # as above
        return None


def _archive(client: redis.Redis, settings: Settings, shape: Layout, clock: int) -> ArchiveFigures:
    return archive_figures(client, shape.shards, clock - (settings.archive_after + 1) * DAY)


def _received(first: Any) -> int | None:
    return int(first[0][1].get(b"t", 0)) if first else None
