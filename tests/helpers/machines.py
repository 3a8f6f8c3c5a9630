"""A server on several machines: servers of the data and of the queue, and roles as processes of their own.

Each machine has a data directory that no other one has; what they share is in one folder.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from redis import Redis

from infra.health.heartbeats import read_heartbeats
from infra.redis.access import ROLES as ACCESS
from infra.redis.access import USER_PREFIX, acl_lines
from infra.redis.clients import make_client
from tests.helpers.clusters import DURABLE, Cluster, Node, free_ports, running
from tests.helpers.forked import SCRIPT, run_command
from tests.helpers.served import until

ADMIN = "admin"
"""A user of the tests, who may do everything."""

ROLES = (
    "worker", "side", "scheduler", "publisher", "maintenance", "robots", "web", "mail", "mailer",
)  # fmt: skip


class Servers:
    """A server of the data, or a cluster of primaries, and a server of the queue, each on a port of loopback."""

    def __init__(self, folder: Path, primaries: int = 1) -> None:
        self.folder = folder
        self._passwords = {name: f"pass-{name}" for name in (*ACCESS, "replica")}
        folder.mkdir(parents=True, exist_ok=True)
        users = str(folder / "data.acl")
        self.cluster: Cluster | None = None
        if primaries > 1:
            self.cluster = Cluster(folder / "data", primaries, 0, aclfile=users)
            self.nodes = self.cluster.nodes
        else:
            (port,) = free_ports(1)
            self.nodes = [Node(folder / "data", port, {**DURABLE, "aclfile": users})]
        no_file = {"save": "", "appendonly": "no", "aclfile": str(folder / "queue.acl")}
        self.queue = Node(folder / "queue", free_ports(1)[0], no_file)

    def _write_users(self, name: str) -> None:
        """Write the file of a server's users, with one more for the test."""
        lines = acl_lines(self._passwords, queue=name == "queue")
        lines.append(f"user {USER_PREFIX}{ADMIN} on >{ADMIN} ~* &* +@all")
        (self.folder / f"{name}.acl").write_text("\n".join(lines) + "\n")

    def urls(self, role: str) -> dict[str, str]:
        """Return the variables by which a role reaches all with its own user."""
        user = role if role in ACCESS else "operator"
        login = f"{USER_PREFIX}{user}:pass-{user}"
        scheme = "redis+cluster" if self.cluster else "redis"
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return {
            "MATCHPOST_REDIS_URL": f"{scheme}://{login}@{hosts}",
            "MATCHPOST_QUEUE_URL": f"redis://{login}@127.0.0.1:{self.queue.port}",
        }

    def denials(self) -> list[str]:
        """Return what the servers have refused to their users."""
        found: list[str] = []
        for node in (*self.nodes, self.queue):
            with node.client(decode_responses=True) as client:
                entries: Any = client.acl_log()
            found += [f"{one['username']}: {one['reason']} {one['object']}" for one in entries]
        return found

    def start(self) -> None:
        """Start all, with the users of all roles."""
        for name in ("data", "queue"):
            self._write_users(name)
        login = {"username": f"{USER_PREFIX}{ADMIN}", "password": ADMIN}
        self.queue.login = login
        if self.cluster is None:
            self.nodes[0].login = login
            self.nodes[0].start()
        else:
            self._start_cluster(self.cluster)
        self.queue.start()

    def _start_cluster(self, cluster: Cluster) -> None:
        """Form a cluster while anybody may do everything, then let its nodes load the users."""
        (self.folder / "data.acl").write_text("user default on nopass ~* &* +@all\n")
        cluster.start()
        self._write_users("data")
        for node in cluster.nodes:
            with node.client() as client:
                client.acl_load()
            node.login = {"username": f"{USER_PREFIX}{ADMIN}", "password": ADMIN}

    def stop(self) -> None:
        for node in (*self.nodes, self.queue):
            node.kill()


class Machine:
    """A machine on which roles run, each started as an operator would."""

    def __init__(self, folder: Path, servers: Servers, environment: Mapping[str, str]) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._servers = servers
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
        own = {"MATCHPOST_DATA": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
        self._environment = {**clean, **environment, **own}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def log(self) -> str:
        """What the machine's processes have logged."""
        return (self.folder / "log").read_text(errors="replace")

    def start(self, *roles: str) -> None:
        """Start roles, without waiting for them."""
        for role in roles:
            with (self.folder / "log").open("ab") as log:
                self.processes[role] = subprocess.Popen(
                    [SCRIPT, role], env=self.environment(role), stdout=log, stderr=log
                )

    def environment(self, role: str) -> dict[str, str]:
        return {**self._environment, **self._servers.urls(role)}

    def kill(self, role: str) -> None:
        """Kill a role as a power cut would."""
        process = self.processes.pop(role)
        process.kill()
        process.wait()

    def end(self) -> dict[str, int]:
        """End all roles in good order, and return their exit codes."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        codes = {role: process.wait(60) for role, process in self.processes.items()}
        self.processes.clear()
        return codes

    def run(self, *words: str) -> str:
        """Run `matchpost` to its end, and return what it prints; it must succeed."""
        done = run_command(words, self.environment("operator"), seconds=120)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout


def shared_settings(folder: Path) -> dict[str, str]:
    """Return the variables that all machines share, with the secrets in one folder."""
    return {
        "MATCHPOST_SHARDS": "4",
        "MATCHPOST_WORKERS": "2",
        "MATCHPOST_SEEDS": str(folder / "seeds"),
        "MATCHPOST_KEYS": str(folder / "keys"),
        "MATCHPOST_MAIL_KEY": str(folder / "mail-key"),
        "MATCHPOST_STORE": (folder / "log").as_uri(),
        "MATCHPOST_MAIL_DOMAIN": "play.example.org",
        "MATCHPOST_ADDRESS_RATE": "100000",
        "MATCHPOST_COMMAND_RATE": "100000",
        "MATCHPOST_PASSWORD_RATE": "1000",
        "MATCHPOST_ROBOT_SECONDS": "0",
    }


@contextmanager
def machines(
    folder: Path, servers: Servers, names: Sequence[str], more: Mapping[str, str]
) -> Iterator[list[Machine]]:
    """Yield machines with servers that run and data that were prepared; kill what is left at the end."""
    found: list[Machine] = []
    with running(servers):
        try:
            for name, http in zip(names, free_ports(len(names)), strict=True):
                environment = shared_settings(folder / "shared") | more
                environment["MATCHPOST_HTTP"] = f"127.0.0.1:{http}"
                found.append(Machine(folder / name, servers, environment))
            found[0].run("prepare")
            yield found
        finally:
            for machine in found:
                for role in list(machine.processes):
                    machine.kill(role)


def web_url(machine: Machine) -> str:
    """Return where a machine answers over HTTP."""
    return f"http://{machine.environment('web')['MATCHPOST_HTTP']}"


def wait_for_roles(servers: Servers, machines_: Sequence[Machine]) -> None:
    """Wait until each process that was started sends heartbeats."""
    wanted = {process.pid for one in machines_ for process in one.processes.values()}
    with servers.queue.client() as queue:
        until(lambda: wanted <= {beat.pid for beat in read_heartbeats(queue)}, 120)


def data_client(servers: Servers) -> Redis:
    """Return a client of the server of the data; the caller closes it."""
    return make_client(servers.urls("operator")["MATCHPOST_REDIS_URL"], blocking_timeout=5)


class WebPlayer:
    """A player who repeats each request, with its key, at one machine after the other until it is answered."""

    def __init__(self, urls: Sequence[str], name: str, first: int = 0) -> None:
        self.name = name
        self._clients = [httpx.Client(base_url=url, trust_env=False, timeout=30) for url in urls]
        self._at = cycle(self._clients[first:] + self._clients[:first])
        self._headers: dict[str, str] = {}

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def sign_up(self) -> None:
        """Make an account, and a token for it."""
        body = {"userid": self.name, "password": "sing-along"}
        # the account of a request that was repeated is there already
        self.send("POST", "/api/accounts", body, accepted=(201, 409))
        wanted = {**body, "label": "all", "scopes": ["play", "read"]}
        token = self.send("POST", "/api/tokens", wanted)["token"]
        self._headers = {"Authorization": f"Bearer {token}"}

    def start(self, game: str, *players: str) -> int:
        return int(self.send("POST", "/api/matches", {"game": game, "players": players})["board"])

    def accept(self, board: int) -> None:
        """Accept a match to which the player is invited."""
        self.send("POST", f"/api/matches/{board}/commands", {"do": "accept"})

    def move(self, board: int, text: str, ply: int) -> None:
        body = {"do": "move", "move": text, "ply": ply}
        self.send("POST", f"/api/matches/{board}/commands", body)

    def match(self, board: int) -> dict[str, Any]:
        return dict(self.send("GET", f"/api/matches/{board}"))

    def send(
        self, method: str, path: str, body: Any = None, accepted: Sequence[int] = (200, 201)
    ) -> Any:
        """Send a request until it is answered for good; `AssertionError` if it is refused."""
        headers = {**self._headers, "Idempotency-Key": uuid4().hex}
        end = time.monotonic() + 120
        said = ""
        while time.monotonic() < end:
            try:
                answer = next(self._at).request(method, path, json=body, headers=headers)
            except httpx.TransportError as error:
                said = str(error)
            else:
                if answer.status_code in accepted:
                    return answer.json()
                said = answer.text
                # 202 and 503: nothing is decided yet
                assert answer.status_code in (202, 503), said
            time.sleep(0.1)
        raise AssertionError(f"no answer to {method} {path}: {said}")
