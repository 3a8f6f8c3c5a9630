"""A cluster of embedded servers on loopback, for benchmarks; it needs no tool but the server's program.

Its nodes are primaries without replicas. Each has the settings of an embedded server, and a TCP port beside its
socket, because the nodes of a cluster know each other by port.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import redis

from bench.free_ports import LOOPBACK, free_port, listens
from infra.valkey.server import EmbeddedServer

SLOTS: Final = 16_384

_BUS: Final = 10_000
"""How much higher the port is that nodes use among themselves."""

_SECONDS_TO_FORM: Final = 60.0


def free_ports(count: int) -> list[int]:
    """Return ports on which nothing listens, nor on those that nodes use beside them."""
    found: set[int] = set()
    while len(found) < count:
        port = free_port()
        if not listens(port + _BUS):
            found.add(port)
    return list(found)


def form_cluster(ports: Sequence[int], primaries: int) -> None:
    """Introduce the servers on these ports to each other, and divide all slots among the first ones.

    Return when each of them sees all slots served. Raise TimeoutError if that takes too long.
    """
    for at, port in enumerate(ports):
        with _client(port) as client:
            client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", at + 1)
            if at < primaries:
                first, last = at * SLOTS // primaries, (at + 1) * SLOTS // primaries - 1
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
            for other in ports[:at]:
                client.execute_command("CLUSTER", "MEET", LOOPBACK, other)
    end = time.monotonic() + _SECONDS_TO_FORM
    while not all(_is_whole(port, len(ports)) for port in ports):
        if time.monotonic() > end:
            raise TimeoutError(f"the cluster was not formed within {_SECONDS_TO_FORM:g} s")
        time.sleep(0.05)


def _is_whole(port: int, nodes: int) -> bool:
    with _client(port) as client:
        info: bytes = client.execute_command("CLUSTER", "INFO")
    return b"cluster_state:ok\r\n" in info and f"cluster_known_nodes:{nodes}\r\n".encode() in info


def _client(port: int) -> redis.Redis:
    return redis.Redis(host=LOOPBACK, port=port, socket_timeout=5, protocol=2)


class LocalCluster(NamedTuple):
    """A cluster that runs; its nodes are in the order of their slots."""

    url: str
    """It names all nodes."""
    nodes: list[EmbeddedServer]


@contextmanager
def local_cluster(
    folder: Path,
    nodes: int,
    options: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[LocalCluster]:
    """Run a cluster of so many nodes below `folder`, and yield it.

    `options` are further settings of each server, and `env` is added to its environment.
    """
    ports = free_ports(nodes)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                EmbeddedServer(
                    folder / f"node-{port}",
                    name=f"node {port}",
                    options={**_settings(port), **(options or {})},
                    env=env,
                )
            )
            for port in ports
        ]
        form_cluster(ports, len(ports))
        addresses = ",".join(f"{LOOPBACK}:{port}" for port in ports)
        yield LocalCluster(f"redis+cluster://{addresses}", servers)


def _settings(port: int) -> dict[str, str]:
    return {
        "port": str(port),
        "bind": LOOPBACK,
        "cluster-enabled": "yes",
        # a single node has no other that knows its address
        "cluster-announce-ip": LOOPBACK,
    }
