"""Figures of each server, of each primary in a cluster, for monitoring: from its INFO.

The needs of durability: version, settings and role of a server, and that it takes writes.

The time of a server, which is asked for once in a while and counted on by this machine meanwhile.

For pages, which show it, and for the expiry of sessions and tokens, which live for days: a server whose clock
is set is seen a while later. No move is decided by it.
"""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import redis
from redis.exceptions import RedisError

from infra.redis.clients import Clock, to_ms
from infra.redis.cluster import servers_of
from infra.redis.node_names import node_address
from infra.redis.reads import Read, read_nothing

MINIMUM_VERSION: Final = (7, 2)
"""The first Redis and the first Valkey that know WAITAOF."""


# no-appendfsync-on-rewrite would silently suspend the syncs, and eviction would drop commits
REQUIRED: Final[Mapping[str, str]] = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""The settings of the server that `fsync` needs, and those of each replica under `replicated`."""

MINIMUM_REPLICAS: Final = "min-replicas-to-write"
MAXIMUM_LAG: Final = "min-replicas-max-lag"

MOST_LAG: Final = 10
"""Seconds without a sign of a replica after which the server must not count it any longer."""


DISK_FULL_AT: Final = (
    "the disk of %s is full%s, so everything can be read, and no move is accepted; make room, and moves "
    "go on by themselves"
)
"""`DISK_FULL` of some folder, and how much is free there."""

DISK_FULL: Final = DISK_FULL_AT % ("the data", "")
"""The fault of an embedded server that has too little room (`infra.valkey.disk_guard`)."""


def parse_version(text: str) -> tuple[int, int]:
    """Return major and minor number of a version as text, (0, 0) when it has none."""
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def version_fault(information: Mapping[str, Any]) -> str:
    """Return that a server is too old, by its INFO; empty if it is not."""
    name = "Valkey" if "valkey_version" in information else "Redis"
    version = str(information.get(f"{name.lower()}_version", ""))
    if parse_version(version) >= MINIMUM_VERSION:
        return ""
    return (
        f"the server is {name} {version or 'of an unknown version'}; "
        "matchpost needs Redis or Valkey 7.2 or newer"
    )


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
    # only an embedded server has no port, and no replicas ever
    if information.get("min_slaves_good_slaves") == 0 and information.get("tcp_port") == 0:
        return DISK_FULL
    limit = int(information.get("maxmemory", 0))
    if limit and int(information.get("used_memory", 0)) >= limit:
        return (
            "the server's memory is full, and it refuses writes, so no move is accepted and none is "
            "lost; raise MATCHPOST_MAXMEMORY, or `maxmemory` of a server of your own"
        )
    return ""


class ServerFigures(msgspec.Struct, frozen=True):
    """A server at one moment."""

    node: str
    """Its host and port, `socket` for one on this machine, or the name that sentinels know."""
    is_up: bool
    """Whether it answered; the other figures are 0 if not."""
    memory: int = 0
    """Bytes in use."""
    memory_limit: int = 0
    """Bytes that it may use; those of its machine if it has no limit, 0 if that is not known."""
    clients: int = 0
    """Connections."""
    replicas: int = 0
    """Connected replicas."""
    is_written: bool = True
    """Whether its append-only file could be written last, and has room on the disk."""
    commands: int = 0
    """Commands since its start."""
    cpu_seconds: float = 0.0
    """Seconds of its main thread, in the system and out of it; those of all threads where INFO has only these."""


def read_server_figures(client: redis.Redis) -> tuple[ServerFigures, ...]:
    """Return the figures of all servers behind a client; an error of one of them is no error of the others.

    Of a cluster whose map can't be read there is one without a name.
    """
    try:
        nodes = servers_of(client)
    except RedisError:
        return (ServerFigures("", is_up=False),)
    return tuple(map(_read, nodes))


def _read(node: redis.Redis) -> ServerFigures:
    try:
        info: Any = node.info()
    except (RedisError, OSError):
        return ServerFigures(node_address(node), is_up=False)
    return figures_of(node, info)


def figures_of(node: redis.Redis, info: Mapping[str, Any]) -> ServerFigures:
    """Return the figures of a server by its INFO."""
    return ServerFigures(
        node_address(node),
        is_up=True,
        memory=int(info.get("used_memory", 0)),
        memory_limit=int(info.get("maxmemory", 0)) or int(info.get("total_system_memory", 0)),
        clients=int(info.get("connected_clients", 0)),
        replicas=int(info.get("connected_slaves", 0)),
        is_written=info.get("aof_last_write_status", "ok") == "ok"
        and write_fault(info) != DISK_FULL,
        commands=int(info.get("total_commands_processed", 0)),
        cpu_seconds=_cpu_seconds(info),
    )


def _cpu_seconds(info: Mapping[str, Any]) -> float:
    thread = "_main_thread" if "used_cpu_sys_main_thread" in info else ""
    return sum(float(info.get(f"used_cpu_{part}{thread}", 0.0)) for part in ("sys", "user"))


COUNTED_SECONDS: Final = 10.0
"""How long this machine counts on before it asks again."""


class ServerTime:
    """The time of one server, for many reads; thread-safe. `clock` replaces it in tests."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._known: tuple[float, int] | None = None
        """When the time was read, by the monotonic clock, and which it was, ms."""

    def read(self) -> Read[int]:
        """Return the read of the time in ms; it has no command if the time was asked for recently."""
        now = self.counted()
        if now is not None:
            return read_nothing(now)
        return Read(lambda pipe: pipe.time(), lambda replies: self.learn(replies[0]))

    def counted(self) -> int | None:
        """Return the time in ms, if it was asked for recently; else the server has to be asked."""
        if self._clock is not None:
            return self._clock()
        if self._known is not None:
            passed = time.monotonic() - self._known[0]
            if passed < COUNTED_SECONDS:
                return self._known[1] + int(passed * 1000)
        return None

    def now(self, client: redis.Redis) -> int:
        """Return the time in ms; ask the server if that was not done recently."""
        known = self.counted()
        return self.learn(client.time()) if known is None else known

    def learn(self, reply: Any) -> int:
        """Return the time in a reply to TIME, and count on from there."""
        now = to_ms(reply)
        self._known = time.monotonic(), now
        return now
