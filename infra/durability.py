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
every primary of a cluster. Sentences about the last two begin with the name of the node.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from operator import eq
from typing import Any, Final, NamedTuple

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoPermissionError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from infra import replicas as followers
from infra.durability_notes import DurabilityNotes
from infra.redis.cluster import in_cluster, servers_of, slots_of
from infra.redis.node_names import naming_node, under_sentinels
from infra.server_state import (
    MAXIMUM_LAG,
    MINIMUM_REPLICAS,
    MINIMUM_VERSION,
    MOST_LAG,
    REQUIRED,
    parse_version,
    role_fault,
    write_fault,
)

logger = logging.getLogger(__name__)

BARRIER_TIMEOUT: Final = 5000
"""Milliseconds a barrier waits for the disk; less than a client's timeout."""

RECEIPT_TIMEOUT: Final = 1000
"""Milliseconds for which it waits at first until replicas have received the writes."""


class Mode(StrEnum):
    """The promise of an acknowledgement."""

    FSYNC = "fsync"
    """The move is on the server's disk."""

    REPLICATED = "replicated"
    """The move is on the server's disk and on those of replicas."""

    MANAGED = "managed"
    """Whatever the operator of a managed service vouches for."""

    NONE = "none"
    """Nothing: a crash of the machine may lose moves. For tests and benchmarks."""

    @property
    def durable(self) -> bool:
        """Return whether an outcome may be called accepted; else it stays pending."""
        return self is not Mode.NONE

    @property
    def verified(self) -> bool:
        """Return whether the server has to show by its settings that it keeps the promise."""
        return self in (Mode.FSYNC, Mode.REPLICATED)


class DurabilityError(Exception):
    """The server does not have the required durability, or that can't be verified.

    The message is a sentence for the operator.
    """


class HiddenSettingsError(DurabilityError):
    """The user of this process may not read the servers' settings, and nobody has noted them."""


def verify(
    client: Redis, mode: Mode, replicas: int = 1, notes: DurabilityNotes | None = None
) -> None:
    """Verify that all servers are new enough and as durable as `mode` requires, and their replicas too.

    `replicas` is how many replicas `replicated` waits for. Raises DurabilityError, naming the node, if one is
    not, or if its settings can't be read. Connection errors of redis-py pass through. A replica that can't be
    asked is no fault, because each commit waits for its sync. Settings that `notes` have are not asked for.
    """
    if not mode.durable:
        logger.warning(
            "durability is none: no move is safe from a crash of the machine, "
            "and every outcome is reported as pending"
        )
    for fault in find_faults(client, mode, replicas, notes):
        raise DurabilityError(fault)


def find_faults(
    client: Redis, mode: Mode, replicas: int = 1, notes: DurabilityNotes | None = None
) -> Iterator[str]:
    """Return why the servers are not as durable as `mode` requires, one sentence each; see `verify`."""
    for node in current_servers(client):
        try:
            with naming_node(node):
                if mode is Mode.REPLICATED and notes is None:
                    _verify_replicas(node)
                verify_server(node, mode, replicas, notes)
        except HiddenSettingsError:
            raise  # the caller may have noted ones
        except DurabilityError as error:
            yield str(error)
    if fault := failover_fault(client, mode):
        yield fault


def current_servers(client: Redis) -> list[Redis]:
    """Return a client for each server that takes writes now."""
    if slots := slots_of(client):
        # the map may still have a primary that has come back as a replica
        slots.doubt()
    return servers_of(client)


def _verify_replicas(client: Redis) -> None:
    for replica in followers.read_replicas(_information(client)):
        found = followers.read_settings(client, replica, REQUIRED)
        if found is None:
            continue
        if fault := settings_fault(found, Mode.REPLICATED, server=f"the replica {replica.address}"):
            raise DurabilityError(fault)


def verify_server(
    client: Redis, mode: Mode, replicas: int = 1, notes: DurabilityNotes | None = None
) -> None:
    """Verify one server alone, as `verify` does, by commands that any of its connections may send."""
    information = _information(client)
    _version_of(information)
    if not mode.durable:
        return
    if fault := _server_fault(client, information, mode, replicas, notes):
        raise DurabilityError(fault)
    if mode.verified:
        _check_wait(client)


def _server_fault(
    client: Redis,
    information: Mapping[str, Any],
    mode: Mode,
    replicas: int,
    notes: DurabilityNotes | None,
) -> str:
    fault = role_fault(information)
    if fault or not mode.verified:
        return fault
    noted = notes.settings(str(information.get("run_id"))) if notes else None
    settings = noted or _shown_settings(client, mode)
    return settings_fault(settings, mode, replicas) or replica_fault(information, mode, replicas)


def _shown_settings(client: Redis, mode: Mode) -> Mapping[str, str]:
    def ask() -> Any:
        try:
            return client.config_get(*required_settings(mode))
        except NoPermissionError as error:
            raise HiddenSettingsError(
                "durability not verified: the user of this process may not read the server's settings, and no "
                "scheduler has noted them within an hour; start `matchpost scheduler`"
            ) from error

    return dict(_ask("CONFIG GET", ask))


def note_settings(client: Redis, mode: Mode, notes: DurabilityNotes) -> None:
    """Note the settings of all servers that take writes, for those that may not ask them."""
    for node in current_servers(client):
        with naming_node(node):
            notes.write_settings(str(_information(node).get("run_id")), _shown_settings(node, mode))


def look(
    client: Redis, mode: Mode, replicas: int = 1, notes: DurabilityNotes | None = None
) -> list[str]:
    """Return the faults of all servers by their state and settings, one sentence each; nothing is written."""
    faults = []
    for node in current_servers(client):
        try:
            with naming_node(node):
                _look_at(node, mode, replicas, notes)
        except DurabilityError as error:
            faults.append(str(error))
        except RedisError as error:
            faults.append(f"the server does not answer ({error}); look whether it is running")
    fault = "" if faults else failover_fault(client, mode)
    return [*faults, fault] if fault else faults


def _look_at(server: Redis, mode: Mode, replicas: int, notes: DurabilityNotes | None) -> None:
    information = _information(server)
    fault = write_fault(information) or _server_fault(server, information, mode, replicas, notes)
    if fault:
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


def check_version(client: Redis) -> tuple[str, str]:
    """Return name and version of the oldest server, ("Valkey", "9.1.2"), if it is new enough.

    Raises DurabilityError, naming the server, for one older than 7.2.
    """
    found = [_version_of(_information(server)) for server in servers_of(client)]
    return min(found, key=lambda one: parse_version(one[1]))


def _information(client: Redis) -> Mapping[str, Any]:
    found: Mapping[str, Any] = _ask("INFO", client.info)
    return found


def _version_of(information: Mapping[str, Any]) -> tuple[str, str]:
    name = "Valkey" if "valkey_version" in information else "Redis"
    version = str(information.get(f"{name.lower()}_version", ""))
    if parse_version(version) < MINIMUM_VERSION:
        raise DurabilityError(
            f"the server is {name} {version or 'of an unknown version'}; "
            "matchpost needs Redis or Valkey 7.2 or newer"
        )
    return name, version


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


def required_settings(mode: Mode) -> tuple[str, ...]:
    """Return the names of the settings that `settings_fault` needs."""
    more = (MINIMUM_REPLICAS, MAXIMUM_LAG) if mode is Mode.REPLICATED else ()
    return (*REQUIRED, *more)


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


def _check_wait(client: Redis) -> None:
    """Send one barrier, which a replica, or a server that only seems durable, can't confirm.

    Replicas confirm only what was written on the connection: see `DurabilityWatch.confirm`.
    """
    reply = _ask("WAITAOF", lambda: client.waitaof(1, 0, BARRIER_TIMEOUT))
    if not check_barrier(reply):
        raise DurabilityError(
            f"durability not verified: the server did not confirm a sync of its log "
            f"within {BARRIER_TIMEOUT} ms"
        )


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
