"""Durability of commits: when a move may be called accepted.

`fsync` promises that an acknowledged move is on the disk. The promise rests on three things, all of
them verified: the server appends every write to its log (`appendonly yes`), it syncs that log before
it answers (`appendfsync always`), and each commit ends in a barrier, `WAITAOF 1 0`, whose reply
confirms that the log was synced up to that commit. The barrier alone is no proof: under `everysec`
a Valkey answers it too early.

`none` promises nothing: outcomes are reported as pending, never as accepted.
"""

import logging
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

logger = logging.getLogger(__name__)

MINIMUM_VERSION: Final = (7, 2)
"""The first Redis and the first Valkey that know WAITAOF."""

BARRIER_TIMEOUT: Final = 5000
"""Milliseconds a barrier waits for the disk; less than a client's timeout."""

# no-appendfsync-on-rewrite would silently suspend the syncs, and eviction would drop commits
REQUIRED: Final[Mapping[str, str]] = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""The settings of the server that `fsync` needs."""


class Mode(StrEnum):
    """The promise of an acknowledgement."""

    FSYNC = "fsync"
    """The move is on the server's disk."""

    NONE = "none"
    """Nothing: a crash of the machine may lose moves. For tests and benchmarks."""

    @property
    def durable(self) -> bool:
        """Return whether an outcome may be called accepted; else it stays pending."""
        return self is Mode.FSYNC


class DurabilityError(Exception):
    """The server does not have the required durability, or that can't be verified.

    The message is a sentence for the operator.
    """


def verify(client: Redis, mode: Mode) -> None:
    """Verify that a server is new enough and as durable as `mode` requires.

    Raises DurabilityError if it is not, or if its settings can't be read. Connection errors of
    redis-py pass through.
    """
    information = _information(client)
    _version_of(information)
    if not mode.durable:
        logger.warning(
            "durability is none: no move is safe from a crash of the machine, "
            "and every outcome is reported as pending"
        )
        return
    settings = _ask("CONFIG GET", lambda: client.config_get(*REQUIRED))
    if fault := role_fault(information) or settings_fault(settings):
        raise DurabilityError(fault)
    _check_wait(client)


def check_version(client: Redis) -> tuple[str, str]:
    """Return the server's name and version, ("Valkey", "9.1.2"), if it is new enough.

    Raises DurabilityError, naming the server, for one older than 7.2.
    """
    return _version_of(_information(client))


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


def parse_version(text: str) -> tuple[int, int]:
    """Return major and minor number of a version as text, (0, 0) when it has none."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def append_barrier(
    pipeline: Pipeline, mode: Mode = Mode.FSYNC, timeout: int = BARRIER_TIMEOUT
) -> None:
    """Add the barrier as the last command of a commit's pipeline; nothing when `mode` is none.

    It covers every write sent before it on the same connection. `timeout` is in milliseconds.
    """
    if mode.durable:
        pipeline.waitaof(1, 0, timeout)


def check_barrier(reply: object) -> bool:
    """Return whether a barrier's reply, [synced here, synced at replicas], confirms the writes.

    False for an error, and for anything else than such a pair.
    """
    match reply:
        case [int(local), int()]:
            return local >= 1
        case _:
            return False


def role_fault(information: Mapping[str, Any]) -> str:
    """Return that a server is a replica, by its INFO; empty if it is not."""
    if information.get("role", "master") == "master":
        return ""
    return (
        "the server is a replica, which takes no moves; let matchpost use the primary, or make this "
        "server one"
    )


def write_fault(information: Mapping[str, Any]) -> str:
    """Return why a server refuses writes now, by its INFO; empty if it takes them."""
    if information.get("aof_last_write_status", "ok") != "ok":
        return (
            "the server could not write its append-only file, and refuses writes until it can; look "
            "at its log and its disk"
        )
    limit = int(information.get("maxmemory", 0))
    if limit and int(information.get("used_memory", 0)) >= limit:
        return (
            "the server's memory is full, and it refuses writes, so no move is accepted and none is "
            "lost; raise MATCHPOST_MAXMEMORY, or `maxmemory` of a server of your own"
        )
    return ""


def settings_fault(found: Mapping[str, str]) -> str:
    """Return the first setting of a server that `fsync` forbids; empty if all are right."""
    for setting, wanted in REQUIRED.items():
        value = found.get(setting)
        if value is None:
            return (
                f"durability not verified: the server does not show its setting {setting!r}; "
                "allow CONFIG GET, or set MATCHPOST_DURABILITY=none"
            )
        if value != wanted:
            return (
                f"the server's setting {setting!r} is {value!r}, durability fsync needs "
                f"{wanted!r}; change it, or set MATCHPOST_DURABILITY=none"
            )
    return ""


def _check_wait(client: Redis) -> None:
    """Send one barrier, which a replica, or a server that only seems durable, can't confirm."""
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
