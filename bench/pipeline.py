"""The whole path of a move, from inbox to durable outcome, beside other designs.

The moves of N whole games, played beforehand, are submitted to the inboxes. Real command workers decide
and commit them on a real server that syncs every commit. The time is from the first submit to the last
published outcome, and every outcome must be an acceptance.
"""

from collections.abc import Sequence
from typing import Any, Final

from bench.baselines import NOT_INSTALLED, optional_peer, redis_only, rq_job
from bench.harness import (
    MICRO_BATCH,
    SHARDS,
    WINDOW,
    BenchEnvironment,
    LoadGenerator,
    new_store,
    running_workers,
)
from bench.report import Report
from bench.workload import PlannedGame, games, moves, starts
from domain.clocks.time_control import TimeControl
from domain.match.audit import verify

TERMS: Final = TimeControl()
"""Of all matches: they have clocks, so that their moves write times and due times, too."""

VERIFIED: Final = 20
"""Number of matches that are verified afterwards."""


def run(bench: BenchEnvironment, matches: int, peer_jobs: int, workers: int) -> Report:
    """Measure matchpost, then each baseline on the same disk."""
    played = games(matches)
    rate, details = _measure(bench, played, workers)
    rq = rq_job.measure(bench, played, peer_jobs)
    peers = {"rq_job_per_move": rq.rate, "redis_limit": redis_only.measure(bench, played, TERMS)}
    if bench.fsync_delay_ms:
        details["eventsourcing_sqlite"] = "not measured: only the servers' disk is slowed"
    elif event_sourcing := optional_peer("event_sourcing", "eventsourcing"):
        peers["eventsourcing_sqlite"] = event_sourcing.measure(bench, played, peer_jobs)
    else:
        details["eventsourcing_sqlite"] = NOT_INSTALLED
    details["rq_job_per_move"] = rq.details
    return Report(rate=rate, unit="moves", peers=peers, details={**details, **bench.disk()})


def _measure(
    bench: BenchEnvironment, played: Sequence[PlannedGame], workers: int
) -> tuple[float, dict[str, Any]]:
    with bench.server("matchpost") as server, server.client(blocking_timeout=5) as client:
        store = new_store(client, workers)
        with (
            running_workers(workers, server.url, bench.folder),
            LoadGenerator(client, store, bench.progress) as load,
        ):
            load.submit_all(starts(played, TERMS), "challenges", len(played))
            total = sum(len(game.moves) for game in played)
            seconds = load.submit_all(moves(played), "moves", total)
        for game in played[:: max(1, len(played) // VERIFIED)]:
            verify(game.board, store.events(game.board))
    return total / seconds, {
        "matches": len(played),
        "moves": total,
        "seconds": round(seconds, 3),
        "command workers": workers,
        "shards": SHARDS,
        "micro-batch": MICRO_BATCH,
        "window": WINDOW,
    }
