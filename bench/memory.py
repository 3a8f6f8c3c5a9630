"""Memory of a match in the server: all its keys, and its share of the log.

Then the log is published and trimmed.
"""

import time
from collections.abc import Sequence

import redis

from bench.baselines.redis_only import decide_all, submit_and_commit
from bench.harness import BenchEnvironment, new_store
from bench.published import publish_and_trim
from bench.report import Report
from bench.workload import PlannedGame, endless, moves, starts
from domain.clocks.time_control import TimeControl
from workers.commands.drain import BATCH


def run(bench: BenchEnvironment, matches: int, plies: int) -> Report:
    """Fill a server with active matches; the rate is commits a second while filling."""
    with bench.server("memory") as server, server.client() as client:
        store = new_store(client, 1)
        before = used_memory(client)
        task = bench.progress.add_task(f"{matches} matches", total=matches)
        seconds, chunk = 0.0, 500
        for first in range(1, matches + 1, chunk):
            played = endless(min(chunk, matches + 1 - first), plies, first)
            prepared = decide_all([*starts(played, TimeControl()), *moves(played)], {})
            began = time.perf_counter()
            for start in range(0, len(prepared), BATCH):
                submit_and_commit(store, prepared[start : start + BATCH])
            seconds += time.perf_counter() - began
            bench.progress.advance(task, len(played))
        full = used_memory(client) - before
        parts = _parts(client, played)
        publish_and_trim(client, store, bench.folder / "log")
        without_log = used_memory(client) - before
    return Report(
        rate=matches * (plies + 1) / seconds,
        unit="commits",
        peers={},
        details={
            "matches": matches,
            "plies": plies,
            "bytes a match": round(full / matches),
            "with the log trimmed": round(without_log / matches),
            "of which, by MEMORY USAGE of one match": parts,
            **bench.disk(),
        },
    )


def used_memory(client: redis.Redis) -> int:
    """Return the bytes that the server has allocated."""
    return int(client.info("memory")["used_memory"])


def _parts(client: redis.Redis, played: Sequence[PlannedGame]) -> dict[str, int]:
    """Return the bytes of each key of one match."""
    found = {}
    for name in client.scan_iter(match=f"*:m:{played[0].board}*", count=10_000):
        kind = name.decode().partition(":m:")[2].partition(":")[2] or "snapshot"
        found[kind] = int(client.memory_usage(name, samples=0) or 0)
    return found
