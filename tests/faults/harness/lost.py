"""Replies lost on the way: the client's retry under the same id gets the stored outcome."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, count
from pathlib import Path

from infra.redis.clients import make_client
from infra.valkey.server import EmbeddedServer
from tests.faults.harness.load import Client, orders
from tests.faults.harness.proxy import Break, Proxy
from tests.faults.harness.record import Record
from tests.faults.harness.results import Outcome
from tests.faults.harness.station import Station

CLIENTS = 20
EXCHANGES = 6
"""The broken exchange is one of so many from when the command is sent."""


def replies(cases: int, folder: Path) -> Outcome:
    """Break so many exchanges, one for a command, between clients and a server on loopback TCP."""
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    options = {"port": str(port), "bind": "127.0.0.1"}
    with EmbeddedServer(folder / "server", options=options) as server:
        station = Station(folder, {"MATCHPOST_REDIS_URL": server.url}, url=server.url)
        station.start()
        try:
            clients = min(CLIENTS, cases)
            shares = [len(range(n, cases, clients)) for n in range(clients)]
            with ThreadPoolExecutor(clients) as pool:
                jobs = [
                    pool.submit(_client, n, share, port, station.record)
                    for n, share in enumerate(shares)
                ]
                broken = Counter(chain.from_iterable(job.result() for job in jobs))
            return Outcome(
                name="lost-replies",
                what="an exchange with the server broken by a proxy",
                wanted=cases,
                faults=broken.total(),
                acknowledged=station.record.acknowledged(),
                violations=station.violations(),
                details={"broken": dict(broken)},
            )
        finally:
            station.end()


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


def _free_port() -> int:
    """Give a port that nobody listens on."""
    with Proxy(0) as proxy:
        return proxy.port
