"""Durability of commits: when a move may be called accepted.

`fsync` promises that an acknowledged move is on the disk. The promise rests on three things, all of
them verified: the server appends every write to its log (`appendonly yes`), it syncs that log before
it answers (`appendfsync always`), and each commit ends in a barrier, `WAITAOF 1 0`, whose reply
confirms that the log was synced up to that commit. The barrier alone is no proof: under `everysec`
a Valkey answers it too early.

A failover to a replica would take back what had not reached it, so `fsync` is refused for a server that
has replicas. `replicated` waits for them too, `WAITAOF 1 R`, and the server itself must refuse writes
while it has fewer than R replicas that follow it (`min-replicas-to-write`).

`managed` verifies nothing: the operator vouches for a service that does not show its settings.

`none` promises nothing: outcomes are reported as pending, never as accepted.

All of this is asked of each server that takes writes: of one server, of the primary that sentinels name, or of
every primary of a cluster. Sentences about the last two begin with the name of the node. `_QUESTIONS` has what is asked,
and on which occasions: when a process starts, by the watch, at a new connection, by `/readyz` and the doctor.

Notes about the servers of the matches, in RQ's Redis: whether they are durable, and their settings.

Who may read a server's settings reads its `masterauth` too, which opens all data. So of the roles only the scheduler
may (`infra.redis.access`), and notes them for the others.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import Enum
from functools import partial
from operator import eq
from typing import Any, Final, NamedTuple

import msgspec
import redis
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoPermissionError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra.durability import replicas as followers
from infra.durability.mode import Mode as Mode  # noqa: PLC0414 - where most modules ask for it
from infra.redis import keys
from infra.redis.cluster import in_cluster, servers_of, slots_of
from infra.redis.node_names import naming_node, under_sentinels
from infra.redis.server import (
    MAXIMUM_LAG,
    MINIMUM_REPLICAS,
    MOST_LAG,
    REQUIRED,
    role_fault,
    version_fault,
    write_fault,
)

logger = logging.getLogger(__name__)

NOTE_SECONDS: Final = 30.0
"""How long a note lasts."""

_NOTED_SECONDS: Final = 3600
"""How long noted settings count; the scheduler notes them with each of its verifications."""


class DurabilityNote(msgspec.Struct, frozen=True):
    """The result of the last verification."""

    fault: str
    """Why moves can't be accepted; empty if they can."""
    age: float
    """Seconds since the verification."""


class DurabilityNotes:
    """Reads and writes the note, and the settings of servers; `client` is of RQ's Redis."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def read(self) -> DurabilityNote | None:
        """Return the note; None if nobody has verified the server for `NOTE_SECONDS`."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.get(keys.DURABILITY)
            pipe.pttl(keys.DURABILITY)
            fault, left = pipe.execute()
        age = NOTE_SECONDS - left / 1000
        # one with more time left than it can have was written while a clock ran ahead
        return None if fault is None or age < 0 else DurabilityNote(fault.decode(), age)

    def write(self, fault: str) -> None:
        """Write the note."""
        self._client.set(keys.DURABILITY, fault, px=int(NOTE_SECONDS * 1000))

    def settings(self, server: str) -> dict[str, str] | None:
        """Return the settings of a server, by its `run_id`; None if none are known, and it has to be asked."""
        try:
            found: Any = self._client.get(keys.noted_settings(server))
        except RedisError:
            return None
        return None if found is None else msgspec.json.decode(found, type=dict[str, str])

    def write_settings(self, server: str, settings: Mapping[str, str]) -> None:
        """Note the settings of a server, if RQ's Redis answers; others ask for them otherwise."""
        note = msgspec.json.encode(settings)
        try:
            self._client.set(keys.noted_settings(server), note, ex=_NOTED_SECONDS)
        except RedisError as error:
            logger.warning("the settings of a server can't be noted: %s", error)


BARRIER_TIMEOUT: Final = 5000
"""Milliseconds a barrier waits for the disk; less than a client's timeout."""

RECEIPT_TIMEOUT: Final = 1000
"""Milliseconds for which it waits at first until replicas have received the writes."""


class DurabilityError(Exception):
    """The server does not have the required durability, or that can't be verified.

    The message is a sentence for the operator.
    """


def append_barrier(
    pipeline: Pipeline,
    mode: Mode = Mode.FSYNC,
    timeout: int = BARRIER_TIMEOUT,
    *,
    replicas: int = 1,
) -> None:
    """Add the barrier as the last command of a commit's pipeline; nothing when `mode` has none.

    It covers every write sent before it on the same connection. `timeout` is in milliseconds.

    Under `replicated` a WAIT comes before it. A replica answers the server's question for its progress before
    it syncs the write that came with it. Without a second question, which the next command asks, its next
    answer would come a second later.
    """
    if mode is Mode.REPLICATED:
        pipeline.wait(replicas, min(timeout, RECEIPT_TIMEOUT))
    if mode.verified:
        pipeline.waitaof(1, replicas if mode is Mode.REPLICATED else 0, timeout)


def check_barrier(reply: object, mode: Mode = Mode.FSYNC, replicas: int = 1) -> bool:
    """Return whether a barrier's reply, [synced here, synced at replicas], confirms the writes.

    False for an error, and for anything else than such a pair.
    """
    match reply:
        case [int(local), int(remote)]:
            return local >= 1 and (mode is not Mode.REPLICATED or remote >= replicas)
        case _:
            return False


class _Need(NamedTuple):
    """A setting that a server must have, and its right values."""

    setting: str
    wanted: str
    fits: Callable[[str], bool]


def settings_fault(
    found: Mapping[str, str],
    mode: Mode = Mode.FSYNC,
    replicas: int = 0,
    *,
    server: str = "the server",
) -> str:
    """Return the first setting of a server that `mode` forbids; empty if all are right.

    With `replicas` under `replicated`, the settings by which it counts its replicas are checked too.
    """
    for setting, wanted, fits in _needs(mode, replicas):
        value = found.get(setting)
        if value is None:
            return (
                f"durability not verified: {server} does not show its setting {setting!r}; "
                "allow CONFIG GET, or set MATCHPOST_DURABILITY=none"
            )
        if not fits(value):
            return (
                f"{server}'s setting {setting!r} is {value!r}, durability {mode} needs "
                f"{wanted}; change it, or set MATCHPOST_DURABILITY=none"
            )
    return ""


def _needs(mode: Mode, replicas: int) -> list[_Need]:
    needs = [_Need(name, repr(value), partial(eq, value)) for name, value in REQUIRED.items()]
    if mode is Mode.REPLICATED and replicas:
        needs += [
            _Need(MINIMUM_REPLICAS, f"at least {replicas}", lambda n: int(n) >= replicas),
            _Need(MAXIMUM_LAG, f"1 to {MOST_LAG}", lambda n: 1 <= int(n) <= MOST_LAG),
        ]
    return needs


def replica_fault(information: Mapping[str, Any], mode: Mode, replicas: int = 1) -> str:
    """Return why a server with these replicas, by its INFO, can't keep the promise; else empty."""
    found = followers.read_replicas(information)
    if mode is Mode.FSYNC and found:
        return (
            f"the server has {_count(len(found))}, and a failover would take back moves that had not "
            "reached the one that is promoted; set MATCHPOST_DURABILITY=replicated, or disconnect "
            "what follows the server"
        )
    good = sum(replica.follows for replica in found)
    if mode is Mode.REPLICATED and good < replicas:
        return (
            f"{_count(good)} of the server can be waited for, and a move needs {replicas}; look "
            "whether they run and reach the server, or change MATCHPOST_REPLICAS"
        )
    return ""


def _count(number: int) -> str:
    return "1 replica" if number == 1 else f"{number or 'no'} replicas"


def _ask(command: str, question: Callable[[], Any]) -> Any:
    """Send a command; raise DurabilityError if the server refuses it."""
    try:
        return question()
    except (RedisConnectionError, RedisTimeoutError):
        raise
    except ResponseError as error:
        raise DurabilityError(
            f"durability not verified: the server refuses {command} ({error}); "
            "allow it, or set MATCHPOST_DURABILITY=none"
        ) from error
    except RedisError as error:
        raise DurabilityError(f"durability not verified: {command} failed ({error})") from error


class Occasion(Enum):
    """When a server is asked."""

    START = 1
    """A process starts, or an operator looks; nothing that others have noted counts."""
    WATCH = 2
    """The watch verifies, and notes the settings for those that may not ask for them."""
    JOIN = 3
    """A process, or a connection, begins to use a server that is watched."""
    LOOK = 4
    """Somebody looks often: nothing is written, and no sync waited for."""


class _AskedServer(NamedTuple):
    """A server, and the circumstances in which it is asked."""

    client: Redis
    information: Mapping[str, Any]
    """Its INFO."""
    occasion: Occasion
    mode: Mode
    replicas: int
    notes: DurabilityNotes | None


def _fault_of_replicas_settings(one: _AskedServer) -> str:
    for replica in followers.read_replicas(one.information):
        found = followers.read_settings(one.client, replica, REQUIRED)
        name = f"the replica {replica.address}"
        # one that can't be asked is no fault, because each commit waits for its sync
        if found is not None and (fault := settings_fault(found, one.mode, server=name)):
            return fault
    return ""


def _settings(one: _AskedServer) -> Mapping[str, str]:
    """Return the settings of a server, as they are noted unless the watch asks."""
    server = str(one.information.get("run_id"))

    def noted() -> Mapping[str, str] | None:
        return one.notes.settings(server) if one.notes else None

    if one.occasion is not Occasion.WATCH and (found := noted()):
        return found

    def ask() -> Any:
        try:
            return one.client.config_get(*(need.setting for need in _needs(one.mode, one.replicas)))
        except NoPermissionError as error:
            raise DurabilityError(
                "durability not verified: the user of this process may not read the server's settings, and no "
                "scheduler has noted them within an hour; start `matchpost scheduler`"
            ) from error

    try:
        asked: Mapping[str, str] = _ask("CONFIG GET", ask)
    except DurabilityError as error:
        if isinstance(error.__cause__, NoPermissionError) and (found := noted()):
            return found
        raise
    if one.notes and one.occasion is Occasion.WATCH:
        one.notes.write_settings(server, asked)
    return asked


def _sync_fault(one: _AskedServer) -> str:
    """Return that one barrier is not confirmed, as by a replica, or a server that only seems durable.

    Replicas confirm only what was written on the connection: see `DurabilityWatch.confirm`.
    """
    if check_barrier(_ask("WAITAOF", lambda: one.client.waitaof(1, 0, BARRIER_TIMEOUT))):
        return ""
    return (
        "durability not verified: the server did not confirm a sync of its log "
        f"within {BARRIER_TIMEOUT} ms"
    )


class _Question(NamedTuple):
    """One of the things on which durability rests."""

    ask: Callable[[_AskedServer], str]
    """Returns the fault as a sentence, or nothing; DurabilityError if the server refuses to answer."""
    modes: Collection[Mode] = tuple(Mode)
    occasions: Collection[Occasion] = tuple(Occasion)


_VERIFIED: Final = [mode for mode in Mode if mode.verified]
_NOT_LOOKING: Final = [Occasion.START, Occasion.WATCH, Occasion.JOIN]

_QUESTIONS: Final = (
    _Question(lambda one: version_fault(one.information), occasions=_NOT_LOOKING),
    _Question(lambda one: write_fault(one.information), occasions=[Occasion.WATCH, Occasion.LOOK]),
    _Question(lambda one: role_fault(one.information)),
    _Question(_fault_of_replicas_settings, [Mode.REPLICATED], [Occasion.START, Occasion.WATCH]),
    _Question(lambda one: settings_fault(_settings(one), one.mode, one.replicas), _VERIFIED),
    _Question(lambda one: replica_fault(one.information, one.mode, one.replicas), _VERIFIED),
    _Question(_sync_fault, _VERIFIED, _NOT_LOOKING),
)
"""The questions to each server, in this order; its first fault counts."""


def verify(
    client: Redis,
    mode: Mode,
    replicas: int = 1,
    notes: DurabilityNotes | None = None,
    occasion: Occasion = Occasion.START,
) -> None:
    """Verify that all servers are new enough and as durable as `mode` requires, and their replicas too.

    `replicas` is how many replicas `replicated` waits for. Raises DurabilityError, naming the node, if one is
    not, or if its settings can't be read. Connection errors of redis-py pass through. Settings that `notes` have
    are asked for by the watch alone.
    """
    if not mode.durable:
        logger.warning(
            "durability is none: no move is safe from a crash of the machine, "
            "and every outcome is reported as pending"
        )
    for fault in find_faults(client, mode, replicas, notes, occasion):
        raise DurabilityError(fault)


def find_faults(
    client: Redis,
    mode: Mode,
    replicas: int = 1,
    notes: DurabilityNotes | None = None,
    occasion: Occasion = Occasion.START,
) -> Iterator[str]:
    """Yield why the servers are not as durable as `mode` requires, one sentence each; see `verify`.

    Who only looks gets a sentence about a server that does not answer, too.
    """
    found = False
    if slots := slots_of(client):
        # the map may still have a primary that has come back as a replica
        slots.doubt()
    for node in servers_of(client):
        try:
            with naming_node(node):
                verify_server(node, occasion, mode, replicas, notes)
        except DurabilityError as error:
            found = True
            yield str(error)
        except RedisError as error:
            if occasion is not Occasion.LOOK:
                raise
            found = True
            yield f"the server does not answer ({error}); look whether it is running"
    if found and occasion is Occasion.LOOK:
        return
    try:
        fault = failover_fault(client, mode)
    except DurabilityError as error:
        fault = str(error)
    if fault:
        yield fault


def verify_server(
    server: Redis, occasion: Occasion, mode: Mode, replicas: int, notes: DurabilityNotes | None
) -> None:
    """Ask one server alone; raise DurabilityError with its first fault."""
    one = _AskedServer(server, _ask("INFO", server.info), occasion, mode, replicas, notes)
    for ask, modes, occasions in _QUESTIONS:
        if mode in modes and occasion in occasions and (fault := ask(one)):
            raise DurabilityError(fault)


def failover_fault(client: Redis, mode: Mode) -> str:
    """Return that a failover may take moves back under `fsync`; empty if it can't.

    A replica of a cluster counts while it is away, because it may be back before anybody looks again.
    """
    if mode is not Mode.FSYNC:
        return ""
    if under_sentinels(client):
        return (
            "sentinels promote a replica when the primary fails, which would take back moves that had not "
            "reached it; set MATCHPOST_DURABILITY=replicated, or let MATCHPOST_REDIS_URL name the server"
        )
    if not in_cluster(client):
        return ""
    found = _ask("CLUSTER NODES", lambda: followers.read_cluster_replicas(servers_of(client)[0]))
    if not found:
        return ""
    return (
        f"the cluster has {_count(len(found))} ({', '.join(found)}), and a failover would take back moves "
        "that had not reached the one that is promoted; set MATCHPOST_DURABILITY=replicated, or take "
        "the replicas out of the cluster"
    )
