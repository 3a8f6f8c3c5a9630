"""The archive: memory before and after matches are retired, the rate of it, and reading them back.

The leaves of a match are spread as in correspondence play: so many other moves lie between two of its own
that nearly each is in another bundle. Reads are of matches by chance, once without any cache.
"""

import random
import time
from functools import partial
from pathlib import Path
from typing import Final

from infra.archive.archive import Archive
from infra.archive.objects import PageStore, PublishedLeaves
from infra.log.published_log import CACHE_BYTES
from infra.objects.files import FileObjects
from infra.store.redis_store import RedisStore
from services.bench.active import rewrite_log
from services.bench.finished import fill
from services.bench.harness import SHARDS, BenchEnvironment, new_store
from services.bench.memory import used_memory
from services.bench.published import published_logs
from services.bench.report import Report, median_and_p99
from workers.retire import Retirement

_KINDS: Final = {"leaves": "tile/entries", "hashes": "tile/[0-9]*", "pages": "boards"}
"""Objects of a shard by their folders."""


def run(bench: BenchEnvironment, matches: int, plies: int, reads: int) -> Report:
    """Retire so many matches, and read some; the rate is matches retired a second."""
    folder = bench.folder / "log"
    with bench.server("archive") as server, server.client() as client:
        new_store(client, 1)
        empty = used_memory(client)
        began = time.perf_counter()
        _fill(bench, server.url, folder, matches, plies)
        fill_seconds = time.perf_counter() - began
        full = used_memory(client)
        log_before = rewrite_log(client)
    with bench.server("archive") as server, server.client() as client:
        load_before = server.load_seconds
        loaded = used_memory(client)
        seconds = retire_all(bench, new_store(client, 1), folder)
        left = used_memory(client)
        log_after = rewrite_log(client)
        boards = random.Random(1).sample(range(1, matches + 1), min(reads, matches))  # noqa: S311
        cold = [_read(archive_of(folder, 0), board) for board in boards]
        warm_archive = archive_of(folder, CACHE_BYTES)
        warm = [_read(warm_archive, board) for board in boards]
        again = [_read(warm_archive, board) for board in boards[-100:]]
    with bench.server("archive") as server:
        load_after = server.load_seconds
    return Report(
        rate=matches / seconds,
        unit="matches",
        peers={},
        details={
            "matches": matches,
            "plies": plies,
            "seconds to write them": round(fill_seconds, 1),
            "seconds to retire them": round(seconds, 1),
            "bytes in the server: empty, full, loaded again, retired": [empty, full, loaded, left],
            "bytes a match in the server": round((full - empty) / matches),
            "the same after retiring, bits included": round((left - empty) / matches, 2),
            "bytes of the server's log before and after, rewritten": [log_before, log_after],
            "seconds to load before and after": [round(load_before, 2), round(load_after, 2)],
            **_objects_by_kind(folder, matches),
            "us to read a match, nothing cached": median_and_p99([wall for wall, _ in cold]),
            "of which processor time": median_and_p99([busy for _, busy in cold]),
            "us to read a match": median_and_p99([wall for wall, _ in warm]),
            "us to read a match again": median_and_p99([wall for wall, _ in again]),
            **bench.disk(),
        },
    )


def _fill(bench: BenchEnvironment, url: str, folder: Path, matches: int, plies: int) -> None:
    task = bench.progress.add_task(f"{matches} matches", total=matches)
    for filled in fill(url, folder, matches, plies):
        bench.progress.advance(task, filled)
    bench.progress.remove_task(task)


def archive_of(folder: Path, cached: int) -> Archive:
    """Return an archive that has read nothing yet, and caches so many bytes of bundles."""
    leaves = PublishedLeaves(published_logs(folder, cached).__getitem__, parallel=False)
    parts = PageStore(FileObjects(folder)), leaves
    return Archive(lambda: parts, lambda: SHARDS)


def retire_all(bench: BenchEnvironment, store: RedisStore, folder: Path) -> float:
    """Retire all matches as one job after another does, and return the seconds."""
    task = bench.progress.add_task("retire", total=None)
    pages, logs = PageStore(FileObjects(folder)), published_logs(folder, CACHE_BYTES)
    leaves = PublishedLeaves(logs.__getitem__, parallel=False)
    began = time.perf_counter()
    for log in logs:
        limit = partial(int, log.refresh())
        work = Retirement(store, pages, leaves, log.shard, limit=limit, after_ms=0)
        while (done := work.step()) is not None:
            bench.progress.advance(task, done)
        if work.kept:
            raise RuntimeError(f"{len(work.kept)} matches were not retired")
    bench.progress.remove_task(task)
    return time.perf_counter() - began


def _read(archive: Archive, board: int) -> tuple[float, float]:
    """Read a match, and return the seconds, and those of the processor."""
    began, busy = time.perf_counter(), time.process_time()
    archive.match(board)
    return time.perf_counter() - began, time.process_time() - busy


def _objects_by_kind(folder: Path, matches: int) -> dict[str, dict[str, int]]:
    """Return how many objects there are, and how many bytes a match has."""
    sizes = {
        kind: [file.stat().st_size for file in folder.glob(f"s*/{place}/**/*") if file.is_file()]
        for kind, place in _KINDS.items()
    }
    return {
        "objects": {kind: len(found) for kind, found in sizes.items()},
        "bytes a match in the object store": {
            kind: round(sum(found) / matches) for kind, found in sizes.items()
        },
    }
