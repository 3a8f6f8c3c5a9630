"""Baseline: the `eventsourcing` library on SQLite, one aggregate a match, one save a move.

It loads the match from its cache, decides by the same rules, and saves each event in a transaction
that SQLite syncs (WAL, synchronous=FULL, its default). One process, no queue.
"""

import os
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from bench.harness import BenchEnvironment
from bench.workload import PlannedGame
from domain.rules import latest_rules


class MatchAggregate(Aggregate):
    """A match of pow2."""

    def __init__(self) -> None:
        rules = latest_rules("pow2")
        self.position: Any = rules.start(rules.read_options(()), 2, None)

    def play(self, text: str) -> None:
        """Check a move by the rules, and record it."""
        rules = latest_rules("pow2")
        move = rules.check(self.position, rules.read(text))
        self.moved(rules.write(move))

    @event("Moved")
    def moved(self, move: str) -> None:
        """Apply a recorded move."""
        rules = latest_rules("pow2")
        self.position = rules.play(self.position, rules.read(move))
        rules.outcome(self.position)


class MatchApplication(Application[UUID]):
    """The application with all matches."""

    def start(self) -> UUID:
        """Start a match, and return its id."""
        match = MatchAggregate()
        self.save(match)
        return match.id

    def move(self, match_id: UUID, text: str) -> None:
        """Play a move in a match."""
        match: MatchAggregate = self.repository.get(match_id)
        match.play(text)
        self.save(match)


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


def _application(bench: BenchEnvironment, name: str, *, cached: bool) -> closing[MatchApplication]:
    """Return an application that closes itself at the end of a `with`."""
    return closing(
        MatchApplication(
            env={
                "PERSISTENCE_MODULE": "eventsourcing.sqlite",
                "SQLITE_DBNAME": os.fspath(bench.folder / f"{name}.sqlite"),
                **({"AGGREGATE_CACHE_MAXSIZE": "10000"} if cached else {}),
            }
        )
    )


def _play(
    app: MatchApplication, bench: BenchEnvironment, games: Sequence[PlannedGame]
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
