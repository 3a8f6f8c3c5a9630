"""URLs of servers: what a URL may say, and how it is read.

| URL | what it names |
|---|---|
| `redis://host:port/db`, `rediss://...` | one server, with TLS for `rediss` |
| `unix:///path?db=1` | one server, by its socket |
| `redis+sentinel://host:port,host:port/service?db=1` | the primary that these sentinels name |
| `redis+cluster://host:port,host:port` | a cluster, by some of its nodes |

`rediss+sentinel` and `rediss+cluster` are the same with TLS. A login before the hosts is that of the servers;
that of sentinels is in `sentinel_username` and `sentinel_password`.
Imports nothing slow, because the settings import it.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

SCHEMES: Final = ("redis", "rediss", "unix")
"""Schemes of one server."""

_TLS: Final = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
_LOGIN_OF_SENTINELS: Final = frozenset({"sentinel_username", "sentinel_password"})

# redis-py lets the query string of a URL override every argument, our timeouts and retries too
_QUERY_OPTIONS: Final = _TLS | {"db", "username", "password"}

_DEFAULT_PORTS: Final[Mapping[str, int]] = {"cluster": 6379, "sentinel": 26379}


class Topology(Enum):
    """The kind of servers that a URL names."""

    SERVER = "server"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


class Servers(msgspec.Struct, frozen=True):
    """Several servers, as the URL of a cluster or of sentinels names them."""

    topology: Topology
    hosts: tuple[tuple[str, int], ...]
    """Nodes, or sentinels."""
    service: str
    """The name of the primary, for sentinels."""
    login: Mapping[str, Any]
    """Arguments of connections to the servers: login, database and TLS."""
    sentinel_login: Mapping[str, Any]
    """The same for connections to sentinels."""


def topology_of(url: str) -> Topology:
    """Return what a URL names, by its scheme."""
    kind = url.partition("://")[0].partition("+")[2]
    return Topology(kind) if kind in _DEFAULT_PORTS else Topology.SERVER


def check_url(url: str) -> None:
    """Raise ValueError, with a sentence that repeats no password, for a URL that can't be used."""
    if topology_of(url) is not Topology.SERVER:
        parse_servers(url)
        return
    if not url.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)):
        raise ValueError(
            "a server's URL starts with redis://, rediss:// or unix://, a cluster's with redis+cluster:// "
            "or rediss+cluster://, that of sentinels with redis+sentinel:// or rediss+sentinel://"
        )
    parts = urlsplit(url)
    _check_options(parse_qs(parts.query), _QUERY_OPTIONS)
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


def check_queue_url(url: str) -> None:
    """Raise ValueError for a URL that can't be that of the queue's server."""
    check_url(url)
    if topology_of(url) is Topology.CLUSTER:
        raise ValueError(
            "RQ, which keeps the work queues, does not run on a cluster; name one server, or sentinels"
        )


def parse_servers(url: str) -> Servers:
    """Return what the URL of a cluster or of sentinels says; ValueError, with a sentence, for a wrong one."""
    topology = topology_of(url)
    scheme, _, rest = url.partition("://")
    sentinel = topology is Topology.SENTINEL
    # a URL has one host, and `urlsplit` reads no list
    parts = urlsplit(f"x://{rest}")
    login, _, names = parts.netloc.rpartition("@")
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    more = _LOGIN_OF_SENTINELS if sentinel else frozenset()
    _check_options(options, (_QUERY_OPTIONS | more) - (frozenset() if sentinel else {"db"}))
    service = unquote(parts.path.strip("/"))
    if sentinel and not service:
        raise ValueError(
            "a URL of sentinels ends in the name of the primary, as redis+sentinel://host:26379/mymaster"
        )
    if service and not sentinel:
        raise ValueError("a cluster has no database: its URL ends after the hosts")
    if not options.get("db", "0").isdecimal():
        raise ValueError("the database in a server's URL is a number")
    port = _DEFAULT_PORTS[topology.value]
    tls = {name: options[name] for name in _TLS & options.keys()}
    if scheme.startswith("rediss"):
        tls["ssl"] = "yes"
    user, _, password = login.partition(":")
    given = {
        "username": unquote(user) or options.get("username"),
        "password": unquote(password) or options.get("password"),
        **({"db": int(options["db"])} if "db" in options else {}),
    }
    names_of_login = {name: name.removeprefix("sentinel_") for name in _LOGIN_OF_SENTINELS}
    return Servers(
        topology,
        tuple(_host(name, port) for name in names.split(",")),
        service,
        {name: value for name, value in given.items() if value is not None} | tls,
        {names_of_login[name]: options[name] for name in more & options.keys()} | tls,
    )


def unix_url(socket: str) -> str:
    """Return the URL of the server that listens on the socket at the absolute path `socket`."""
    return f"unix://{quote(socket)}"


def redact_url(url: str) -> str:
    """Return a URL without its passwords, for logs."""
    parts = urlsplit(url)
    _, login, host = parts.netloc.rpartition("@")
    secret = {"password", "sentinel_password"} & parse_qs(parts.query).keys()
    query = f"?{parts.query}" if parts.query and not secret else ""
    return f"{parts.scheme}://{'***@' if login else ''}{host}{parts.path}{query}"


def _host(text: str, default_port: int) -> tuple[str, int]:
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(\d{1,5}))?", text)
    port = int(found[2] or default_port) if found else 0
    if found is None or port not in range(1, 2**16):
        raise ValueError(f"{text!r} isn't a host with a port, such as 10.0.0.5:{default_port}")
    return found[1].strip("[]"), port


def _check_options(options: Mapping[str, Any], known: frozenset[str] | set[str]) -> None:
    refused = sorted(options.keys() - known)
    if refused:
        raise ValueError(f"a server's URL can't set {refused[0]!r}; matchpost chooses it")
