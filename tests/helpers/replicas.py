"""A server with replicas on loopback, each a process with its own files."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from redis import Redis

from bench.free_ports import free_port
from infra.valkey.server import EmbeddedServer
from tests.helpers.served import until

COUNTED = {"min-replicas-to-write": "1", "min-replicas-max-lag": "10"}
"""Settings by which a server refuses writes without a replica."""


def enlist(primary: Redis, replica: EmbeddedServer) -> None:
    """Have a server follow a primary, which gets a port if it has none, and wait until it does."""
    primary.config_set("repl-diskless-sync-delay", "0")
    if primary.config_get("port")["port"] == "0":
        primary.config_set("port", free_port())
    with replica.client() as client:
        client.config_set("port", free_port())
        client.replicaof("127.0.0.1", primary.config_get("port")["port"])
    until(lambda: _follows(primary))


def _follows(primary: Redis) -> bool:
    return bool(primary.info("replication").get("slave0", {}).get("state") == "online")


class Pair:
    """A primary and its replica; `with` starts and stops them."""

    def __init__(self, folder: Path, options: Mapping[str, str], *, durable: bool = True) -> None:
        self._stack = ExitStack()
        self.primary = EmbeddedServer(folder / "primary", options=options)
        self.replica = EmbeddedServer(folder / "replica", durable=durable, options=COUNTED)

    def __enter__(self) -> Self:
        self._stack.enter_context(self.primary)
        self._stack.enter_context(self.replica)
        self.client = self._stack.enter_context(self.primary.client(blocking_timeout=5))
        enlist(self.client, self.replica)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
