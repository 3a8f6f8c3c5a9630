"""Rebuilding all projections: from the logs in the server, from the published log, and of retired matches.

The same matches each time. First the server has all leaves, then the logs are trimmed and the leaves come
from bundles, which are verified; at last the matches are retired, and results come from directory pages.
"""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import redis

from infra.archive.store import StoreWithArchive
from infra.durability import Mode
from infra.log.published_log import CACHE_BYTES
from infra.redis import keys
from services.bench.archive import archive_of, retire_all
from services.bench.finished import fill
from services.bench.harness import SHARDS, BenchEnvironment, new_store
from services.bench.published import published_logs
from services.bench.report import Report
from workers.projections import PROJECTIONS
from workers.projections.maintenance import rebuild

_SENT_TOGETHER: Final = 4_096
"""Leaves that are sent to the server in one round trip."""


class _Silent:
    """Receives how far a rebuild is, and shows nothing."""

    def progress(self, about: str, done: int, total: int) -> None:
        """Receive how far it is."""

    def line(self, text: str) -> None:
        """Receive a result."""


def run(bench: BenchEnvironment, matches: int, plies: int) -> Report:
    """Rebuild all projections three times; the rate is of leaves from the published log."""
    folder = bench.folder / "log"
    task = bench.progress.add_task("rebuilds", total=3)
    with bench.server("rebuild") as server, server.client() as client:
        new_store(client, 1)
        for _ in fill(server.url, folder, matches, plies):
            pass
        leaves = _put_back(client, folder)
        figures = {"from the server": _measure(client, folder)}
        bench.progress.advance(task)
        for shard in range(SHARDS):
            client.xtrim(keys.log(shard), maxlen=1, approximate=False)
        figures["from bundles"] = _measure(client, folder)
        bench.progress.advance(task)
        retire_all(bench, new_store(client, 1), folder)
        figures["of retired matches"] = _measure(client, folder)
        bench.progress.advance(task)
    rates = {name: leaves / seconds for name, (seconds, _) in figures.items()}
    return Report(
        rate=rates.pop("from bundles"),
        unit="leaves",
        peers={name.replace(" ", "_"): rate for name, rate in rates.items()},
        details={
            "matches": matches,
            "plies": plies,
            "leaves": leaves,
            "processor time a leaf, us": {
                name: round(1e6 * busy / leaves, 1) for name, (_, busy) in figures.items()
            },
            **bench.disk(),
        },
    )


def _put_back(client: redis.Redis, folder: Path) -> int:
    """Write all published leaves into the logs of the server, and return their number."""
    pipe: Any  # redis-py types no part of its pipelines
    total = 0
    for log in published_logs(folder, CACHE_BYTES):
        client.delete(keys.log(log.shard))
        total += log.refresh()
        for start in range(0, log.size, _SENT_TOGETHER):
            with client.pipeline(transaction=False) as pipe:
                end = min(log.size, start + _SENT_TOGETHER)
                for index, leaf in enumerate(log.leaves(start, end), start):
                    pipe.xadd(keys.log(log.shard), {"l": leaf}, f"{index}-1")
                pipe.execute()
    return total


def _measure(client: redis.Redis, folder: Path) -> tuple[float, float]:
    """Rebuild all projections by a process that knows nothing yet; return its seconds and processor time."""
    logs: Any = SimpleNamespace(of=published_logs(folder, CACHE_BYTES).__getitem__)
    store = StoreWithArchive(
        client, Mode.FSYNC, archive_of(folder, CACHE_BYTES), open_logs=lambda: logs
    )
    began, busy = time.perf_counter(), time.process_time()
    rebuild(store, client, PROJECTIONS, _Silent())
    return time.perf_counter() - began, time.process_time() - busy
