"""The published log: leaves a second of one core, bytes at rest, lag under load, cost for moves.

The moves of N whole games are decided on servers of their own: alone, beside a publisher, and both once more
in the reverse order, so that a machine that becomes slower favours neither. A publisher runs and has
published the starts before the moves begin. What is measured from outside is measured in all runs. What the
first server has in its logs is then published at once, in this process.
"""

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import msgspec
import redis

from bench.harness import SHARDS, BenchEnvironment, LoadGenerator, new_store, running_workers
from bench.processor import processor_seconds
from bench.report import Report
from bench.workload import PlannedGame, games, moves, starts
from domain.clocks.time_control import TimeControl
from infra.log.key_files import FOLDER_NAME, generate_keys
from infra.settings.settings import Settings
from infra.store.log_gate import read_ends
from infra.store.watermarks import read_published_sizes
from infra.valkey.server import EmbeddedServer
from services.serve.processes import role_child
from workers.log.job import make_publisher

_ORDER: Final = (False, True, True, False)
"""Whether a publisher runs, for each of the runs."""

_SAMPLE_SECONDS: Final = 0.02
_CATCH_UP_SECONDS: Final = 60.0


class _Runs(msgspec.Struct):
    """The cost of all runs of one kind."""

    moves: int = 0
    seconds: float = 0.0
    processor: Counter[str] = msgspec.field(default_factory=Counter)
    """Processor time while the moves were decided, by role, in seconds."""
    published: int = 0
    """Leaves that were published meanwhile."""
    lags: list[float] = []

    @property
    def rate(self) -> float:
        """Return the moves a second."""
        return self.moves / self.seconds

    def microseconds(self) -> dict[str, float]:
        """Return the processor time of a move, by role."""
        return {
            role: round(1e6 * used / self.moves, 1)
            for role, used in self.processor.items()
            if used >= 1e-6 * self.moves
        }


def run(bench: BenchEnvironment, matches: int) -> Report:
    """Measure the path alone and with a publisher, and then the publisher alone."""
    played = games(matches)
    alone, beside = _Runs(), _Runs()
    rate, details = 0.0, dict[str, Any]()
    for number, publishing in enumerate(_ORDER):
        with bench.server(f"server-{number}") as server:
            folder = bench.folder / f"log-{number}"
            _play(
                bench,
                server,
                played,
                folder,
                beside if publishing else alone,
                publishing=publishing,
            )
            if number == 0:
                rate, details = _publish(server, bench.folder / "published")
    lags = sorted(beside.lags)
    return Report(
        rate=rate,
        unit="leaves",
        peers={"moves_decided_alone": alone.rate, "moves_decided_beside": beside.rate},
        details={
            **details,
            "lag, s": {
                "median": round(lags[len(lags) // 2], 2),
                "p99": round(lags[len(lags) * 99 // 100], 2),
                "most": round(lags[-1], 2),
            },
            "moves kept with a publisher": round(beside.rate / alone.rate, 3),
            "processor time a move, us, alone": alone.microseconds(),
            "processor time a move, us, beside": beside.microseconds(),
            "processor time of the publisher a leaf, us": round(
                1e6 * beside.processor["publisher"] / max(1, beside.published), 1
            ),
            **bench.disk(),
        },
    )


def _play(
    bench: BenchEnvironment,
    server: EmbeddedServer,
    played: Sequence[PlannedGame],
    folder: Path,
    runs: _Runs,
    *,
    publishing: bool,
) -> None:
    """Have all moves decided, and add what that took."""
    total = sum(len(game.moves) for game in played)
    with server.client(blocking_timeout=5) as client:
        store = new_store(client, 1)
        with (
            running_workers(1, server.url, folder),
            LoadGenerator(client, store, bench.progress) as load,
        ):
            load.submit_all(starts(played, TimeControl()), "challenges", len(played))
            with (
                _published(server, folder, publishing=publishing),
                _noted(server, runs.lags, publishing=publishing),
            ):
                before, published = _processor(), _published_leaves(client)
                runs.seconds += load.submit_all(moves(played), "moves", total)
                runs.processor += _processor() - before
                runs.published += _published_leaves(client) - published
    runs.moves += total


def _processor() -> Counter[str]:
    """Return the processor time until now, by role; this process has that of all its threads."""
    return Counter({**processor_seconds(os.getpid()), "submitting": time.process_time()})


def _published_leaves(client: redis.Redis) -> int:
    return sum(one.size for one in read_published_sizes(client, SHARDS))


@contextmanager
def _published(server: EmbeddedServer, folder: Path, *, publishing: bool) -> Iterator[None]:
    """Publish while entered, and not before all that is there is published; or do nothing."""
    if not publishing:
        yield
        return
    generate_keys(folder / FOLDER_NAME, "bench")
    child = role_child("publisher", Settings(data=folder), server.url)
    child.start()
    try:
        _catch_up(server)
        yield
    finally:
        child.terminate()
        while child.poll() is None:
            time.sleep(0.01)


def _catch_up(server: EmbeddedServer) -> None:
    """Wait until all leaves are published."""
    with server.client() as client:
        end = time.monotonic() + _CATCH_UP_SECONDS
        while _published_leaves(client) < sum(read_ends(client, range(SHARDS))):
            if time.monotonic() > end:
                raise RuntimeError("the publisher does not publish")
            time.sleep(_SAMPLE_SECONDS)


@contextmanager
def _noted(server: EmbeddedServer, lags: list[float], *, publishing: bool) -> Iterator[None]:
    """Note each leaf's lag while entered, and until all are published."""
    ended = Event()
    clock = Thread(target=_note_lags, args=(server, lags, ended))
    clock.start()
    try:
        yield
        if publishing:
            _catch_up(server)
    finally:
        ended.set()
        clock.join()


def _note_lags(server: EmbeddedServer, lags: list[float], ended: Event) -> None:
    """Note how long each leaf waits to be published, as it is seen from outside."""
    with server.client() as client:
        noted = _published_leaves(client)
        seen: list[tuple[int, float]] = []
        last = False
        while not last:
            last = ended.is_set()
            now = time.monotonic()
            seen.append((sum(read_ends(client, range(SHARDS))), now))
            published = _published_leaves(client)
            for leaf in range(noted, published):
                at = bisect_left(seen, (leaf + 1, 0.0))
                lags.append(now - seen[at][1])
            noted = max(noted, published)
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
