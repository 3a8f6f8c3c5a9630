"""A TCP proxy that breaks one exchange: a reply lost, cut short, late, or never; a request unsent.

Replies lost on the way: the client's retry under the same id gets the stored outcome.

Duplicates and reordering: each command one to five times, by several doors at once.
"""

import contextlib
import random
import socket
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Self

from bench.free_ports import free_port
from domain.match.commands import CommandEnvelope
from infra.redis.clients import make_client
from infra.valkey.server import EmbeddedServer
from trials.faults.checker import Record
from trials.faults.load import Client, orders
from trials.faults.results import Outcome
from trials.faults.station import Station

CHUNK = 1 << 16


class Break(StrEnum):
    """What is done to one exchange."""

    LOST = "reply lost"
    """The request is passed on; its reply is read and dropped, and the connection closed."""
    SHORT = "reply cut short"
    """Half of the reply is passed on, and the connection closed."""
    SILENT = "half-open"
    """The request is passed on; from then on nothing comes back, and nothing is closed."""
    LATE = "reply late"
    """The reply is passed on a second later."""
    UNSENT = "request lost"
    """The connection is closed without passing the request on."""


class Proxy:
    """Listens on a loopback port of its own in front of `target`; a context manager."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = Lock()
        self._armed: tuple[Break, int] | None = None
        self.done = 0
        """How many exchanges were broken."""
        self._open: list[socket.socket] = []
        self._closing = Event()

    def __enter__(self) -> Self:
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        _close(self._listener)
        for end in self._open:
            _close(end)

    def arm(self, what: Break, requests: int) -> None:
        """Break the exchange of the nth request from now, whatever connection it is on."""
        with self._lock:
            self._armed = what, requests

    def disarm(self) -> None:
        with self._lock:
            self._armed = None

    def _due(self) -> Break | None:
        with self._lock:
            if self._armed is None:
                return None
            what, left = self._armed
            self._armed = (what, left - 1) if left > 1 else None
            if left > 1:
                return None
            self.done += 1
            return what

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                near, _ = self._listener.accept()
            except OSError:  # closed
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [near, far]
            link = _Link(near, far)
            Thread(target=self._requests, args=(link,), daemon=True).start()
            Thread(target=link.replies, daemon=True).start()

    def _requests(self, link: "_Link") -> None:
        with contextlib.suppress(OSError):
            while data := link.neighbours.recv(CHUNK):
                what = self._due()
                if what is Break.UNSENT:
                    break
                if what is not None:
                    link.broken = what
                link.far.sendall(data)
        link.close()


class _Link:
    """One connection through the proxy."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.neighbours = near
        self.far = far
        self.broken: Break | None = None

    def replies(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.far.recv(CHUNK):
                match self.broken:
                    case Break.LOST:
                        break
                    case Break.SHORT:
                        self.neighbours.sendall(data[: len(data) // 2])
                        break
                    case Break.SILENT:
                        continue
                    case Break.LATE:
                        time.sleep(1.0)
                        self.broken = None
                self.neighbours.sendall(data)
            else:
                if self.broken is Break.SILENT:
                    return
        self.close()

    def close(self) -> None:
        _close(self.neighbours)
        _close(self.far)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


CLIENTS = 20
EXCHANGES = 6
"""The broken exchange is one of so many from when the command is sent."""


def replies(cases: int, folder: Path) -> Outcome:
    """Break so many exchanges, one for a command, between clients and a server on loopback TCP."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    options = {"port": str(port), "bind": "127.0.0.1"}
    with (
        EmbeddedServer(folder / "server", options=options) as server,
        Station(folder, {"MATCHPOST_REDIS_URL": server.url}, url=server.url) as station,
    ):
        clients = min(CLIENTS, cases)
        shares = [len(range(n, cases, clients)) for n in range(clients)]
        with ThreadPoolExecutor(clients) as pool:
            jobs = [
                pool.submit(_client, n, share, port, station.record)
                for n, share in enumerate(shares)
            ]
            broken = Counter(chain.from_iterable(job.result() for job in jobs))
        what = "an exchange with the server broken by a proxy"
        more = {"faults": broken.total(), "details": {"broken": dict(broken)}}
        return station.outcome("lost-replies", what, cases, [], **more)


def _client(number: int, cases: int, port: int, record: Record) -> list[Break]:
    """Play, breaking one exchange for each command, until enough have been broken."""
    chance = random.Random(number)
    broken: list[Break] = []
    kinds = list(Break)
    with Proxy(port) as proxy:
        url = f"redis://127.0.0.1:{proxy.port}"
        client = Client(f"proxied-{number}", lambda: make_client(url), record)
        boards = count(1 + number, CLIENTS)
        todo = chain.from_iterable(orders(board, 30) for board in boards)
        while len(broken) < cases:
            kind = kinds[(number + len(broken)) % len(kinds)]
            before = proxy.done
            proxy.arm(kind, chance.randint(1, EXCHANGES))
            client.send(next(todo))
            proxy.disarm()
            if proxy.done > before:
                broken.append(kind)
        client.hang_up()
    return broken


DOORS = 5
BOARDS_AT_ONCE = 4
PLIES = 30


def copies(sends: int, folder: Path) -> Outcome:
    """Hand commands in at least so many times, counting every copy."""
    with Station(folder, {"MATCHPOST_WORKERS": "2"}) as station:
        with ThreadPoolExecutor(BOARDS_AT_ONCE) as pool:
            share = -(-sends // BOARDS_AT_ONCE)
            jobs = [
                pool.submit(_boards, n, share, station, station.record)
                for n in range(BOARDS_AT_ONCE)
            ]
            done = sum(job.result() for job in jobs)
        what = "commands sent 1 to 5 times by 5 doors at once, one match in five out of order"
        return station.outcome("copies", what, sends, [], faults=done)


def _boards(number: int, sends: int, station: Station, record: Record) -> int:
    chance = random.Random(number)
    doors = [Client(f"door-{number}-{n}", station.connect, record) for n in range(DOORS)]
    done, board = 0, 1 + number
    with ThreadPoolExecutor(DOORS) as pool:
        while done < sends:
            todo = list(orders(board, PLIES))
            together = len(todo) - 1 if chance.randrange(5) == 0 else 1
            start, rest = todo[:1], todo[1:]
            for group in (start, *(rest[i : i + together] for i in range(0, len(rest), together))):
                done += _send(pool, doors, group, chance)
            board += BOARDS_AT_ONCE
    for door in doors:
        door.hang_up()
    return done


def _send(
    pool: ThreadPoolExecutor,
    doors: list[Client],
    group: list[CommandEnvelope],
    chance: random.Random,
) -> int:
    """Send some commands, each as often as chance has it, and wait for all outcomes."""
    queues: list[list[CommandEnvelope]] = [[] for _ in doors]
    for sent in group:
        for queue in chance.sample(queues, chance.randint(1, DOORS)):
            queue.append(sent)
    for queue in queues:
        chance.shuffle(queue)
    jobs: list[Future[None]] = [
        pool.submit(_send_all, door, queue) for door, queue in zip(doors, queues, strict=True)
    ]
    for job in jobs:
        job.result()
    return sum(map(len, queues))


def _send_all(door: Client, queue: list[CommandEnvelope]) -> None:
    for sent in queue:
        door.send(sent)
