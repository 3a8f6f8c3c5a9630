"""The published log: leaves a second of one core, bytes at rest, lag under load, cost for moves.

The moves of N whole games are decided twice on servers of their own: alone, and with a publisher beside
the worker. What the first server has in its logs is then published at once, in this process.
"""

import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

from domain.clocks.time_control import TimeControl
from infra.log.key_files import FOLDER_NAME, generate_keys
from infra.settings import Settings
from infra.store.published_sizes import read_published_sizes
from infra.valkey.server import EmbeddedServer
from services.bench.harness import SHARDS, BenchEnvironment, LoadGenerator, new_store, workers
from services.bench.report import Report
from services.bench.workload import PlannedGame, games, moves, starts
from services.serve.processes import publisher_child
from workers.log.job import make_publisher

_SAMPLE_SECONDS: Final = 0.02
_CATCH_UP_SECONDS: Final = 60.0


def run(bench: BenchEnvironment, matches: int) -> Report:
    """Measure the path alone and with a publisher, and then the publisher alone."""
    played = games(matches)
    with bench.server("alone") as server:
        alone = _play(bench, server, played)
        rate, details = _publish(server, bench.folder / "published")
    with bench.server("beside") as server:
        lags: list[float] = []
        beside = _play(bench, server, played, lags)
    lags.sort()
    return Report(
        rate=rate,
        unit="leaves",
        peers={"moves_decided_alone": alone, "moves_decided_beside": beside},
        details={
            **details,
            "lag, s": {
                "median": round(lags[len(lags) // 2], 2),
                "p99": round(lags[len(lags) * 99 // 100], 2),
                "most": round(lags[-1], 2),
            },
            "moves kept with a publisher": round(beside / alone, 3),
            **bench.disk(),
        },
    )


def _play(
    bench: BenchEnvironment,
    server: EmbeddedServer,
    played: Sequence[PlannedGame],
    lags: list[float] | None = None,
) -> float:
    """Have all moves decided, and return how many a second; with `lags`, beside a publisher."""
    with server.client(blocking_timeout=5) as client:
        store = new_store(client, 1)
        folder = bench.folder / "beside-log"
        beside = nullcontext() if lags is None else _published(server, folder, lags)
        with (
            workers(1, server.url, bench.folder),
            LoadGenerator(client, store, bench.progress) as load,
        ):
            load.submit_all(starts(played, TimeControl()), "challenges", len(played))
            total = sum(len(game.moves) for game in played)
            with beside:
                return total / load.submit_all(moves(played), "moves", total)


@contextmanager
def _published(server: EmbeddedServer, folder: Path, lags: list[float]) -> Iterator[None]:
    """Publish and note each leaf's lag while entered; until all are published."""
    generate_keys(folder / FOLDER_NAME, "bench")
    child = publisher_child(Settings(data=folder), server.url)
    ended = Event()
    clock = Thread(target=_note_lags, args=(server, lags, ended))
    child.start()
    clock.start()
    try:
        yield
    finally:
        ended.set()
        clock.join()
        child.terminate()
        while child.poll() is None:
            time.sleep(0.01)


def _note_lags(server: EmbeddedServer, lags: list[float], ended: Event) -> None:
    """Note how long each leaf waits to be published, as it is seen from outside."""
    seen: list[tuple[int, float]] = []
    noted = 0
    last = None
    with server.client() as client:
        store = new_store(client, 1)
        while True:
            now = time.monotonic()
            total = sum(store.watermark().ends)
            seen.append((total, now))
            published = sum(one.size for one in read_published_sizes(client, SHARDS))
            for leaf in range(noted, published):
                at = bisect_left(seen, (leaf + 1, 0.0))
                lags.append(now - seen[at][1])
            noted = max(noted, published)
            if ended.is_set():
                last = last or now + _CATCH_UP_SECONDS
                if published >= total or now > last:
                    return
            time.sleep(_SAMPLE_SECONDS)


def _publish(server: EmbeddedServer, folder: Path) -> tuple[float, dict[str, Any]]:
    """Publish all logs at once; return leaves a second of processor time, and the details."""
    generate_keys(folder / FOLDER_NAME, "bench")
    with server.client(blocking_timeout=5) as client:
        publisher = make_publisher(Settings(data=folder), client, client)
        began, used = time.perf_counter(), time.process_time()
        publisher.begin()
        while publisher.round(wait_ms=1):
            pass
        used, seconds = time.process_time() - used, time.perf_counter() - began
        leaves = sum(one.size for one in read_published_sizes(client, SHARDS))
    files = [file for file in (folder / "log").rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    stored = sum(file.stat().st_blocks * 512 for file in files)
    return leaves / used, {
        "leaves": leaves,
        "leaves a second, with the disk": round(leaves / seconds),
        "bytes a leaf": round(size / leaves, 1),
        "bytes a leaf, in blocks of the disk": round(stored / leaves, 1),
        "objects": len(files),
    }
