"""Baseline: the `eventsourcing` library on SQLite, one aggregate a match, one save a move.

It loads the match from its cache, decides by the same rules, and saves each event in a transaction
that SQLite syncs (WAL, synchronous=FULL, its default). One process, no queue.
"""

import os
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import InfrastructureFactory, Tracking
from eventsourcing.projection import Projection
from eventsourcing.sqlite import SQLiteTrackingRecorder

from bench.harness import BenchEnvironment
from bench.workload import PlannedGame
from domain.rules import latest_rules

_PAGE: Final = 1_000


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


class MatchRows(SQLiteTrackingRecorder):
    """A table with a row a match, written together with how far the events were read."""

    def construct_create_table_statements(self) -> list[str]:
        """Return the statements that make the tables."""
        table = "CREATE TABLE IF NOT EXISTS matches (id TEXT PRIMARY KEY, plies INTEGER, last TEXT)"
        return [*super().construct_create_table_statements(), table]

    def note(self, match_id: UUID, last: str, tracking: Tracking) -> None:
        """Count an event of a match."""
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            cursor.execute(
                "INSERT INTO matches VALUES (?, 0, ?) "
                "ON CONFLICT (id) DO UPDATE SET plies = plies + 1, last = excluded.last",
                (str(match_id), last),
            )

    def count(self) -> int:
        """Return the number of events in all rows."""
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute("SELECT SUM(plies) + COUNT(*) FROM matches", ())
            return int(cursor.fetchone()[0])


class MatchRowsProjection(Projection[MatchRows]):
    """Keeps the rows."""

    def process_event(self, domain_event: Any, tracking: Tracking) -> None:
        """Fold an event."""
        self.view.note(domain_event.originator_id, getattr(domain_event, "move", ""), tracking)


class ProjectedMatches(NamedTuple):
    """The peer's cost of a projection from zero."""

    events: int
    seconds: float
    processor: float
    """Seconds of this process, in which the database is."""


def project(bench: BenchEnvironment, played: Sequence[PlannedGame]) -> ProjectedMatches:
    """Play whole games, and then make one table of rows from all their events.

    The library's runner of projections does not read SQLite, so the log is read by pages here.
    """
    name = "es-project"
    with _application(bench, name, cached=True) as app:
        _play(app, bench, played)
        events = sum(len(game.moves) + 1 for game in played)
        factory: InfrastructureFactory[Any] = InfrastructureFactory.construct(app.env)
        projection = MatchRowsProjection(factory.tracking_recorder(MatchRows))
        began, used, start = time.perf_counter(), time.process_time(), 1
        while page := app.recorder.select_notifications(start, _PAGE):
            for notification in page:
                tracking = Tracking(app.name, notification.id)
                projection.process_event(app.mapper.to_domain_event(notification), tracking)
            start = page[-1].id + 1
        seconds, processor = time.perf_counter() - began, time.process_time() - used
        if projection.view.count() != events:
            raise RuntimeError("the projection of eventsourcing has not folded all events")
    return ProjectedMatches(events, seconds, processor)


def _environment(bench: BenchEnvironment, name: str, *, cached: bool) -> dict[str, str]:
    return {
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "SQLITE_DBNAME": os.fspath(bench.folder / f"{name}.sqlite"),
        **({"AGGREGATE_CACHE_MAXSIZE": "10000"} if cached else {}),
    }


def _application(bench: BenchEnvironment, name: str, *, cached: bool) -> closing[MatchApplication]:
    """Return an application that closes itself at the end of a `with`."""
    return closing(MatchApplication(env=_environment(bench, name, cached=cached)))


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
