"""One server with more and more active matches: memory, moves, projections, start.

The matches are committed as a drain commits them, and the projections read them. Then moves are made in
matches that are spread evenly over the new ones, each mostly in another match, as in correspondence play.
At the end of each step the server rewrites its log, and is started again.
"""

import time
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any, Final

import msgspec
import redis

from domain.match.commands import CommandEnvelope
from infra.store.redis_store import RedisStore
from services.bench.baselines.redis_only import decide_all, submit_and_commit
from services.bench.harness import BenchEnvironment, LoadGenerator, new_store, workers
from services.bench.memory import used_memory
from services.bench.report import Report
from services.bench.workload import endless, moves, starts
from workers.commands.drain import BATCH
from workers.projections.worker import ProjectionWorker

_CHUNK: Final = 500
"""Matches that are prepared at a time."""

_WARM_UP: Final = 10
"""One move of so many is made before the measurement, while the worker is still starting."""


def run(bench: BenchEnvironment, counts: Sequence[int], plies: int, timed: int) -> Report:
    """Measure at each number of matches; the rate is moves a second with the most."""
    points = {
        count: _step(bench, before, count, plies, timed)
        for before, count in pairwise([0, *sorted(counts)])
    }
    most = points[max(counts)]
    return Report(
        rate=1e6 / most.move_us,
        unit="moves",
        peers={},
        details={
            "by active matches": {
                str(count): msgspec.to_builtins(points[count]) for count in points
            },
            "plies of each": plies,
            "moves at each point": timed,
            **bench.disk(),
        },
    )


class _CountFigures(msgspec.Struct, frozen=True):
    """The figures at one number of active matches."""

    bytes_a_match: int
    """Of those that were added last, with their rows in the projections."""
    move_us: float
    leaf_us: float
    """Of the projections' time, for one leaf."""
    log_bytes: int
    """Of the server's append-only file, rewritten."""
    load_seconds: float
    """Until the server has loaded it."""
    fill_seconds: float


def _step(
    bench: BenchEnvironment, before: int, count: int, plies: int, timed: int
) -> _CountFigures:
    """Return the figures after the matches above `before` were added."""
    began = time.perf_counter()
    with bench.server("active") as server, server.client(blocking_timeout=5) as client:
        store = new_store(client, 1)
        empty = used_memory(client)
        _fill(bench, store, before, count, plies)
        _catch_up(store, client)
        memory = used_memory(client) - empty
        fill_seconds = time.perf_counter() - began
        first = timed // _WARM_UP
        orders = _orders(before, count, plies, first + timed)
        with (
            workers(1, server.url, bench.folder),
            LoadGenerator(client, store, bench.progress) as load,
        ):
            load.submit_all(orders[:first], f"{count}: warm-up", first)
            seconds = load.submit_all(orders[first:], f"{count}: moves", timed)
        leaves = _catch_up(store, client)
        log_bytes = rewrite_log(client)
    with bench.server("active") as server:
        load_seconds = server.load_seconds
    return _CountFigures(
        bytes_a_match=round(memory / (count - before)),
        move_us=round(1e6 * seconds / timed, 1),
        leaf_us=round(1e6 * leaves / len(orders), 1),
        log_bytes=log_bytes,
        load_seconds=round(load_seconds, 2),
        fill_seconds=round(fill_seconds, 1),
    )


def _fill(bench: BenchEnvironment, store: RedisStore, before: int, count: int, plies: int) -> None:
    task = bench.progress.add_task(f"{count} matches", total=count - before)
    for first in range(before + 1, count + 1, _CHUNK):
        played = endless(min(_CHUNK, count + 1 - first), plies, first)
        prepared = decide_all([*starts(played), *moves(played)], {})
        for at in range(0, len(prepared), BATCH):
            submit_and_commit(store, prepared[at : at + BATCH])
        bench.progress.advance(task, len(played))
    bench.progress.remove_task(task)


def _catch_up(store: RedisStore, client: redis.Redis) -> float:
    """Let new projections read all leaves; return the seconds in which they did anything."""
    worker = ProjectionWorker(store, client)
    busy = 0.0
    has_work = True
    while has_work:
        began = time.perf_counter()
        done = worker.round()
        if done:
            busy += time.perf_counter() - began
        has_work = bool(done) or worker.has_work
    return busy


def _orders(before: int, count: int, plies: int, wanted: int) -> list[CommandEnvelope]:
    """Return that many moves, spread over the matches above `before`, which are after `plies` plies."""
    step = max(1, (count - before) // wanted)
    boards = range(before + 1, count + 1, step)[:wanted]
    each = -(-wanted // len(boards))
    played = [game for board in boards for game in endless(1, plies + each, board)]
    return list(islice((one for one in moves(played) if _ply(one) >= plies), wanted))


def _ply(order: CommandEnvelope) -> int:
    command: Any = order.command
    return int(command.ply)


def rewrite_log(client: redis.Redis) -> int:
    """Rewrite the append-only file, as the server does by itself when it has doubled; return its size."""
    while client.info("persistence")["aof_rewrite_in_progress"]:
        time.sleep(0.1)
    client.bgrewriteaof()
    state = client.info("persistence")
    while state["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]:
        time.sleep(0.1)
        state = client.info("persistence")
    return int(state["aof_current_size"])
