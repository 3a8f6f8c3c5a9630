"""Moves over HTTP until their durable outcome: a real `serve`, and keep-alive clients on raw sockets.

The clients run in a process of their own and speak only as much HTTP as they need, so that they take
little of the measured time.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from services.bench.baselines.boardgame_io import rate as boardgame_io_rate
from services.bench.harness import BenchEnvironment
from services.bench.processor import processor_seconds
from services.bench.report import Report, median_and_p99
from services.bench.served import serving, start_matches
from services.bench.workload import PlannedGame, games


def run(
    bench: BenchEnvironment, clients: int, matches: int, web: int, boardgame_io: Path | None
) -> Report:
    """Measure; the headline is moves a second with all clients at full speed."""
    played = games(clients * (1 + 2 * matches))
    with serving(bench, "http", MATCHPOST_WEB=str(web)) as (url, data, pid):
        orders = start_matches(data, played)
        # the peer is measured warm, too
        warming, played = played[:clients], played[clients:]
        _load(url, _shares(orders, warming, clients), 0.0)
        half = len(played) // 2
        before = processor_seconds(pid)
        fast = _load(url, _shares(orders, played[:half], clients), 0.0)
        used = processor_seconds(pid)
        # half speed: each client takes twice as long from one move to the next
        pause = clients / (fast.rate / 2)
        calm = _load(url, _shares(orders, played[half:], clients), pause)
    details = {
        "clients": clients,
        "web processes": web,
        "moves": fast.moves,
        "latency at full speed, us": median_and_p99(fast.latencies),
        "processor time a move, us": {
            role: round(1e6 * (seconds - before.get(role, 0.0)) / fast.moves)
            for role, seconds in used.items()
        },
        "moves a second at half speed": round(calm.rate),
        "latency at half speed, us": median_and_p99(calm.latencies),
        **bench.disk(),
    }
    peers = {}
    if boardgame_io is not None:
        peers["boardgame_io"] = boardgame_io_rate(boardgame_io, clients)
    return Report(rate=fast.rate, unit="moves", peers=peers, details=details)


class _LoadResult(msgspec.Struct, frozen=True):
    rate: float
    """Moves a second."""
    moves: int
    latencies: list[float]
    """Seconds."""


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


def _load(url: str, shares: list[list[bytes]], pause: float) -> _LoadResult:
    """Let each client send its share, in another process so that no lock is shared."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, latencies = pool.apply(_play, (url, shares, pause))
    count = sum(map(len, shares))
    return _LoadResult(rate=count / seconds, moves=count, latencies=latencies)


def _play(url: str, shares: list[list[bytes]], pause: float) -> tuple[float, list[float]]:
    async def all_play() -> tuple[float, list[float]]:
        began = time.perf_counter()
        found = await asyncio.gather(*(play(url, share, pause) for share in shares))
        return time.perf_counter() - began, list(chain.from_iterable(found))

    return asyncio.run(all_play())


async def play(url: str, requests: Sequence[bytes], pause: float) -> list[float]:
    """Send requests in turn, `pause` seconds from start to start, and return the latencies."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    latencies = []
    due = time.perf_counter()
    for request in requests:
        await asyncio.sleep(max(0.0, due - time.perf_counter()) if pause else 0)
        began = time.perf_counter()
        due = max(due, began - pause) + pause
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(length)
        latencies.append(time.perf_counter() - began)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(f"a move was not accepted: {answer.decode()}")
    writer.close()
    return latencies
