"""Baseline: the `eventsourcing` library on SQLite, one aggregate a match, one save a move.

It loads the match from its cache, decides by the same rules, and saves each event in a transaction
that SQLite syncs (WAL, synchronous=FULL, its default). One process, no queue.
"""

import importlib.util
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from bench.harness import BenchEnvironment
from bench.workload import PlannedGame

if TYPE_CHECKING:
    from bench.baselines.event_sourcing_matches import MatchApplication


def present() -> bool:
    """Whether the library is installed; it is in the optional group `bench`."""
    return importlib.util.find_spec("eventsourcing") is not None


def measure(bench: BenchEnvironment, played: Sequence[PlannedGame], at_least: int) -> float:
    """Play whole games of about `at_least` moves in all; return the moves a second."""
    chosen = _enough(played, at_least)
    with _application(bench, "es-play", cached=True) as app:
        _, seconds = _play(app, bench, chosen)
    return sum(len(game.moves) for game in chosen) / seconds


def replay_rate(bench: BenchEnvironment, played: Sequence[PlannedGame]) -> float:
    """Play whole games, then load each from its events; return the events loaded a second."""
    with _application(bench, "es-replay", cached=False) as app:
        ids, _ = _play(app, bench, played)
        began = time.perf_counter()
        for id_ in ids:
            app.repository.get(id_)
        seconds = time.perf_counter() - began
    return sum(len(game.moves) + 1 for game in played) / seconds


@contextmanager
def _application(
    bench: BenchEnvironment, name: str, *, cached: bool
) -> Iterator["MatchApplication"]:
    from bench.baselines.event_sourcing_matches import MatchApplication  # noqa: PLC0415 - needs the library

    app = MatchApplication(
        env={
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": os.fspath(bench.folder / f"{name}.sqlite"),
            **({"AGGREGATE_CACHE_MAXSIZE": "10000"} if cached else {}),
        }
    )
    try:
        yield app
    finally:
        app.close()


def _play(
    app: "MatchApplication", bench: BenchEnvironment, games: Sequence[PlannedGame]
) -> tuple[list[UUID], float]:
    """Play the games in parallel; return their ids, and the seconds of their moves."""
    task = bench.progress.add_task(
        "eventsourcing_sqlite", total=sum(len(game.moves) for game in games)
    )
    ids = [app.start() for _ in games]
    began = time.perf_counter()
    for ply in range(max(len(game.moves) for game in games)):
        for id_, game in zip(ids, games, strict=True):
            if ply < len(game.moves):
                app.move(id_, game.moves[ply])
                bench.progress.advance(task)
    seconds = time.perf_counter() - began
    bench.progress.remove_task(task)
    return ids, seconds


def _enough(played: Sequence[PlannedGame], at_least: int) -> Sequence[PlannedGame]:
    count = 0
    for number, game in enumerate(played, 1):
        count += len(game.moves)
        if count >= at_least:
            return played[:number]
    return played
