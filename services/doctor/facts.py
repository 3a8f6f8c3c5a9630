"""The facts: what the server, RQ's Redis, the data directory and the clock report, not yet judged."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import msgspec
import redis
from msgspec.structs import replace
from redis.exceptions import NoPermissionError, RedisError, ResponseError

from domain.game.engine import RobotLevel
from infra.durability.durability import DurabilityNotes, Mode, find_faults
from infra.durability.durability_watch import UNSYNCED_TEXT, DurabilityWatch
from infra.durability.replicas import Replica, read_replicas, unreadable
from infra.health.heartbeats import HeartbeatRecord, read_heartbeats
from infra.health.queue_status import QueueStatus, ShardStatus, read_queue
from infra.health.retirement_limits import ArchiveFigures
from infra.health.status import Status
from infra.mail.outbox import OutboxStatus
from infra.people.accounts import read_robot_userids
from infra.process.machine import TOO_FEW, most_open_files
from infra.projections.lag import Lag
from infra.projections.robots import RobotFigures
from infra.redis.access import ROLES, USER_PREFIX
from infra.redis.addresses import redact_url
from infra.redis.clients import make_client
from infra.redis.cluster import servers_of
from infra.redis.server import REQUIRED, ServerFigures, figures_of, write_fault
from infra.settings.game_packages import BrokenGame, load_games
from infra.settings.settings import Settings
from infra.store.closed_shards import ClosedShard
from infra.store.layout import Layout
from infra.store.lost_leaves import LostLeaves
from infra.store.redis_store import RedisStore
from infra.store.scrub_notes import NotedFault, ScrubNotes
from infra.store.seed_chains import abandoned_chains
from infra.store.server_clock import ServerClock, ServerClockRecord
from infra.store.trimmed_leaves import published_logs
from infra.store.watermarks import PublishedSize
from infra.valkey.server import NotRunningError, queue_url, socket_url
from infra.witness.witnesses import WitnessReport, read_witness_report
from services.app.backups import BackupState, read_state
from services.doctor.directory import DirectoryFacts, read_directory
from services.secret_checks import read_other_secrets


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
    shards: tuple[ShardStatus, ...] = ()
    beats: tuple[HeartbeatRecord, ...] = ()
    """Signs of life of all processes, which are on the server of the queue."""
    gone: frozenset[str] = frozenset()
    """The fields of heartbeats whose process on this machine has ended."""
    outbox: OutboxStatus = OutboxStatus()
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
    queue: QueueStatus | None
    queue_unreachable: str = ""
    files: int = TOO_FEW
    """Open files that a process of this user may have."""
    seeds_left: tuple[str, ...] = ()
    """Why chains of seeds were abandoned for new ones."""
    backups: BackupState | None = None
    """None if it is not known."""
    broken_games: tuple[BrokenGame, ...] = ()
    """Installed games that can't be used on this machine."""


def now() -> int:
    """Return this machine's time in ms."""
    return time.time_ns() // 1_000_000


def gather(settings: Settings, clock: Callable[[], int] = now) -> Facts:
    """Return all facts that can be read; `clock` is this machine's, in ms."""
    directory = read_directory(settings)
    server, queue, why, queue_why = None, None, "", ""
    when = clock()
    with ExitStack() as stack:
        jobs = stack.enter_context(make_client(queue_url(settings)))
        try:
            data = stack.enter_context(make_client(settings.redis_url or socket_url(settings.data)))
            data.ping()
            when = clock()
            logs = partial(published_logs, settings)
            store = RedisStore(data, settings.durability, open_logs=logs)
            status = Status(settings, data, jobs, store)
            server = _server(status, jobs)
        except (NotRunningError, RedisError) as error:
            why = _reason(settings.redis_url, error)
        # without a server of its own the queue is as silent as the data
        if server or settings.queue_url:
            try:
                queue = status.queue if server and server.shape else read_queue(jobs, None)
                server = server and _with_beats(server, read_heartbeats(jobs))
            except RedisError as error:
                queue_why = _reason(queue_url(settings), error)
    left = tuple(abandoned_chains(settings.seeds or settings.data / "seeds"))
    backups = read_state(settings)
    found = (settings, when, directory, server, why, queue, queue_why, most_open_files(), left)
    return Facts(*found, backups, load_games())


def _with_beats(server: ServerFacts, beats: Sequence[HeartbeatRecord]) -> ServerFacts:
    beats = sorted(beats, key=lambda beat: beat.field)
    gone = frozenset(beat.field for beat in beats if beat.is_gone)
    return replace(server, beats=tuple(beats), gone=gone)


def _reason(url: str | None, error: Exception) -> str:
    if isinstance(error, NotRunningError):
        return str(error).partition(";")[0]
    return f"the server at {redact_url(url)} does not answer ({error})" if url else str(error)


def _server(status: Status, jobs: redis.Redis) -> ServerFacts:
    settings, client = status.settings, status.data
    clock, nodes = status.now, servers_of(client)
    infos: list[Mapping[str, Any]] = [node.info() for node in nodes]
    figures = max(map(figures_of, nodes, infos), key=_share)
    found = ServerFacts(
        name=_name(infos[0]),
        clock=clock,
        pid=int(infos[0].get("process_id", 0)),
        uptime=min(int(info.get("uptime_in_seconds", 0)) for info in infos),
        memory=figures.memory,
        memory_limit=figures.memory_limit,
        write_faults=tuple(fault for fault in map(write_fault, infos) if fault),
        not_durable=_not_durable(client, jobs, settings),
        shape=None,
        no_shape="",
        outbox=status.outbox,
        damaged=status.damaged,
        steps=ServerClockRecord(client).read(),
        hashes=_hash_limits(nodes),
        replicas=max((tuple(read_replicas(info)) for info in infos), key=len),
        scrub=status.scrub,
        scrub_faults=status.scrub_faults,
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
    try:
        shape = status.layout
    except LookupError as error:
        return replace(found, no_shape=str(error))
    return replace(
        found,
        shape=shape,
        shards=status.shards,
        projections=status.projections,
        closed=tuple(status.closed.values()),
        published=status.published,
        lost=status.lost,
        unpublished_since=status.unpublished_since,
        witnesses=read_witness_report(settings, shape.shards),
        archive=status.late_archive,
        robots=status.robots,
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


def _share(server: ServerFigures) -> float:
    return server.memory / server.memory_limit if server.memory_limit else 0.0


def _hash_limits(nodes: Sequence[redis.Redis]) -> HashLimits | None:
    names = ("hash-max-listpack-entries", "hash-max-listpack-value")
    try:
        found: list[Any] = [node.config_get(*names) for node in nodes]
    except ResponseError:  # CONFIG is not allowed, which the finding on durability names
        return None
    if any(len(one) < len(names) for one in found):
        return None
    return HashLimits(*(min(int(one[name]) for one in found) for name in names))


def _name(info: Mapping[str, Any]) -> str:
    if "valkey_version" in info:
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info.get('redis_version', 'of an unknown version')}"


def _not_durable(client: redis.Redis, jobs: redis.Redis, settings: Settings) -> tuple[str, ...]:
    mode, replicas = settings.durability, settings.replicas
    # the web process, whose user may not ask for the settings of a server, reads what the scheduler has noted
    notes = None if _may_read_settings(client) else DurabilityNotes(jobs)
    if found := tuple(find_faults(client, mode, replicas, notes)):
        return found
    watch = DurabilityWatch(client, client, mode, replicas)
    return () if watch.confirm() else (UNSYNCED_TEXT[mode],)


def _may_read_settings(client: redis.Redis) -> bool:
    try:
        servers_of(client)[0].config_get("appendfsync")
    except ResponseError:
        return False
    return True
