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

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs, quote, urlsplit

from redis import ConnectionPool, Redis, asyncio
from redis._parsers import _AsyncHiredisParser
from redis._parsers.helpers import parse_info
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.connection import Connection, UnixDomainSocketConnection
from redis.retry import Retry

from infra.liveness import WatchedParser

CONNECT_TIMEOUT: Final = 5.0
"""Seconds until a server that does not take the connection counts as absent."""

ANSWER_TIMEOUT: Final = 10.0
"""Seconds an answer may take, beyond the time a blocking command waits by itself."""

HEALTH_INTERVAL: Final = 30
"""Seconds of silence after which a connection is tested with PING before it is used."""

SCHEMES: Final = ("redis://", "rediss://", "unix://")

_COMMON: Final[Mapping[str, Any]] = {
    "socket_connect_timeout": CONNECT_TIMEOUT,
    "health_check_interval": HEALTH_INTERVAL,
    "driver_info": None,  # two round trips less for each connection
    "protocol": 2,
    "decode_responses": False,
}

_OF_ONE_SERVER: Final = frozenset({"path", "db", "redis_connect_func"})
"""Arguments of a connection that are not those of another server."""

# redis-py lets the query string of a URL override every argument, our timeouts and retries too
_QUERY_OPTIONS: Final = frozenset(
    {"db", "username", "password", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
)


def make_client(
    target: str,
    *,
    blocking_timeout: float = 0.0,
    name: str | None = None,
    max_connections: int | None = None,
) -> Redis:
    """Return a client of the server at `target`; it connects at its first use.

    `target` is a `redis://`, `rediss://` or `unix://` URL, or the absolute path of a socket.
    `blocking_timeout` is the longest time, in seconds, that any command sent by this client
    waits in the server (XREAD BLOCK, BLPOP); `name` is shown in the server's CLIENT LIST.
    The caller closes the client. Raises ValueError, with a sentence, for a URL it can't use.
    """
    if blocking_timeout < 0:
        raise ValueError(f"the blocking timeout can't be negative, it is {blocking_timeout!r}")
    pool = ConnectionPool.from_url(
        _url_of(target),
        max_connections=max_connections,
        socket_timeout=ANSWER_TIMEOUT + blocking_timeout,
        retry=Retry(NoBackoff(), 0),
        client_name=name,
        parser_class=WatchedParser,
        **_COMMON,
    )
    return Redis.from_pool(pool)


def make_async_client(
    target: str, *, blocking_timeout: float = 0.0, max_connections: int | None = None
) -> asyncio.Redis:
    """Return a client for an event loop; otherwise like `make_client`."""
    pool: Any = asyncio.ConnectionPool.from_url(
        _url_of(target),
        max_connections=max_connections,
        socket_timeout=ANSWER_TIMEOUT + blocking_timeout,
        retry=AsyncRetry(NoBackoff(), 0),
        parser_class=_AsyncHiredisParser,
        **_COMMON,
    )
    return asyncio.Redis.from_pool(pool)


def make_sibling(client: Redis, host: str, port: int, timeout: float) -> Redis:
    """Return a client of another server, with the login and the encryption of `client`.

    `timeout` is in seconds. The caller closes it.
    """
    pool = client.connection_pool
    options = {k: v for k, v in pool.connection_kwargs.items() if k not in _OF_ONE_SERVER}
    options |= {"host": host, "port": port}
    options |= {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    kind = pool.connection_class
    kind = Connection if issubclass(kind, UnixDomainSocketConnection) else kind
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


def unix_url(socket: str) -> str:
    """Return the URL of the server that listens on the socket at the absolute path `socket`."""
    return f"unix://{quote(socket)}"


def redact_url(url: str) -> str:
    """Return a URL without its password, for logs."""
    parts = urlsplit(url)
    _, login, host = parts.netloc.rpartition("@")
    query = f"?{parts.query}" if parts.query and "password" not in parse_qs(parts.query) else ""
    return f"{parts.scheme}://{'***@' if login else ''}{host}{parts.path}{query}"


def check_url(url: str) -> None:
    """Raise ValueError, with a sentence that repeats no password, for a URL that can't be used."""
    if not url.startswith(SCHEMES):
        raise ValueError("a server's URL starts with redis://, rediss:// or unix://")
    parts = urlsplit(url)
    refused = sorted(parse_qs(parts.query).keys() - _QUERY_OPTIONS)
    if refused:
        raise ValueError(f"a server's URL can't set {refused[0]!r}; matchpost chooses it")
    if parts.scheme == "unix":
        if parts.hostname or not parts.path.startswith("/"):
            raise ValueError("a unix:// URL has an absolute path, after three slashes")
        return
    try:
        _ = parts.port
    except ValueError as error:
        raise ValueError("the port in a server's URL is a number up to 65535") from error
    # redis-py would silently use database 0
    if not re.fullmatch(r"/?|/\d+", parts.path):
        raise ValueError(f"the database in a server's URL is a number, not {parts.path[1:]!r}")
