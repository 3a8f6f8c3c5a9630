"""The cost of one move on an idle server: commands, bytes of the append-only file, and latency.

One client sends one move at a time over HTTP to a real `serve` and pauses after each, so that no drain
waits when the next one comes. The data server counts its commands, those inside scripts included. What
it runs in the same time without a move is subtracted. What follows from a command seconds later counts as
its cost: so nothing is sent for a while before each count.
"""

import asyncio
import statistics
import time
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import redis

from bench.harness import BenchEnvironment
from bench.http import play
from bench.report import Report
from bench.served import serving, start_matches
from bench.workload import games
from infra.settings.settings import Settings
from services.app.context import App

SLOWER_MS: Final = 2.0
"""Added to each fsync in the second run, in milliseconds."""

_NOT_COUNTED: Final = frozenset({"cmdstat_info"})
"""Commands of the measurement itself."""

_LEAST_SHOWN: Final = 0.1
"""Commands that a move needs more rarely than this are not listed."""


def run(bench: BenchEnvironment, moves: int, pause: int, settle: int) -> Report:
    """Measure twice, the second time on a slower disk; the rate is that of the first, without pauses.

    `settle` is the time in s until all that follows from a command is done: projections store how far they
    have read after 10 s.
    """
    slower = msgspec.structs.replace(bench, fsync_delay_ms=bench.fsync_delay_ms + SLOWER_MS)
    usual = _measure(bench, "lone", moves, pause, settle)
    slow = _measure(slower, "lone-slow", moves, pause, settle)
    return Report(
        rate=1_000 / usual.median_ms,
        unit="moves",
        peers={},
        details={
            "commands": usual.commands,
            "aof_bytes": usual.aof_bytes,
            "median_ms": usual.median_ms,
            "median_ms_2": slow.median_ms,
            "commands_2": slow.commands,
            "aof_bytes_2": slow.aof_bytes,
            "commands on the queue server": usual.queue_commands,
            "commands a second of an idle server": usual.idle,
            "by command": usual.by_command,
            "moves": moves,
            "pause after each, seconds": pause,
            **bench.disk(),
        },
    )


class _LoneMoves(msgspec.Struct, frozen=True):
    """The cost of one move, on average, and the median of its latency."""

    commands: float
    aof_bytes: float
    queue_commands: float
    """On RQ's server; 0 if that is the data server."""
    idle: float
    by_command: dict[str, float]
    median_ms: float


class CommandCounts(msgspec.Struct, frozen=True):
    """Counters of a server since its start, and the time at which they were read."""

    at: float
    """In seconds of the monotonic clock."""
    aof_bytes: int
    commands: Mapping[str, int]


class MoveCost(msgspec.Struct, frozen=True):
    """The cost of one move at one server, on average, without what an idle server does."""

    commands: dict[str, float]
    aof_bytes: float
    idle: float
    """Commands a second of the idle server."""

    @property
    def total(self) -> float:
        """Return the number of all commands."""
        return sum(self.commands.values())


def _measure(bench: BenchEnvironment, name: str, moves: int, pause: int, settle: int) -> _LoneMoves:
    (game,) = games(1)
    # once an hour it checks what is stored, whether there are moves or not
    scrubber_off = {"MATCHPOST_SCRUB_PERCENT": "0"}
    with serving(bench, name, **scrubber_off) as (url, data, _), App(Settings(data=data)) as app:
        requests = start_matches(data, [game])[game.board][:moves]
        servers = _servers(app)
        time.sleep(settle)
        before = [count_commands(server) for server in servers]
        # as long as with moves, so that what is done once in a while is done as often in both
        time.sleep(len(requests) * pause + settle)
        idle = [count_commands(server) for server in servers]
        latencies = asyncio.run(play(url, requests, pause))
        time.sleep(settle)
        after = [count_commands(server) for server in servers]
    cost, *others = (
        cost_of_moves(*counts, len(requests)) for counts in zip(before, idle, after, strict=True)
    )
    return _LoneMoves(
        commands=round(cost.total, 1),
        aof_bytes=round(cost.aof_bytes),
        queue_commands=round(sum(other.total for other in others), 1),
        idle=round(cost.idle, 1),
        by_command={word: round(calls, 1) for word, calls in _largest_first(cost.commands)},
        median_ms=round(1_000 * statistics.median(latencies), 2),
    )


def _servers(app: App) -> list[redis.Redis]:
    """Return the data server, and RQ's if that is another one."""
    ids = [client.info("server")["run_id"] for client in (app.data, app.queue)]
    return [app.data] if ids[0] == ids[1] else [app.data, app.queue]


def count_commands(server: redis.Redis) -> CommandCounts:
    """Return the counters of a server."""
    stats: dict[str, dict[str, Any]] = server.info("commandstats")
    commands = {
        name.removeprefix("cmdstat_"): int(of["calls"])
        for name, of in stats.items()
        if name not in _NOT_COUNTED
    }
    written = int(server.info("persistence").get("aof_current_size", 0))
    return CommandCounts(time.monotonic(), written, commands)


def cost_of_moves(
    before: CommandCounts, idle: CommandCounts, after: CommandCounts, moves: int
) -> MoveCost:
    """Return the cost of a move: `before` and `idle` bound the time without moves."""
    seconds = idle.at - before.at
    share = (after.at - idle.at) / seconds
    at_rest = {word: n - before.commands.get(word, 0) for word, n in idle.commands.items()}
    bytes_at_rest = idle.aof_bytes - before.aof_bytes
    return MoveCost(
        commands={
            word: (n - idle.commands.get(word, 0) - share * at_rest.get(word, 0)) / moves
            for word, n in after.commands.items()
        },
        aof_bytes=(after.aof_bytes - idle.aof_bytes - share * bytes_at_rest) / moves,
        idle=sum(at_rest.values()) / seconds,
    )


def _largest_first(commands: Mapping[str, float]) -> list[tuple[str, float]]:
    counted = [(word, calls) for word, calls in commands.items() if abs(calls) >= _LEAST_SHOWN]
    return sorted(counted, key=lambda one: -one[1])
