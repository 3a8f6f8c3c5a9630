"""Moves over HTTP until their durable outcome: a real `serve`, and keep-alive clients on raw sockets.

The clients run in a process of their own and speak only as much HTTP as they need, so that they take
little of the measured time.
"""

import asyncio
import multiprocessing
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
from argon2 import PasswordHasher
from msgspec.structs import replace

from domain.clocks.time_control import TimeControl
from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.events import AccountId
from infra.people.accounts import Accounts
from infra.people.tokens import Scope
from infra.settings import Settings
from services.app.context import App
from services.bench.baselines.boardgame_io import rate as boardgame_io_rate
from services.bench.harness import BenchEnvironment
from services.bench.report import Report, median_and_p99
from services.bench.workload import PlannedGame, games, moves, starts
from services.serve.processes import console_script

_SECONDS_TO_START: Final = 60.0

_API: Final = "The API is at "


def run(
    bench: BenchEnvironment, clients: int, matches: int, web: int, boardgame_io: Path | None
) -> Report:
    """Measure; the headline is moves a second with all clients at full speed."""
    played = games(2 * clients * matches)
    with _serving(bench, web) as (url, data):
        orders = _prepare(data, played)
        half = len(played) // 2
        fast = _load(url, _shares(orders, played[:half], clients), 0.0)
        # half speed: each client takes twice as long from one move to the next
        pause = clients / (fast.rate / 2)
        calm = _load(url, _shares(orders, played[half:], clients), pause)
    details = {
        "clients": clients,
        "web processes": web,
        "moves": fast.moves,
        "latency at full speed, us": median_and_p99(fast.latencies),
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


@contextmanager
def _serving(bench: BenchEnvironment, web: int) -> Iterator[tuple[str, Path]]:
    """Run `matchpost serve`; yield the address of its API and its data directory."""
    data = bench.folder / "http"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MATCHPOST_")}
    env = {
        **clean,
        **bench.variables(),
        "MATCHPOST_DATA": str(data),
        "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_WEB": str(web),
        "MATCHPOST_COMMAND_RATE": "1000000000",
    }
    with subprocess.Popen(  # noqa: S603 - our own command
        [console_script(), "serve"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout)
        url = next(line.removeprefix(_API).strip() for line in lines if line.startswith(_API))
        for line in lines:
            if line == "ready\n":
                break
        try:
            yield url.removesuffix("/api/"), data
        finally:
            process.terminate()


def _prepare(data: Path, played: Sequence[PlannedGame]) -> dict[int, list[bytes]]:
    """Sign up two players, start all matches, and return the requests of each board's moves."""
    with App(Settings(data=data)) as parts:
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        accounts = Accounts(parts.data, cheap)
        pair = tuple(accounts.signup(name, "benchmark") for name in ("light", "dark"))
        tokens = {a: parts.tokens.issue(a, "bench", [Scope.PLAY]).text for a in pair}
        begun = [
            replace(sent, actor=pair[0], command=replace(sent.command, seats=pair))
            for sent in starts(played, TimeControl())
        ]
        parts.gateway.submit_all(begun)
        _await_starts(parts, [sent.match for sent in begun])
    seats = {game.board: game.seats for game in played}
    found: dict[int, list[bytes]] = {game.board: [] for game in played}
    for sent in moves(played):
        account = pair[seats[sent.match].index(sent.actor)]
        found[sent.match].append(_request(sent, account, tokens))
    return found


def _await_starts(parts: App, boards: Sequence[int]) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while None in parts.store.snapshots(boards):
        if time.monotonic() > end:
            raise RuntimeError("the matches were not started in time")
        time.sleep(0.05)


def _request(sent: CommandEnvelope, account: AccountId, tokens: dict[AccountId, str]) -> bytes:
    assert isinstance(sent.command, PlayMove)
    body = msgspec.json.encode({"do": "move", "move": sent.command.text, "ply": sent.command.ply})
    head = (
        f"POST /api/matches/{sent.match}/commands HTTP/1.1\r\nHost: bench\r\n"
        f"Authorization: Bearer {tokens[account]}\r\nContent-Type: application/json\r\n"
        f"Idempotency-Key: {sent.id.hex()}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _shares(
    orders: dict[int, list[bytes]], played: Sequence[PlannedGame], clients: int
) -> list[list[bytes]]:
    """Return the requests of each client, which plays whole matches one after the other."""
    return [
        list(chain.from_iterable(orders[game.board] for game in played[client::clients]))
        for client in range(clients)
    ]


def _load(url: str, shares: list[list[bytes]], pause: float) -> _LoadResult:
    """Let each client send its share, in another process so that no lock is shared."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, latencies = pool.apply(_play, (url, shares, pause))
    count = sum(map(len, shares))
    return _LoadResult(rate=count / seconds, moves=count, latencies=latencies)


def _play(url: str, shares: list[list[bytes]], pause: float) -> tuple[float, list[float]]:
    host, _, port = url.removeprefix("http://").rpartition(":")

    async def all_play() -> tuple[float, list[float]]:
        began = time.perf_counter()
        found = await asyncio.gather(*(_client(host, int(port), s, pause) for s in shares))
        return time.perf_counter() - began, list(chain.from_iterable(found))

    return asyncio.run(all_play())


async def _client(host: str, port: int, requests: list[bytes], pause: float) -> list[float]:
    """Send requests in turn, `pause` seconds from start to start, and return the latencies."""
    reader, writer = await asyncio.open_connection(host, port)
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
