"""The latency of ten players' moves, alone and beside a player who floods the server.

A real `serve` with its own limits. The neighbours and the flood run in processes of their own.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, cycle
from typing import Final

import msgspec

from services.bench.harness import BenchEnvironment
from services.bench.report import Report, median_and_p99
from services.bench.served import serving, start_matches
from services.bench.workload import PlannedGame, games

NEIGHBOURS: Final = 10

_SECONDS_TO_START: Final = 60.0
_FLOOD_GAMES: Final = 100


def run(bench: BenchEnvironment, matches: int, connections: int, command_rate: int) -> Report:
    """Measure; the headline is the neighbours' moves a second beside the flood."""
    own = NEIGHBOURS * matches
    played = games(2 * own + _FLOOD_GAMES)
    with serving(bench, "neighbours", MATCHPOST_COMMAND_RATE=str(command_rate)) as (url, data, _):
        requests = start_matches(data, played, NEIGHBOURS + 1, lambda at: _pair_at(at, own))
        quiet = _measure(url, _shares(requests, played[:own]))
        with _flooding(url, _of(requests, played[2 * own :]), connections):
            flooded = _measure(url, _shares(requests, played[own : 2 * own]))
    alone, beside = median_and_p99(quiet.latencies), median_and_p99(flooded.latencies)
    details = {
        "neighbours": NEIGHBOURS,
        "moves": len(flooded.latencies),
        "connections of the flood": connections,
        "commands a minute of an account": command_rate,
        "latency alone, us": alone,
        "latency beside the flood, us": beside,
        "p99 ratio": round(_p99(flooded.latencies) / _p99(quiet.latencies), 2),
        **bench.disk(),
    }
    rate = len(flooded.latencies) / flooded.seconds
    return Report(rate=rate, unit="moves", peers={}, details=details)


def _pair_at(at: int, own: int) -> int:
    """Return the neighbour that plays every tenth of the first matches, or the pair that floods."""
    return at % NEIGHBOURS if at < 2 * own else NEIGHBOURS


def _p99(latencies: Sequence[float]) -> float:
    return sorted(latencies)[int(len(latencies) * 0.99)]


class _Measured(msgspec.Struct, frozen=True):
    seconds: float
    latencies: list[float]
    """Seconds."""


def _of(requests: dict[int, list[bytes]], played: Sequence[PlannedGame]) -> list[bytes]:
    return list(chain.from_iterable(requests[game.board] for game in played))


def _shares(requests: dict[int, list[bytes]], played: Sequence[PlannedGame]) -> list[list[bytes]]:
    """Return each neighbour's requests."""
    return [_of(requests, played[at::NEIGHBOURS]) for at in range(NEIGHBOURS)]


def _measure(url: str, shares: list[list[bytes]]) -> _Measured:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_play, (url, shares))


def _play(url: str, shares: list[list[bytes]]) -> _Measured:
    async def all_play() -> _Measured:
        began = time.perf_counter()
        found = await asyncio.gather(*(_neighbour(url, share) for share in shares))
        return _Measured(time.perf_counter() - began, list(chain.from_iterable(found)))

    return asyncio.run(all_play())


async def _neighbour(url: str, requests: list[bytes]) -> list[float]:
    """Send requests in turn, each of which has to be accepted; return the latencies."""
    latencies = []
    reader, writer = await connect(url)
    for request in requests:
        began = time.perf_counter()
        status = await ask(reader, writer, request)
        latencies.append(time.perf_counter() - began)
        if status != b"200":
            raise RuntimeError(f"a neighbour's move was answered with {status.decode()}")
    writer.close()
    return latencies


@contextmanager
def _flooding(url: str, requests: list[bytes], connections: int) -> Iterator[None]:
    """Send one pair's requests at full speed while entered, whatever the answers are."""
    process = multiprocessing.get_context("spawn").Process(
        target=_flood, args=(url, requests, connections), daemon=True
    )
    process.start()
    time.sleep(1.0)  # until it is under way
    try:
        yield
        if not process.is_alive():
            raise RuntimeError("the flood has ended by itself")
    finally:
        process.terminate()
        process.join()


def _flood(url: str, requests: list[bytes], connections: int) -> None:
    async def send(at: int) -> None:
        reader, writer = await connect(url)
        for request in cycle(requests[at::connections]):
            await ask(reader, writer, request)

    async def all_send() -> None:
        await asyncio.gather(*(send(at) for at in range(connections)))

    asyncio.run(all_send())


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection to the server at `url`."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """Send a request and return the status of the answer."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r")[0]))
    return head.split(b" ", 2)[1]
