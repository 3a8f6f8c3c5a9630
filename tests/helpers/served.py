"""A real `matchpost serve` on a data directory of its own, and players of whole games on it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Self

import redis
from redis import Redis
from redis.exceptions import RedisError

from bench.workload import PlannedGame, games, moves, starts
from domain.match.commands import CommandEnvelope
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState
from infra.durability.durability import Mode
from infra.redis.addresses import unix_url
from infra.redis.clients import make_client
from infra.store.gateway import OutcomePending
from infra.store.leases import LaneLeases
from infra.store.outcomes import CommandOutcome
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.directory import DataDirectory
from infra.valkey.server import FOLDER, EmbeddedError, socket_url
from tests.helpers.forked import SCRIPT, Forked, can_be_forked, run_command
from tests.helpers.gateways import StoreGateway

SERVE = (str(SCRIPT), "serve")
_API = "The API is at "


def until(condition: Callable[[], object], seconds: float = 60, pause: float = 0.02) -> float:
    """Wait for a condition, as long as a busy machine may need; return how long it took.

    `pause` is the time between two looks, in seconds.
    """
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"not within {seconds} s: {condition}")
        time.sleep(pause)
    return time.monotonic() - began


class Served:
    """The server process; `with` starts and stops it."""

    def __init__(
        self, data: Path, env: Mapping[str, str] | None = None, argv: Sequence[str] = SERVE
    ) -> None:
        self.data = data
        self._argv = argv
        clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
        # no two servers of a machine's tests may ask for the same port
        # and a process of robots is only started where they play
        ours = {"MATCHPOST_DATA": str(data), "MATCHPOST_HTTP": "off", "MATCHPOST_ROBOTS": "0"}
        self.env = {**clean, **ours, **(env or {})}
        # no test may read the login of the user that runs it
        self.env["XDG_CONFIG_HOME"] = str(data.parent / "config")
        self.env["XDG_CACHE_HOME"] = str(data.parent / "cache")
        self.process: subprocess.Popen[bytes] | Forked | None = None
        self.url = ""
        """Of the HTTP API, where there is one."""

    def start(self) -> Self:
        """Start and wait for `ready`."""
        self.log = (self.data.parent / "serve.log").open("ab")
        reading, writing = os.pipe()
        self._output = os.fdopen(reading, encoding="utf-8")
        with os.fdopen(writing, "wb") as out:
            if self._argv == SERVE and can_be_forked(self.env):
                with Path(os.devnull).open("rb") as empty:
                    self.process = Forked(["serve"], self.env, [empty, out, self.log])
            else:
                self.process = subprocess.Popen(
                    self._argv, env=self.env, stdout=out, stderr=self.log
                )
        for line in self._output:
            if line.startswith(_API):
                self.url = line.removeprefix(_API).removesuffix("/api/\n")
            if line == "ready\n":
                return self
        code = self._wait(60)
        raise AssertionError(f"ended with {code}: {(self.data.parent / 'serve.log').read_text()}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end."""
        assert self.process is not None
        self.process.send_signal(number)
        return self._wait(120)

    def _wait(self, seconds: float) -> int:
        assert self.process is not None
        code = self.process.wait(seconds)
        self._output.close()
        self.log.close()
        self.process = None
        return code

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.end()

    def client(self) -> Redis:
        """A client of the embedded server; the caller closes it."""
        return make_client(socket_url(self.data), blocking_timeout=5)

    def queue(self) -> Redis:
        """A client of the embedded server of the queue; the caller closes it."""
        return make_client(socket_url(self.data / FOLDER), blocking_timeout=5)

    def children(self, name: str) -> list[int]:
        """Process ids below the server whose command line has `name` in it."""
        assert self.process is not None
        return [
            pid for pid in _children_of(self.process.pid) if name.encode() in _arguments_of(pid)
        ]

    def servers(self) -> list[int]:
        """Process ids of the Valkey of the data: one, or none."""
        queues = self.children(f"/{FOLDER}/valkey.sock")
        return [pid for pid in self.children("valkey-server") if pid not in queues]

    def do(self, *lines: str) -> None:
        """Carry command lines out, all in one process; each must be accepted."""
        done = self.run("do", "\n".join(["multiple", *lines]))
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, *words: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run `matchpost` as a user would; `typed` is its standard input."""
        return run_command(words, self.env, typed)


def _children_of(parent: int) -> list[int]:
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdecimal() and _parent_of(int(entry.name)) == parent
    ]


def _parent_of(pid: int) -> int | None:
    """The parent of a process that has not ended; what is a zombie has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # after the name in brackets, which may hold anything
    state, parent, *_ = stat.rpartition(")")[2].split()
    return None if state == "Z" else int(parent)


def _arguments_of(pid: int) -> bytes:
    """A process's command line; empty when it has just ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except (FileNotFoundError, ProcessLookupError):
        return b""


class Player:
    """A client that repeats each command, under the same id, until it has an outcome."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.acknowledged: list[tuple[CommandEnvelope, CommandOutcome]] = []
        self.unknown = 0

    def send(self, sent: CommandEnvelope, seconds: float = 60) -> CommandOutcome:
        """Send until there is an outcome, whatever breaks in between."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                with self._served.client() as client, gateway(client) as submitting:
                    outcome = submitting.send(sent, 0, seconds=5)
            except (RedisError, OutcomePending, EmbeddedError, LookupError):
                self.unknown += 1
                time.sleep(0.05)
            else:
                self.acknowledged.append((sent, outcome))
                return outcome
        raise AssertionError(f"no outcome for {sent} within {seconds} s")

    def play(self, orders: Sequence[CommandEnvelope]) -> None:
        """Play through; every command must be accepted."""
        for sent in orders:
            outcome = self.send(sent)
            assert outcome.accepted, outcome


def queue_of(client: redis.Redis) -> redis.Redis:
    """A client of the server of the queue: that beside an embedded server, or else the same."""
    folder = Path(str(client.config_get("dir")["dir"])).parent / FOLDER
    if not folder.exists():
        return client
    return make_client(unix_url(str(DataDirectory(folder).known_socket())), blocking_timeout=5)


def gateway(client: redis.Redis) -> StoreGateway:
    queue = queue_of(client)
    store = RedisStore(client, Mode.FSYNC)
    return StoreGateway(store, LaneLeases(queue, lambda lane: enqueue_drain(queue, lane)), queue)


def order(game: PlannedGame, number: int) -> CommandEnvelope:
    """The nth command of a game, 0 for the challenge."""
    return [*starts([game]), *moves([game])][number]


def matches(count: int, plies: int) -> list[list[CommandEnvelope]]:
    """The commands of some matches, cut to so many plies."""
    return [[*starts([game]), *moves([game])][: plies + 1] for game in games(count)]


def state_of(client: redis.Redis, board: int) -> MatchState:
    return unpack_snapshot(RedisStore(client, Mode.FSYNC).snapshots([board])[0]).state


def all_play(
    served: Served, played: Sequence[Sequence[CommandEnvelope]]
) -> tuple[list[Player], list[Thread]]:
    players = [Player(served) for _ in played]
    threads = [
        Thread(target=player.play, args=(orders,))
        for player, orders in zip(players, played, strict=True)
    ]
    for thread in threads:
        thread.start()
    return players, threads
