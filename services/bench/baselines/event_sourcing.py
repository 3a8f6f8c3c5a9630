"""The peer: the `eventsourcing` library on SQLite, one aggregate a match, one save a move.

It loads the match from its cache, decides by the same rules, and saves the event in a transaction
of its own, which SQLite syncs (WAL, synchronous=FULL, its default). One process, no queue.
"""

import importlib.util
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from services.bench.harness import Place
from services.bench.workload import Game

if TYPE_CHECKING:
    from services.bench.baselines.event_sourcing_matches import Matches


def present() -> bool:
    """Whether the library is installed; it is in the optional group `bench`."""
    return importlib.util.find_spec("eventsourcing") is not None


def measure(where: Place, played: Sequence[Game], at_least: int) -> float:
    """Play whole games until there are about so many moves; give the moves a second."""
    chosen = _enough(played, at_least)
    with _application(where, "es-play", cached=True) as app:
        _, seconds = _play(app, where, chosen)
    return sum(len(game.moves) for game in chosen) / seconds


def replay_rate(where: Place, played: Sequence[Game]) -> float:
    """Play whole games, then load each again from its events; give the events a second."""
    with _application(where, "es-replay", cached=False) as app:
        ids, _ = _play(app, where, played)
        began = time.perf_counter()
        for id_ in ids:
            app.repository.get(id_)
        seconds = time.perf_counter() - began
    return sum(len(game.moves) + 1 for game in played) / seconds


@contextmanager
def _application(where: Place, name: str, *, cached: bool) -> Iterator["Matches"]:
    from services.bench.baselines.event_sourcing_matches import Matches  # noqa: PLC0415 - needs the library

    app = Matches(
        env={
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": os.fspath(where.folder / f"{name}.sqlite"),
            **({"AGGREGATE_CACHE_MAXSIZE": "10000"} if cached else {}),
        }
    )
    try:
        yield app
    finally:
        app.close()


def _play(app: "Matches", where: Place, games: Sequence[Game]) -> tuple[list[UUID], float]:
    """Play the games side by side; give their ids and the seconds their moves took."""
    task = where.progress.add_task(
        "eventsourcing_sqlite", total=sum(len(game.moves) for game in games)
    )
    ids = [app.start() for _ in games]
    began = time.perf_counter()
    for ply in range(max(len(game.moves) for game in games)):
        for id_, game in zip(ids, games, strict=True):
            if ply < len(game.moves):
                app.move(id_, game.moves[ply])
                where.progress.advance(task)
    seconds = time.perf_counter() - began
    where.progress.remove_task(task)
    return ids, seconds


def _enough(played: Sequence[Game], at_least: int) -> Sequence[Game]:
    count = 0
    for number, game in enumerate(played, 1):
        count += len(game.moves)
        if count >= at_least:
            return played[:number]
    return played
