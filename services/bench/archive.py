"""The archive: memory before and after matches are retired, the rate of it, and reading them back.

The leaves of a match are spread as in correspondence play: so many other moves lie between two of its own
that nearly each is in another bundle. Reads are of matches by chance, once without any cache.
"""

import random
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

from domain.clocks.time_control import TimeControl
from domain.match.history import Snapshot
from infra.archive.archive import Archive
from infra.archive.objects import PageStore, PublishedLeaves
from infra.log.published_log import CACHE_BYTES
from infra.objects.files import FileObjects
from infra.redis import keys
from infra.store.redis_store import RedisStore
from services.bench.baselines.redis_only import decide_all, submit_and_commit
from services.bench.harness import SHARDS, BenchEnvironment, new_store
from services.bench.memory import used_memory
from services.bench.published import publish, published_logs
from services.bench.report import Report, median_and_p99
from services.bench.workload import endless, moves, resignations, starts
from workers.commands.drain import BATCH
from workers.retire import Retirement

_CHUNK: Final = 5_000
"""Matches that are played at the same time."""


def run(bench: BenchEnvironment, matches: int, plies: int, reads: int) -> Report:
    """Retire so many matches, and read some; the rate is matches retired a second."""
    with bench.server("archive") as server, server.client() as client:
        store, folder = new_store(client, 1), bench.folder / "log"
        empty = used_memory(client)
        _play(bench, store, matches, plies)
        sizes = publish(store, folder)
        for shard, size in enumerate(sizes):
            client.xtrim(keys.log(shard), minid=f"{size}-0", approximate=False)
        full = used_memory(client)
        seconds = _retire(bench, store, folder, sizes)
        left = used_memory(client)
        boards = random.Random(1).sample(range(1, matches + 1), min(reads, matches))  # noqa: S311
        cold = [_read(_archive(folder, 0), board) for board in boards]
        warm_archive = _archive(folder, CACHE_BYTES)
        warm = [_read(warm_archive, board) for board in boards]
    return Report(
        rate=matches / seconds,
        unit="matches",
        peers={},
        details={
            "matches": matches,
            "plies": plies,
            "bytes a match in the server": round((full - empty) / matches),
            "the same after retiring, bits included": round((left - empty) / matches, 2),
            "bytes a match in the object store": _bytes_by_kind(folder, matches),
            "us to read a match, nothing cached": median_and_p99([wall for wall, _ in cold]),
            "of which processor time": median_and_p99([busy for _, busy in cold]),
            "us to read a match": median_and_p99([wall for wall, _ in warm]),
            **bench.disk(),
        },
    )


def _play(bench: BenchEnvironment, store: RedisStore, matches: int, plies: int) -> None:
    task = bench.progress.add_task(f"{matches} matches", total=matches)
    for first in range(1, matches + 1, _CHUNK):
        played = endless(min(_CHUNK, matches + 1 - first), plies, first)
        snapshots: dict[int, Snapshot] = {}
        orders = chain(starts(played, TimeControl()), moves(played), resignations(played))
        prepared = decide_all(orders, snapshots)
        for start in range(0, len(prepared), BATCH):
            submit_and_commit(store, prepared[start : start + BATCH])
        bench.progress.advance(task, len(played))
    bench.progress.remove_task(task)


def _leaves(folder: Path, cached: int) -> PublishedLeaves:
    return PublishedLeaves(published_logs(folder, cached), parallel=False)


def _archive(folder: Path, cached: int) -> Archive:
    """Return an archive that has read nothing yet, and caches so many bytes of bundles."""
    parts = PageStore(FileObjects(folder)), _leaves(folder, cached)
    return Archive(lambda: parts, lambda: SHARDS)


def _retire(
    bench: BenchEnvironment, store: RedisStore, folder: Path, sizes: Sequence[int]
) -> float:
    task = bench.progress.add_task("retire", total=None)
    pages, leaves = PageStore(FileObjects(folder)), _leaves(folder, 1 << 28)
    began = time.perf_counter()
    for shard, size in enumerate(sizes):
        work = Retirement(store, pages, leaves, shard, limit=partial(int, size), after_ms=0)
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


def _bytes_by_kind(folder: Path, matches: int) -> dict[str, int]:
    kinds: dict[str, Any] = {"leaves": "tile/entries", "hashes": "tile/[0-9]*", "pages": "boards"}
    return {
        kind: round(
            sum(file.stat().st_size for file in folder.glob(f"s*/{place}/**/*") if file.is_file())
            / matches
        )
        for kind, place in kinds.items()
    }
