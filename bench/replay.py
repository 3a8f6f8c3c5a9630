"""Histories: events folded a second, and plies a second that `verify` decides again."""

import time
from collections.abc import Sequence
from typing import Any

from bench.baselines import NOT_INSTALLED, optional_peer
from bench.baselines.redis_only import decide_all
from bench.harness import BenchEnvironment
from bench.report import Report
from bench.workload import games, moves, starts
from domain.match.audit import verify
from domain.match.history import replay

_ROUNDS = 3


def run(bench: BenchEnvironment, matches: int) -> Report:
    """Measure; the rate is events folded a second, from stored bytes to the last state."""
    played = games(matches)
    writes = decide_all([*starts(played), *moves(played)], {})
    histories: dict[int, list[bytes]] = {}
    for _, write in writes:
        histories.setdefault(write.board, []).extend(write.leaves)
    events = sum(map(len, histories.values()))
    fold_rate = max(_fold(list(histories.values()), events) for _ in range(_ROUNDS))
    plies = sum(len(game.moves) for game in played)
    began = time.perf_counter()
    for board, history in histories.items():
        verify(board, history)
    verify_rate = plies / (time.perf_counter() - began)
    details: dict[str, Any] = {
        "matches": matches,
        "events": events,
        "verify plies a second": round(verify_rate, 1),
        **bench.disk(),
    }
    peers = {}
    if event_sourcing := optional_peer("event_sourcing", "eventsourcing"):
        peers["eventsourcing_sqlite"] = event_sourcing.replay_rate(
            bench, played[: max(1, matches // 10)]
        )
    else:
        details["eventsourcing_sqlite"] = NOT_INSTALLED
    return Report(rate=fold_rate, unit="events", peers=peers, details=details)


def _fold(histories: Sequence[Sequence[bytes]], events: int) -> float:
    began = time.perf_counter()
    for history in histories:
        replay(history)
    return events / (time.perf_counter() - began)
