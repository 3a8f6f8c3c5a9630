"""The one factory of Redis clients.

redis-py's own defaults do not suit a store of record: `Redis()` sends a command again by itself
up to eleven times when a connection breaks, so that a write may happen twice behind the caller's
back, and a client made from a URL speaks RESP3 and so asks every server for maintenance
notifications. A client made here

- never sends a command twice: a broken connection is raised to the caller, because only the caller
  knows whether the command may be repeated (our scripts may: they know their command ids);
- gives up connecting after `CONNECT_TIMEOUT` seconds, and waiting for an answer `ANSWER_TIMEOUT`
  seconds after the time that a blocking command may wait;
- speaks RESP2: no handshake round trip, replies of one shape from every server, and redis-py
  drops a pooled connection on which an unread answer is left (it does not look under RESP3);
- parses with hiredis, returns bytes, and tests a connection that is new, or was idle for
  `HEALTH_INTERVAL` seconds, with PING before a command, so that a dead peer is a definite failure:
  the command was not sent.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

import hiredis
from redis import ConnectionPool, Redis, asyncio
from redis._parsers import _AsyncHiredisParser
from redis._parsers.helpers import parse_info
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import NoBackoff
from redis.connection import (
    Connection,
    HiredisRespSerializer,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelManagedConnection

from infra.process.liveness import WatchedParser
from infra.redis.addresses import (
    Servers,
    Topology,
    check_url,
    parse_servers,
    topology_of,
    unix_url,
)
from infra.redis.cluster import ClusterClient, SlotMap
from infra.redis.node_names import NodePool

CONNECT_TIMEOUT: Final = 5.0
"""Seconds until a server that does not take the connection counts as absent."""

ANSWER_TIMEOUT: Final = 10.0
"""Seconds an answer may take, beyond the time a blocking command waits by itself."""

HEALTH_INTERVAL: Final = 30
"""Seconds of silence after which a connection is tested with PING before it is used."""

_COMMON: Final[Mapping[str, Any]] = {
    "socket_connect_timeout": CONNECT_TIMEOUT,
    "health_check_interval": HEALTH_INTERVAL,
    "driver_info": None,  # two round trips less for each connection
    "protocol": 2,
    "decode_responses": False,
}

_OF_ONE_SERVER: Final = frozenset({"path", "db", "redis_connect_func", "connection_pool"})
"""Arguments of a connection that are not those of another server."""

_pack: Final[Any] = hiredis.pack_command  # typed as taking one word


class _CommandPacker(HiredisRespSerializer):
    """Packs commands as redis-py does, which looks at each word first; that takes as long as packing it."""

    def pack(self, *args: Any) -> list[bytes]:
        """Return the bytes of a command; what hiredis can't pack alone is left to redis-py."""
        if isinstance(args[0], str) and " " not in args[0]:
            with suppress(TypeError):
                return [_pack(args)]
        found: list[bytes] = super().pack(*args)
        return found


_OF_THREADS: Final[Mapping[str, Any]] = {
    **_COMMON,
    "parser_class": WatchedParser,
    "command_packer": _CommandPacker(),
}
"""Arguments of all connections that are no event loop's."""


def make_client(target: str, *, blocking_timeout: float = 0.0) -> Redis:
    """Return a client of the server, or the cluster, at `target`; it connects at its first use.

    `target` is a URL (`infra.redis.addresses`), or the absolute path of a socket.
    `blocking_timeout` is the longest time, in seconds, that any command sent by this client
    waits in the server (XREAD BLOCK, BLPOP). The caller closes the client. Raises ValueError, with a sentence, for a URL it can't use.
    """
    if blocking_timeout < 0:
        raise ValueError(f"the blocking timeout can't be negative, it is {blocking_timeout!r}")
    options: dict[str, Any] = {
        **_OF_THREADS,
        "socket_timeout": ANSWER_TIMEOUT + blocking_timeout,
        "retry": Retry(NoBackoff(), 0),
    }
    url = _url_of(target)
    match topology_of(url):
        case Topology.CLUSTER:
            return ClusterClient(_slot_map(parse_servers(url), options))
        case Topology.SENTINEL:
            servers = parse_servers(url)
            sentinel = Sentinel(
                servers.hosts,
                sentinel_kwargs=_of_sentinels(servers, Retry(NoBackoff(), 0)),
                **servers.login,
                **options,
            )  # type: ignore[no-untyped-call]
            found: Redis = sentinel.master_for(servers.service)  # type: ignore[no-untyped-call]
            return found
    return Redis.from_pool(ConnectionPool.from_url(url, **options))


def make_async_client(target: str, *, max_connections: int | None = None) -> asyncio.Redis:
    """Return a client for an event loop of one server, or of the primary that sentinels name.

    Otherwise like `make_client`. A cluster is reached by `infra.redis.autopipeline`.
    """
    options = _async_options(max_connections)
    url = _url_of(target)
    if topology_of(url) is Topology.SENTINEL:
        servers = parse_servers(url)
        sentinel: Any = AsyncSentinel(
            servers.hosts,
            sentinel_kwargs=_of_sentinels(servers, AsyncRetry(NoBackoff(), 0)),
            **servers.login,
            **options,
        )  # type: ignore[no-untyped-call]
        found: asyncio.Redis = sentinel.master_for(servers.service)
        return found
    return asyncio.Redis.from_pool(asyncio.ConnectionPool.from_url(url, **options))


def make_slot_map(url: str) -> SlotMap:
    """Return the map of the slots of the cluster at a URL; it connects at its first use."""
    options = {**_OF_THREADS, "socket_timeout": ANSWER_TIMEOUT}
    return _slot_map(parse_servers(url), options)


def make_async_node(url: str, host: str, port: int, max_connections: int) -> asyncio.Redis:
    """Return a client for an event loop of one node of the cluster at a URL."""
    options = _async_options(max_connections) | {"host": host, "port": port}
    login = dict(parse_servers(url).login)
    if login.pop("ssl", ""):
        options["connection_class"] = asyncio.SSLConnection
    return asyncio.Redis.from_pool(asyncio.ConnectionPool(**login, **options))


def _async_options(max_connections: int | None) -> dict[str, Any]:
    return {
        **_COMMON,
        "max_connections": max_connections,
        "socket_timeout": ANSWER_TIMEOUT,
        "retry": AsyncRetry(NoBackoff(), 0),
        "parser_class": _AsyncHiredisParser,
    }


def _slot_map(servers: Servers, options: Mapping[str, Any]) -> SlotMap:
    login = dict(servers.login)
    kind = SSLConnection if login.pop("ssl", "") else Connection
    return SlotMap(servers.hosts, NodePool, {**options, **login, "connection_class": kind})


def _of_sentinels(servers: Servers, retry: Retry | AsyncRetry) -> dict[str, Any]:
    """Return the arguments of connections to sentinels; one is asked for each new connection.

    One that does not answer is not asked twice, because there are others.
    """
    login = {name: value for name, value in servers.sentinel_login.items() if name != "ssl"}
    more = {"ssl": True} if "ssl" in servers.sentinel_login else {}
    return {
        "socket_timeout": CONNECT_TIMEOUT,
        "socket_connect_timeout": CONNECT_TIMEOUT,
        "protocol": 2,
        "driver_info": None,
        "retry": retry,
        **login,
        **more,
    }


def make_sibling(client: Redis, host: str, port: int, timeout: float) -> Redis:
    """Return a client of another server, with the login and the encryption of `client`.

    `timeout` is in seconds. The caller closes it.
    """
    pool = client.connection_pool
    options = {k: v for k, v in pool.connection_kwargs.items() if k not in _OF_ONE_SERVER}
    options |= {"host": host, "port": port}
    options |= {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    kind = pool.connection_class
    if issubclass(kind, UnixDomainSocketConnection | SentinelManagedConnection):
        # that of sentinels would go to the primary
        kind = SSLConnection if issubclass(kind, SSLConnection) else Connection
    return Redis.from_pool(ConnectionPool(connection_class=kind, **options))


Clock: TypeAlias = Callable[[], int]
"""Returns the time in ms in place of the server's TIME: the port for tests."""


def time_ms(client: Redis, clock: Clock | None = None) -> int:
    """Return the server's time in ms, or that of `clock`."""
    return clock() if clock else to_ms(client.time())


def to_ms(reply: Any) -> int:
    """Return a reply to TIME in ms."""
    seconds, micros = reply
    return int(seconds) * 1000 + int(micros) // 1000


def info_of(reply: bytes) -> Mapping[str, Any]:
    """Return a reply to INFO that redis-py has not parsed, as fields and values."""
    found: Mapping[str, Any] = parse_info(reply)  # type: ignore[no-untyped-call]
    return found


def settings_of(reply: Iterable[bytes]) -> dict[str, str]:
    """Return a reply to CONFIG GET that redis-py has not parsed, as settings and values."""
    parts = [part.decode() for part in reply]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _url_of(target: str) -> str:
    url = unix_url(target) if target.startswith("/") else target
    check_url(url)
    return url
