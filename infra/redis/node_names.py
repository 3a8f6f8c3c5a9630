"""Names of servers for sentences: an operator has to know which of several nodes is meant."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.sentinel import SentinelConnectionPool


class NodePool(redis.ConnectionPool):
    """The connections to a node of a cluster."""


def under_sentinels(client: redis.Redis) -> bool:
    """Return whether sentinels name the server of a client."""
    return isinstance(client.connection_pool, SentinelConnectionPool)


def node_name(client: redis.Redis) -> str:
    """Return the name of a node of a cluster, or of a primary under sentinels; empty for a server alone."""
    pool = client.connection_pool
    if isinstance(pool, SentinelConnectionPool):
        host, port = pool.master_address or ("", 0)
        return f"primary {host}:{port}" if port else "primary"
    if isinstance(pool, NodePool):
        return "node {host}:{port}".format(**pool.connection_kwargs)
    return ""


def node_address(client: redis.Redis) -> str:
    """Return host and port of a server; `socket` for one on a socket of this machine.

    Of a primary under sentinels it is the last one that was connected; before that the name that they know.
    """
    pool = client.connection_pool
    if isinstance(pool, SentinelConnectionPool):
        host, port = pool.master_address or (pool.service_name, 0)
        return f"{host}:{port}" if port else str(host)
    options = pool.connection_kwargs
    return "socket" if "path" in options else f"{options['host']}:{options['port']}"


@contextmanager
def naming_node(client: redis.Redis) -> Iterator[None]:
    """Let the text of an error that is raised here begin with the name of the node of a client."""
    try:
        yield
    except Exception as error:
        name = node_name(client)
        if name and error.args:
            error.args = (f"{name}: {error.args[0]}", *error.args[1:])
        raise
