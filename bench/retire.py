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
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, NamedTuple

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
from infra.redis import keys
from infra.redis.clients import make_client
from infra.settings.game_packages import load_games
from infra.settings.settings import Settings
from workers import retire
from workers.archived_rows import has_leftovers

_MATCHES_OF_A_PLAYER: Final = 50
_BEGAN, _EVERY = 1_600_000_000_000, 60_000
"""When the first match began, and when the next did after it, ms."""
_READ_BACK: Final = 200


def run(bench: BenchEnvironment, counts: Sequence[int], plies: int, workers: int) -> Report:
    """Measure with each number of matches, on a server of its own; the rate is of the most."""
    ordered = sorted(dict.fromkeys(counts))
    found = {str(count): _measure(bench, count, plies, workers) for count in ordered}
    most = found[str(max(counts))]
    details = {
        "plies of each": plies,
        "jobs at a time": workers,
        "by matches": found,
        **bench.disk(),
    }
    return Report(rate=most["matches a second"], unit="matches", peers={}, details=details)


def _measure(bench: BenchEnvironment, count: int, plies: int, workers: int) -> dict[str, Any]:
    folder = bench.folder / f"retire-{count}"
    players = max(4, 2 * count // _MATCHES_OF_A_PLAYER)
    plan = Plan(1, count, plies, over=True, players=players, began=_BEGAN, every=_EVERY)
    with bench.server(f"retire-{count}/server") as server, server.client() as client:
        settings = Settings(
            data=folder,
            redis_url=server.url,
            store=(folder / "log").absolute().as_uri(),
            keys=write_keys(folder / "keys"),
        )
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
        figures = retire_all(bench, client, settings, folder / "log", workers)
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
    }


def retire_all(
    bench: BenchEnvironment, client: redis.Redis, settings: Settings, folder: Path, workers: int
) -> dict[str, Any]:
    """Run the jobs of all shards until nothing is left, so many at a time, and return the figures."""
    waiting = [client.zcard(keys.ended(shard)) for shard in range(SHARDS)]
    count, files = sum(waiting), bytes_of(folder)
    task = bench.progress.add_task("retire", total=count)
    cost = Cost(client)
    runs, processor, most = 0, 0.0, 0.0
    with ProcessPoolExecutor(workers, get_context("spawn"), load_games) as pool:
        for shard, one in enumerate(pool.map(partial(_retire_shard, settings), range(SHARDS))):
            runs, processor = runs + one.runs, processor + one.processor
            most = max(most, one.most)
            if one.retired != waiting[shard]:
                raise RuntimeError(f"{waiting[shard] - one.retired} matches were not retired")
            bench.progress.advance(task, one.retired)
    if has_leftovers(client, SHARDS):
        raise RuntimeError("rows of matches in the archive were left")
    figures = cost.of_each(count)
    bench.progress.remove_task(task)
    return {
        "matches a second": round(count / figures["seconds"], 1),
        **figures,
        "us of the process": round(1e6 * processor / count, 1),
        "runs of the job": runs,
        "most MB of a job": round(most),
        "bytes a match on the disk, of pages": round((bytes_of(folder) - files) / count),
        "bytes a match on the disk": round(bytes_of(folder) / count),
    }


class _Retired(NamedTuple):
    """The matches of a shard that left, and what it took."""

    retired: int
    runs: int
    processor: float
    """Seconds of the job's process."""
    most: float
    """Its memory at the most, MB."""


def _retire_shard(settings: Settings, shard: int) -> _Retired:
    runs, retired, began = 0, 0, time.process_time()
    assert settings.redis_url is not None
    with make_client(settings.redis_url) as client:
        store = new_store(client, 1)
        while done := retire.run(settings, store, client, client, shard):
            runs, retired = runs + 1, retired + done
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return _Retired(retired, runs, time.process_time() - began, most)


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
