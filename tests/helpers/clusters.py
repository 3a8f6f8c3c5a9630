"""Clusters and Sentinel pairs on loopback, formed with the embedded server's program and no other tool."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import redis

from bench.local_cluster import form_cluster, free_ports
from infra.redis.clients import make_client
from infra.valkey.binary import find_binary

NODE_TIMEOUT_MS = 2_000
"""After so long without an answer a node counts as failed."""

PATIENCE_SECONDS = 60.0

DURABLE = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
    "save": "",
}

BUS_PORT: Final = 10_000
"""How far the port that nodes use among themselves is above that for clients."""

Guard = Callable[[int], int]
"""Returns the port through which others reach a port of a server, such as that of a proxy."""


class Node:
    """One server of a test, on a port of loopback; it keeps its data when it is killed."""

    def __init__(self, folder: Path, port: int, settings: dict[str, str], *words: str) -> None:
        self.folder = folder
        self.port = port
        self._settings = {"port": str(port), "bind": "127.0.0.1", "dir": str(folder), **settings}
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None
        self.login: dict[str, str] = {}
        """Username and password of the test's own clients, where the server asks for them."""
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def source(self) -> str:
        """Return the address that the server connects from, if it has one of its own."""
        return f"127.1.{self.port // 256}.{self.port % 256}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def client(self, **options: Any) -> redis.Redis:
        """Return a client of this server alone, as redis-py makes it."""
        return redis.Redis(
            host="127.0.0.1",
            port=self.port,
            **{"socket_timeout": 5, "protocol": 2, **self.login, **options},
        )

    def configure(self, settings: dict[str, str]) -> None:
        """Add settings of this server alone, which hold from its next start on."""
        self._settings |= settings

    def start(self) -> None:
        """Start the server and wait until it answers."""
        words = [word for name, value in self._settings.items() for word in (f"--{name}", value)]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [find_binary().path, *self._words, *words], cwd=self.folder, stdout=log, stderr=log
            )
        self.wait()

    def wait(self) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        with self.client() as client:
            while True:
                try:
                    client.ping()
                except redis.RedisError:
                    assert self._process is None or self._process.poll() is None, self.log_end()
                    assert time.monotonic() < end, self.log_end()
                    time.sleep(0.02)
                else:
                    return

    def kill(self) -> None:
        """Kill the server, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def log_end(self) -> str:
        return (self.folder / "server.log").read_text(errors="replace")[-2_000:]


class Cluster:
    """A cluster of primaries, each with some replicas.

    With a `guard` the nodes announce the ports that it returns, and each connects from an address of its own.
    """

    def __init__(
        self,
        folder: Path,
        primaries: int,
        replicas: int,
        guard: Guard | None = None,
        **settings: str,
    ) -> None:
        self.folder = folder
        self._replicas = replicas
        ports = free_ports(primaries * (1 + replicas))
        common = {
            **DURABLE, "cluster-enabled": "yes", "cluster-node-timeout": str(NODE_TIMEOUT_MS),
            "cluster-replica-validity-factor": "0", "repl-diskless-sync-delay": "0",
            "enable-debug-command": "local", **settings,
        }  # fmt: skip
        self.nodes = [Node(folder / f"node-{port}", port, common) for port in ports]
        self.primaries = self.nodes[:primaries]
        """Those that were primaries at the start."""
        self.ports = [guard(port) if guard else port for port in ports]
        """Of each node, the port that clients use."""
        if guard is not None:
            for node, port in zip(self.nodes, self.ports, strict=True):
                node.configure({
                    "bind-source-addr": node.source,
                    "cluster-announce-ip": "127.0.0.1",
                    "cluster-announce-port": str(port),
                    "cluster-announce-bus-port": str(guard(node.port + BUS_PORT)),
                })  # fmt: skip

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def client(self, blocking_timeout: float = 0.0) -> redis.Redis:
        """Return a client of the cluster; the caller closes it."""
        return make_client(self.url, blocking_timeout=blocking_timeout)

    def start(self) -> None:
        for node in self.nodes:
            node.start()
        count = len(self.primaries)
        form_cluster([node.port for node in self.nodes], count)
        for at, node in enumerate(self.nodes[count:]):
            with self.primaries[at % count].client() as client:
                primary = client.execute_command("CLUSTER", "MYID")
            with node.client() as client:
                client.execute_command("CLUSTER", "REPLICATE", primary)
        self.wait_until(self.whole)

    def whole(self) -> bool:
        """Return whether each node sees all slots served, and each replica follows its primary."""
        for node in self.nodes:
            with node.client() as client:
                if b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
                    return False
                role: Any = client.execute_command("ROLE")
                if role[0] == b"slave" and role[3] != b"connected":
                    return False
                if role[0] == b"master" and len(role[2]) < self._replicas:
                    return False
        return True

    def wait_until(self, condition: Any) -> None:
        """Wait until a condition holds; connection errors count as no."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                if condition():
                    return
            except redis.RedisError:
                pass
            assert time.monotonic() < end, "the cluster is not whole: " + self.nodes[0].log_end()
            time.sleep(0.05)

    def flush(self) -> None:
        """Delete all keys, all scripts and the counts of errors."""
        empty(self.primaries)

    def errors(self) -> dict[str, int]:
        """Return how often the nodes have answered with errors, by kind, since the last `flush`."""
        return errors_of(self.nodes)

    def commands(self) -> set[str]:
        """Return the names of the commands that the nodes have executed since the last `flush`."""
        return commands_of(self.nodes)

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()


def empty(nodes: Sequence[Node]) -> None:
    """Delete all keys of primaries, all scripts and the counts of errors."""
    for node in nodes:
        with node.client() as client:
            client.flushall()
            client.script_flush()
            client.config_resetstat()


def errors_of(nodes: Sequence[Node]) -> dict[str, int]:
    """Return how often nodes have answered with errors, by kind, since they were emptied."""
    found: dict[str, int] = {}
    for node in nodes:
        with node.client() as client:
            info: Any = client.info("errorstats")
        for name, value in info.items():
            kind = name.removeprefix("errorstat_")
            found[kind] = found.get(kind, 0) + int(value["count"])
    return found


def commands_of(nodes: Sequence[Node]) -> set[str]:
    """Return the names of the commands that nodes have executed since they were emptied."""
    found: set[str] = set()
    for node in nodes:
        with node.client() as client:
            info: Any = client.info("commandstats")
        found |= {name.removeprefix("cmdstat_") for name in info}
    return found


class SentinelPair:
    """A primary with a replica, and three sentinels that watch them; `guard` as for a cluster."""

    service = "matches"

    def __init__(
        self, folder: Path, sentinels: int = 3, guard: Guard | None = None, **settings: str
    ) -> None:
        self.folder = folder
        ports = free_ports(2 + sentinels)
        common = {**DURABLE, "repl-diskless-sync-delay": "0", **settings}
        self.servers = [Node(folder / f"server-{port}", port, common) for port in ports[:2]]
        self.ports = [guard(port) if guard else port for port in ports[:2]]
        """Of each server, the port that clients use."""
        self.sentinels = [self._sentinel(port) for port in ports[2:]]
        if guard is not None:
            for node, announced in zip(self.servers, self.ports, strict=True):
                address = {
                    "replica-announce-ip": "127.0.0.1",
                    "replica-announce-port": str(announced),
                }
                node.configure({"bind-source-addr": node.source, **address})
            for sentinel in self.sentinels:
                sentinel.configure({"bind-source-addr": sentinel.source})

    def _sentinel(self, port: int) -> Node:
        folder = self.folder / f"sentinel-{port}"
        folder.mkdir(parents=True)
        name, quorum = self.service, 2
        (folder / "sentinel.conf").write_text(
            f"sentinel monitor {name} 127.0.0.1 {self.ports[0]} {quorum}\n"
            f"sentinel down-after-milliseconds {name} {NODE_TIMEOUT_MS}\n"
            f"sentinel failover-timeout {name} 10000\n"
            # not the address that it connects from
            f"sentinel announce-ip 127.0.0.1\nsentinel announce-port {port}\n"
        )
        return Node(folder, port, {}, str(folder / "sentinel.conf"), "--sentinel")

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.sentinels)
        return f"redis+sentinel://{hosts}/{self.service}"

    def client(self, blocking_timeout: float = 0.0) -> redis.Redis:
        """Return a client of the primary, whichever it is; the caller closes it."""
        return make_client(self.url, blocking_timeout=blocking_timeout)

    def start(self) -> None:
        """Start all, and wait until the sentinels know each other and the replica."""
        first, second = self.servers
        first.start()
        second.start()
        with second.client() as client:
            client.replicaof("127.0.0.1", self.ports[0])
        for sentinel in self.sentinels:
            sentinel.start()
        end = time.monotonic() + PATIENCE_SECONDS
        while not all(map(self._knows_all, self.sentinels)):
            assert time.monotonic() < end, self.sentinels[0].log_end()
            time.sleep(0.05)

    def _knows_all(self, sentinel: Node) -> bool:
        with sentinel.client() as client:
            found: Any = client.execute_command("SENTINEL", "MASTER", self.service)
        state = (
            dict(zip(found[::2], found[1::2], strict=True)) if isinstance(found, list) else found
        )
        wanted = {"num-slaves": "1", "num-other-sentinels": str(len(self.sentinels) - 1)}
        texts = {_text(name): _text(value) for name, value in state.items()}
        return all(texts[name] == value for name, value in wanted.items())

    def flush(self) -> None:
        """Delete all keys, all scripts and the counts of errors."""
        empty([self.primary()])

    def errors(self) -> dict[str, int]:
        """Return how often the servers have answered with errors, by kind, since the last `flush`."""
        return errors_of(self.servers)

    def commands(self) -> set[str]:
        """Return the names of the commands that the servers have executed since the last `flush`."""
        return commands_of(self.servers)

    def primary(self) -> Node:
        """Return the server that the first sentinel names."""
        with self.sentinels[0].client() as client:
            _, port = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)
        return self.servers[self.ports.index(int(port))]

    def stop(self) -> None:
        for node in [*self.sentinels, *self.servers]:
            node.kill()


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@contextmanager
def running(servers: Any) -> Iterator[Any]:
    """Run a cluster or a pair; delete its files at the end."""
    try:
        servers.start()
        yield servers
    finally:
        servers.stop()
        shutil.rmtree(servers.folder, ignore_errors=True)
