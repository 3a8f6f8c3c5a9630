"""Moves during an upgrade on one machine: how long one waits at most, and whether one is lost.

Players move over HTTP, and repeat a move under its key until it is acknowledged, as programs do. Meanwhile the server
is stopped and started again, or replaces itself, as docs/upgrading.md has it. A move is lost if it was acknowledged
and is not in its match afterwards.
"""

import asyncio
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from threading import Event, Thread
from typing import Any, Final

import msgspec

from bench.free_ports import LOOPBACK, free_port
from bench.harness import BenchEnvironment
from bench.http import connection
from bench.report import Report
from bench.served import Served, serving, start_matches
from bench.workload import endless
from infra.process.liveness import LivingProcess, living_processes
from infra.settings.settings import Settings
from services.app.context import App
from services.app.matches import load_state

_PLIES: Final = 5_000
"""Moves of a match that are prepared; more than are played."""

_PAUSE_SECONDS: Final = 0.05
"""From a move to the next in a match."""

_AGAIN_SECONDS: Final = 0.02
"""From one try of a move to the next."""


class PlayedMoves(msgspec.Struct):
    """The moves of one match, with how long each took and how often it was tried in vain."""

    requests: Iterator[bytes]
    seconds: list[float] = msgspec.field(default_factory=list)
    """How long each move took until it was acknowledged."""
    refused: int = 0
    """Tries that were answered otherwise."""
    unconnected: int = 0
    """Tries that got no connection, or lost it."""


def run(bench: BenchEnvironment, matches: int, seconds: int, times: int) -> Report:
    """Measure both ways, each so many times, with so many seconds before and after; the rate is that of all moves."""
    address = f"{LOOPBACK}:{free_port()}"
    with ExitStack() as stack:
        server = _Changed(bench, address, stack)
        orders = start_matches(server.served.data, endless(matches, _PLIES))
        requests = [iter(one) for one in orders.values()]
        began = time.monotonic()
        played = {
            way: _play(server.served.url, requests, change, seconds, times)
            for way, change in (
                ("stop and start", server.restart),
                ("in place", server.replace),
            )
        }
        seconds_played = time.monotonic() - began
        everywhere = list(chain.from_iterable(played.values()))
        with App(Settings(data=server.served.data)) as parts:
            plies = [load_state(parts, board).ply for board in orders]
    moves = sum(len(one.seconds) for one in everywhere)
    return Report(
        rate=moves / seconds_played,
        unit="moves",
        peers={},
        details={
            **{way: _figures(counts) for way, counts in played.items()},
            "moves lost": moves - sum(plies),
            "matches": matches,
            "times": times,
            **bench.disk(),
        },
    )


class _Changed:
    """A server that is changed while it is played on."""

    def __init__(self, bench: BenchEnvironment, address: str, stack: ExitStack) -> None:
        self._start = partial(serving, bench, "upgrade", MATCHPOST_HTTP=address)
        self._stack = stack.enter_context(ExitStack())
        self.served: Served = self._stack.enter_context(self._start())

    def restart(self) -> None:
        """Stop it, and start it again."""
        self._stack.close()
        self.served = self._stack.enter_context(self._start())

    def replace(self) -> None:
        """Have it replace itself; return once it serves again."""
        os.kill(self.served.pid, signal.SIGUSR2)
        for serves in (False, True):
            while [one.is_serving for one in self._processes()] != [serves]:
                time.sleep(_AGAIN_SECONDS)

    def _processes(self) -> list[LivingProcess]:
        return living_processes(self.served.data, "serve")


def _figures(counts: Sequence[PlayedMoves]) -> dict[str, Any]:
    taken = sorted(chain.from_iterable(one.seconds for one in counts))
    return {
        "moves": len(taken),
        "longest, seconds": round(taken[-1], 3),
        "median, seconds": round(statistics.median(taken), 4),
        "tries refused": sum(one.refused for one in counts),
        "tries without a connection": sum(one.unconnected for one in counts),
    }


def _play(
    url: str,
    requests: Sequence[Iterator[bytes]],
    change: Callable[[], None],
    seconds: int,
    times: int,
) -> list[PlayedMoves]:
    """Play all matches on while the server is changed so many times."""
    ended = Event()
    counts = [PlayedMoves(one) for one in requests]

    async def play_all() -> None:
        await asyncio.gather(*(_play_one(url, one, ended) for one in counts))

    thread = Thread(target=lambda: asyncio.run(play_all()))
    thread.start()
    try:
        for _ in range(times):
            time.sleep(seconds)
            change()
            time.sleep(seconds)
    finally:
        ended.set()
        thread.join()
    return counts


async def _play_one(url: str, counts: PlayedMoves, ended: Event) -> None:
    """Play a match, on a new connection wherever the last was lost; no move is left without an acknowledgement."""
    request, began = b"", 0.0
    while request or not ended.is_set():
        try:
            async with connection(url) as ask:
                while request or not ended.is_set():
                    if not request:
                        await asyncio.sleep(_PAUSE_SECONDS)
                        request, began = next(counts.requests), time.monotonic()
                    await ask(request)
                    counts.seconds.append(time.monotonic() - began)
                    request = b""
        except RuntimeError:
            counts.refused += 1
        except (OSError, EOFError):
            counts.unconnected += 1
        await asyncio.sleep(_AGAIN_SECONDS)
