"""Matches that ended long ago, all due at the same time: how they leave the server, run after run of the job.

The job is the one that the scheduler asks for: it makes each match again from the published log, writes its entry into
its directory page, removes it from the server, and then its row from the lists. Matches are read back by chance at the
end, and compared with what the server had of them.
"""

import random
import resource
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import redis

from bench.harness import SHARDS, BenchEnvironment, new_store
from bench.lists import used
from bench.processor import Cost
from bench.published import bytes_of, write_keys
from bench.report import Report
from bench.seeded import Plan, begin_projections, fill
from infra.archive.archive import Archive
from infra.archive.objects import open_archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.settings.settings import Settings
from workers import retire
from workers.archived_rows import has_leftovers

_MATCHES_OF_A_PLAYER: Final = 50
_BEGAN, _EVERY = 1_600_000_000_000, 60_000
"""When the first match began, and when the next did after it, ms."""
_READ_BACK: Final = 200


def run(bench: BenchEnvironment, counts: Sequence[int], plies: int) -> Report:
    """Measure with each number of matches, on a server of its own; the rate is of the most."""
    found = {str(count): _measure(bench, count, plies) for count in sorted(dict.fromkeys(counts))}
    most = found[str(max(counts))]
    details = {"plies of each": plies, "by matches": found, **bench.disk()}
    return Report(rate=most["matches a second"], unit="matches", peers={}, details=details)


def _measure(bench: BenchEnvironment, count: int, plies: int) -> dict[str, Any]:
    folder = bench.folder / f"retire-{count}"
    settings = Settings(
        data=folder,
        store=(folder / "log").absolute().as_uri(),
        keys=write_keys(folder / "keys"),
    )
    players = max(4, 2 * count // _MATCHES_OF_A_PLAYER)
    plan = Plan(1, count, plies, over=True, players=players, began=_BEGAN, every=_EVERY)
    with bench.server(f"retire-{count}/server") as server, server.client() as client:
        new_store(client, 1)
        begin_projections(client)
        empty = used(client)
        began = time.perf_counter()
        task = bench.progress.add_task(f"{count} matches", total=count)
        for done in fill(client, server.url, folder / "log", plan):
            bench.progress.advance(task, done)
        bench.progress.remove_task(task)
        filled = time.perf_counter() - began
        full = used(client)
        sample = random.Random(1).sample(range(1, count + 1), min(_READ_BACK, count))  # noqa: S311
        before = _read(_store(client, settings), sample)
        figures = _retire_all(bench, client, settings, folder / "log", count)
        left = used(client)
        if _read(_store(client, settings), sample) != before:
            raise RuntimeError("matches of the archive are other ones than those of the server")
        peak = int(client.info("memory")["used_memory_peak"])
    shutil.rmtree(folder)
    return {
        **figures,
        "seconds to write them": round(filled, 1),
        "bytes a match in the server": round((full - empty) / count),
        "bytes a match in the server, retired": round((left - empty) / count, 1),
        "most MB of the server": round(peak / 1e6, 1),
        "most MB of the process": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
    }


def _retire_all(
    bench: BenchEnvironment, client: redis.Redis, settings: Settings, folder: Path, count: int
) -> dict[str, Any]:
    """Run the job until nothing is left, and return the figures."""
    task = bench.progress.add_task("retire", total=count)
    store, files = new_store(client, 1), bytes_of(folder)
    cost = Cost(client)
    runs = retired = 0
    for shard in range(SHARDS):
        while done := retire.run(settings, store, client, client, shard):
            runs, retired = runs + 1, retired + done
            bench.progress.advance(task, done)
    rows = time.perf_counter()
    while has_leftovers(client, SHARDS):
        runs += 1
        retire.run(settings, store, client, client, 0)
    figures = cost.of_each(count)
    bench.progress.remove_task(task)
    if retired != count:
        raise RuntimeError(f"{count - retired} matches were not retired")
    return {
        "matches a second": round(count / figures["seconds"], 1),
        **figures,
        "of which seconds for rows that were left": round(time.perf_counter() - rows, 1),
        "runs of the job": runs,
        "bytes a match on the disk, of pages": round((bytes_of(folder) - files) / count),
        "bytes a match on the disk": round(bytes_of(folder) / count),
    }


def _read(store: StoreWithArchive, boards: Sequence[int]) -> list[Any]:
    """Return all that is stored of matches."""
    return [
        (store.events(one), dict(store.outcomes(one)), store.leaf_indexes(one)) for one in boards
    ]


def _store(client: redis.Redis, settings: Settings) -> StoreWithArchive:
    """Return a store that has read nothing yet."""
    return StoreWithArchive(
        client, Mode.FSYNC, Archive(lambda: open_archive(settings), lambda: SHARDS)
    )
