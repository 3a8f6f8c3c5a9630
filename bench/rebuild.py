"""All projections rebuilt from the logs, by one process and by several; and what it takes to keep them up with moves.

The matches are of people who meet by chance, one a tenth of their number. All move in turn, each time in another order.
The peer makes one table from the same kind of events, a row a match.
"""

import os
import random
import time
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any, Final

import redis
from msgspec.structs import replace

from bench.baselines import NOT_INSTALLED, optional_peer
from bench.baselines.redis_only import decide_all, play_to_the_end, submit_and_commit
from bench.harness import SHARDS, BenchEnvironment, new_store
from bench.report import Report
from bench.workload import SEED, PlannedGame, endless, moves, starts
from domain.clocks.time_control import TimeControl
from domain.match.history import Snapshot
from infra.settings.settings import Settings
from infra.store.port import Store
from services.app.context import open_parts
from workers.projections import PROJECTIONS, maintenance
from workers.projections.processes import ShardProcesses
from workers.projections.worker import ProjectionWorker

_ROUNDS: Final = {1: 200, 10: 100, 100: 20}
"""Leaves that come together, and how often, for the cost of keeping up."""

_NEW: Final = (300, 20)
"""Matches whose moves come, and plies of each."""


class _Silent:
    """Receives how far a rebuild is."""

    def progress(self, about: str, done: int, total: int) -> None:
        """Show nothing, because that would be measured."""

    def line(self, text: str) -> None:
        """Print nothing."""


def run(
    bench: BenchEnvironment, matches: int, plies: int, processes: Sequence[int], peer_events: int
) -> Report:
    """Rebuild with each number of processes; the rate is of the first of them."""
    played = _of_people(endless(matches, plies), max(2, matches // 10))
    with bench.server("rebuild") as server, server.client() as client:
        store = new_store(client, 1)
        play_to_the_end(bench, store, played)
        settings = Settings(data=bench.folder, redis_url=server.url)
        found = [_rebuild(store, client, settings, count) for count in processes]
        live = _keep_up(store, client, endless(*_NEW, matches + 1))
    details: dict[str, Any] = {
        "matches": matches,
        "leaves": found[0]["leaves"],
        "rebuilt": found,
        "kept up": live,
        **bench.disk(),
    }
    peers = {}
    if peer := optional_peer("event_sourcing", "eventsourcing"):
        projected = peer.project(bench, played[: max(1, peer_events // plies)])
        peers["eventsourcing_sqlite"] = projected.events / projected.seconds
        details["us an event of eventsourcing_sqlite"] = _us(projected.processor, projected.events)
    else:
        details["eventsourcing_sqlite"] = NOT_INSTALLED
    return Report(rate=found[0]["leaves a second"], unit="leaves", peers=peers, details=details)


def _of_people(played: Sequence[PlannedGame], people: int) -> list[PlannedGame]:
    chance = random.Random(SEED)  # noqa: S311 - a workload, not a secret
    accounts = [b"P%07d" % number for number in range(people)]
    return [replace(game, seats=tuple(chance.sample(accounts, 2))) for game in played]


def _rebuild(store: Store, client: redis.Redis, settings: Settings, count: int) -> dict[str, Any]:
    """Return what a rebuild of all projections takes."""
    leaves = sum(store.watermark().ends)
    before, used, began = _server(client), os.times(), time.perf_counter()
    helpers = ShardProcesses(partial(open_parts, settings), count)
    maintenance.rebuild(store, client, PROJECTIONS, _Silent(), processes=helpers)
    seconds, now, after = time.perf_counter() - began, os.times(), _server(client)
    own = now.user + now.system - used.user - used.system
    theirs = now.children_user + now.children_system - used.children_user - used.children_system
    return {
        "processes": count,
        "leaves": leaves,
        "leaves a second": round(leaves / seconds),
        "us a leaf here": _us(own + theirs, leaves),
        "us a leaf in the server": _us(after["seconds"] - before["seconds"], leaves),
        **{
            f"{name} a leaf": round((after[name] - before[name]) / leaves, 2)
            for name in ("commands", "bytes written", "bytes read")
        },
    }


def _keep_up(
    store: Store, client: redis.Redis, played: Sequence[PlannedGame]
) -> list[dict[str, Any]]:
    """Return what a leaf takes that is folded with so many others, as they come."""
    snapshots: dict[int, Snapshot] = {}
    submit_and_commit(store, decide_all(starts(played, TimeControl()), snapshots, SHARDS))
    orders = moves(played)
    worker = ProjectionWorker(store, client)
    while worker.round() or worker.has_work:
        pass
    found = []
    for size, rounds in _ROUNDS.items():
        own, server, commands = 0.0, 0.0, 0.0
        for _ in range(rounds):
            some = decide_all(islice(orders, size), snapshots, SHARDS)
            submit_and_commit(store, some)
            before, used = _server(client), time.process_time()
            worker.round()
            own += time.process_time() - used
            after = _server(client)
            server += after["seconds"] - before["seconds"]
            commands += after["commands"] - before["commands"]
        leaves = size * rounds
        found.append(
            {
                "leaves together": size,
                "us a leaf here": _us(own, leaves),
                "us a leaf in the server": _us(server, leaves),
                "commands a leaf": round(commands / leaves, 2),
            }
        )
    return found


def _us(seconds: float, count: int) -> float:
    return round(1e6 * seconds / count, 1)


def _server(client: redis.Redis) -> dict[str, float]:
    """Return the server's processor time, commands and bytes so far."""
    cpu: Any = client.info("cpu")
    stats: Any = client.info("stats")
    return {
        "seconds": cpu["used_cpu_user_main_thread"] + cpu["used_cpu_sys_main_thread"],
        "commands": stats["total_commands_processed"],
        "bytes written": stats["total_net_input_bytes"],
        "bytes read": stats["total_net_output_bytes"],
    }
