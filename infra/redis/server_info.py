"""Figures of each server, of each primary in a cluster, for monitoring: from its INFO."""

from collections.abc import Mapping
from typing import Any

import msgspec
import redis
from redis.exceptions import RedisError

from infra.redis.cluster import servers_of
from infra.redis.node_names import node_address
from infra.redis.server_state import DISK_FULL, write_fault


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
