"""Moves over HTTP until their durable outcome: a real `serve`, and keep-alive clients on raw sockets.

The clients run in a process of their own and speak only as much HTTP as they need, so that they take
little of the measured time.
"""

import asyncio
import multiprocessing
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from bench.baselines.boardgame_io import rate as boardgame_io_rate
from bench.harness import BenchEnvironment
from bench.processor import processor_seconds
from bench.report import Report, median_and_p99
from bench.served import serving, start_matches
from bench.workload import PlannedGame, games


def run(
    bench: BenchEnvironment,
    clients: int,
    matches: int,
    web: int,
    runs: int,
    boardgame_io: Path | None,
) -> Report:
    """Measure; the headline is moves a second with all clients at full speed.

    Several runs take turns with those of the peer, because the machine's speed changes with its other
    work. All is of the run with the median rate, but the peer's rate is its own median.
    """
    reports, peers = [], []
    for number in range(1, runs + 1):
        reports.append(_measured(bench, f"http{number}", clients, matches, web))
        if boardgame_io is not None:
            peers.append(boardgame_io_rate(boardgame_io, clients))
    median = sorted(reports, key=lambda report: report.rate)[runs // 2]
    each: dict[str, list[float]] = {
        "moves a second of each run": [round(report.rate) for report in reports]
    }
    if peers:
        each["boardgame_io's of each run"] = [round(rate) for rate in peers]
        ratios = [report.rate / rate for report, rate in zip(reports, peers, strict=True)]
        each["ratio of each run"] = [round(ratio, 2) for ratio in ratios]
    return replace(
        median,
        peers={"boardgame_io": statistics.median_high(peers)} if peers else {},
        details={**median.details, **(each if runs > 1 else {})},
    )


def _measured(bench: BenchEnvironment, name: str, clients: int, matches: int, web: int) -> Report:
    """Measure once, on a server of its own."""
    played = games(clients * (1 + 2 * matches))
    with serving(bench, name, MATCHPOST_WEB=str(web)) as (url, data, pid):
        orders = start_matches(data, played)
        # the peer is measured warm, too
        warming, played = played[:clients], played[clients:]
        play_matches(url, orders, warming, clients)
        half = len(played) // 2
        before = processor_seconds(pid)
        fast = play_matches(url, orders, played[:half], clients)
        used = processor_seconds(pid)
        # half speed: each client takes twice as long from one move to the next
        pause = clients / (fast.rate / 2)
        calm = play_matches(url, orders, played[half:], clients, pause)
    processor = {
        role: round(1e6 * (seconds - before.get(role, 0.0)) / fast.moves)
        for role, seconds in used.items()
    }
    details = {
        "clients": clients,
        "web processes": web,
        "moves": fast.moves,
        "latency at full speed, us": median_and_p99(fast.latencies),
        "processor time a move, us": processor,
        "processor time a move of all processes, us": sum(processor.values()),
        "moves a second at half speed": round(calm.rate),
        "latency at half speed, us": median_and_p99(calm.latencies),
        **bench.disk(),
    }
    return Report(rate=fast.rate, unit="moves", peers={}, details=details)


class HttpLoad(msgspec.Struct, frozen=True):
    """The moves of whole matches over HTTP."""

    rate: float
    """Moves a second."""
    moves: int
    latencies: list[float]
    """Seconds."""


Client: TypeAlias = Callable[[], Awaitable[list[float]]]
"""Sends its requests and returns the latencies, in seconds."""


def _shares(
    orders: dict[int, list[bytes]], played: Sequence[PlannedGame], clients: int
) -> list[list[bytes]]:
    """Return the requests of each client, which plays whole matches one after the other.

    All have about as many, so that none is still at it while the others rest.
    """
    shares: list[list[bytes]] = [[] for _ in range(clients)]
    for game in sorted(played, key=lambda one: -len(one.moves)):
        min(shares, key=len).extend(orders[game.board])
    return shares


def play_matches(
    url: str,
    orders: dict[int, list[bytes]],
    played: Sequence[PlannedGame],
    clients: int,
    pause: float = 0.0,
) -> HttpLoad:
    """Let each client send its share, in another process so that no lock is shared."""
    shares = _shares(orders, played, clients)
    return send_apart([partial(play, url, share, pause) for share in shares])


def send_apart(clients: Sequence[Client]) -> HttpLoad:
    """Have all clients send in another process, at the same time."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, latencies = pool.apply(_send, (clients,))
    return HttpLoad(rate=len(latencies) / seconds, moves=len(latencies), latencies=latencies)


def _send(clients: Sequence[Client]) -> tuple[float, list[float]]:
    async def all_send() -> tuple[float, list[float]]:
        began = time.perf_counter()
        found = await asyncio.gather(*(client() for client in clients))
        return time.perf_counter() - began, list(chain.from_iterable(found))

    return asyncio.run(all_send())


async def play(url: str, requests: Sequence[bytes], pause: float) -> list[float]:
    """Send requests in turn, `pause` seconds from start to start, and return the latencies."""
    latencies = []
    async with connection(url) as ask:
        due = time.perf_counter()
        for request in requests:
            await asyncio.sleep(max(0.0, due - time.perf_counter()) if pause else 0)
            began = time.perf_counter()
            due = max(due, began - pause) + pause
            await ask(request)
            latencies.append(time.perf_counter() - began)
    return latencies


@asynccontextmanager
async def connection(url: str) -> AsyncIterator[Callable[[bytes], Awaitable[None]]]:
    """Yield what sends a request and waits for its answer; RuntimeError unless that is 200."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))

    async def ask(request: bytes) -> None:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(f"a move was not accepted: {answer.decode()}")

    yield ask
    writer.close()
