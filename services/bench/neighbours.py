"""The latency of ten players' moves, alone and beside a player who floods the server.

A real `serve` with its own limits. The neighbours and the flood run in processes of their own.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, cycle
from pathlib import Path
from typing import Final

import msgspec
from argon2 import PasswordHasher
from msgspec.structs import replace

from domain.clocks.time_control import TimeControl
from domain.match.commands import CommandEnvelope, PlayMove
from infra.people.accounts import Accounts
from infra.people.tokens import Scope
from infra.settings import Settings
from services.app.context import App
from services.bench.harness import BenchEnvironment
from services.bench.report import Report, median_and_p99
from services.bench.served import serving
from services.bench.workload import PlannedGame, games, moves, starts

NEIGHBOURS: Final = 10

_SECONDS_TO_START: Final = 60.0
_FLOOD_GAMES: Final = 100


def run(bench: BenchEnvironment, matches: int, connections: int, command_rate: int) -> Report:
    """Measure; the headline is the neighbours' moves a second beside the flood."""
    own = NEIGHBOURS * matches
    played = games(2 * own + _FLOOD_GAMES)
    with serving(bench, "neighbours", MATCHPOST_COMMAND_RATE=str(command_rate)) as (url, data, _):
        requests = _prepare(data, played, own)
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


def _p99(latencies: Sequence[float]) -> float:
    return sorted(latencies)[int(len(latencies) * 0.99)]


class _Measured(msgspec.Struct, frozen=True):
    seconds: float
    latencies: list[float]
    """Seconds."""


def _prepare(data: Path, played: Sequence[PlannedGame], own: int) -> dict[int, list[bytes]]:
    """Sign up two players for each neighbour and two who flood, start all matches; return the requests.

    The matches of a neighbour are every tenth of the first `own`, and so on.
    """
    with App(Settings(data=data)) as parts:
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        accounts = Accounts(parts.data, cheap)
        pairs = [
            tuple(accounts.signup(f"{side}{number}", "benchmark") for side in ("light", "dark"))
            for number in range(NEIGHBOURS + 1)
        ]
        tokens = {
            account: parts.tokens.issue(account, "bench", [Scope.PLAY]).text
            for account in chain.from_iterable(pairs)
        }
        pair_of = {
            game.board: pairs[at % NEIGHBOURS if at < 2 * own else NEIGHBOURS]
            for at, game in enumerate(played)
        }
        begun = [
            replace(
                sent,
                actor=pair_of[sent.match][0],
                command=replace(sent.command, seats=pair_of[sent.match]),
            )
            for sent in starts(played, TimeControl())
        ]
        parts.gateway.submit_all(begun)
        _await_starts(parts, [sent.match for sent in begun])
    seats = {game.board: game.seats for game in played}
    found: dict[int, list[bytes]] = {game.board: [] for game in played}
    for sent in moves(played):
        account = pair_of[sent.match][seats[sent.match].index(sent.actor)]
        found[sent.match].append(_request(sent, tokens[account]))
    return found


def _await_starts(parts: App, boards: Sequence[int]) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while None in parts.store.snapshots(boards):
        if time.monotonic() > end:
            raise RuntimeError("the matches were not started in time")
        time.sleep(0.05)


def _request(sent: CommandEnvelope, token: str) -> bytes:
    assert isinstance(sent.command, PlayMove)
    body = msgspec.json.encode({"do": "move", "move": sent.command.text, "ply": sent.command.ply})
    head = (
        f"POST /api/matches/{sent.match}/commands HTTP/1.1\r\nHost: bench\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Idempotency-Key: {sent.id.hex()}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


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
    reader, writer = await _connect(url)
    for request in requests:
        began = time.perf_counter()
        status = await _ask(reader, writer, request)
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
        reader, writer = await _connect(url)
        for request in cycle(requests[at::connections]):
            await _ask(reader, writer, request)

    async def all_send() -> None:
        await asyncio.gather(*(send(at) for at in range(connections)))

    asyncio.run(all_send())


async def _connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """Send a request and return the status of the answer."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r")[0]))
    return head.split(b" ", 2)[1]
