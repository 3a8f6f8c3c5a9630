"""Moves on a cluster, by its nodes and the command workers, with what each node saw of them.

Whole games go the way of `bench pipeline`: one process submits, workers decide and commit, each commit is synced by
the nodes that it touches. Nodes, the server of the queue, workers and the submitting process share one machine and
one disk, so rates are this machine's. What a move costs a node holds for other machines too.
"""

import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import msgspec
import redis

from bench import cluster_http
from bench.baselines import redis_only
from bench.harness import (
    MICRO_BATCH,
    WINDOW,
    BenchEnvironment,
    LoadGenerator,
    new_store,
    running_workers,
)
from bench.local_cluster import LocalCluster, local_cluster
from bench.node_figures import (
    NodeFigures,
    between,
    figures_of,
    moves_of_nodes,
    per_move,
    per_node,
    read_figures,
)
from bench.pipeline import TERMS, VERIFIED
from bench.processor import processor_seconds
from bench.report import Report
from bench.workload import PlannedGame, games, moves, starts
from domain.match.audit import verify
from infra.redis.clients import make_client
from infra.store.layout import Numbering
from infra.valkey.server import queue_server


class ClusterRun(msgspec.Struct, frozen=True):
    """The measurement with so many nodes and workers."""

    rate: float
    """Moves a second."""
    processor_us: dict[str, float]
    """Processor time of a move, by process; that of all nodes or all workers together."""
    nodes: Sequence[NodeFigures]
    moves: list[int]
    """How many of the moves each node keeps."""

    def details(self) -> dict[str, Any]:
        """Return the details of the report."""
        return {
            "moves a second": round(self.rate, 1),
            "processor us a move": self.processor_us,
            "nodes, for each of their moves": per_node(self.nodes, self.moves),
            "moves a second at which a node has no time left": self.walls(),
        }

    def walls(self) -> dict[str, float]:
        """Return the rates at which one node would be the wall, on the average of the nodes."""
        count = sum(self.moves)
        spent = {
            "its core, all busy": sum(node["processor us"] for node in self.nodes),
            "its disk, always syncing": sum(node["sync us"] for node in self.nodes),
            "both, one after the other": sum(node["busy us"] for node in self.nodes),
        }
        return {what: round(1e6 * count / us, 1) for what, us in spent.items()}


def run(
    bench: BenchEnvironment,
    nodes: Sequence[int],
    workers: Sequence[int],
    matches: int,
    http_matches: int,
    shards: int,
) -> Report:
    """Measure each number of nodes with each number of workers; the rate is that with the most of both."""
    played = games(matches)
    peers = {"redis_limit, one server": redis_only.measure(bench, played, TERMS)}
    runs: dict[str, ClusterRun] = {}
    over_http: dict[str, Any] = {}
    for count in nodes:
        peers[f"redis_limit, nodes: {count}"] = _limit(bench, count, shards, played)
        for worker_count in workers:
            runs[f"nodes: {count}, workers: {worker_count}"] = _measure(
                bench, count, worker_count, shards, played
            )
        over_http[f"nodes: {count}, over HTTP"] = _over_http(bench, count, shards, http_matches)
    return Report(
        rate=runs[f"nodes: {max(nodes)}, workers: {max(workers)}"].rate,
        unit="moves",
        peers=peers,
        details={
            **{name: one.details() for name, one in runs.items()},
            **over_http,
            "matches": len(played),
            "moves": sum(len(game.moves) for game in played),
            "shards": shards,
            "micro-batch": MICRO_BATCH,
            "window": WINDOW,
            **bench.disk(),
        },
    )


def _cluster(
    bench: BenchEnvironment, folder: Path, nodes: int
) -> AbstractContextManager[LocalCluster]:
    # a rewrite would make the log shorter, whose growth is counted
    return local_cluster(folder, nodes, {"auto-aof-rewrite-percentage": "0"}, bench.variables())


def _limit(
    bench: BenchEnvironment, nodes: int, shards: int, played: Sequence[PlannedGame]
) -> float:
    """Return the moves a second of one client that submits and commits, and decides nothing."""
    with (
        _cluster(bench, bench.folder / f"limit-{nodes}", nodes) as cluster,
        make_client(cluster.url) as client,
    ):
        store = new_store(client, 1, shards, Numbering.SHARD)
        return redis_only.measure_on(bench, store, played, TERMS)


def _over_http(bench: BenchEnvironment, nodes: int, shards: int, matches: int) -> dict[str, Any]:
    folder = bench.folder / f"http-{nodes}"
    with _cluster(bench, folder, nodes) as cluster:
        return cluster_http.measure(bench, cluster, folder, shards, matches)


def _measure(
    bench: BenchEnvironment,
    nodes: int,
    worker_count: int,
    shards: int,
    played: Sequence[PlannedGame],
) -> ClusterRun:
    folder = bench.folder / f"nodes-{nodes}-workers-{worker_count}"
    with ExitStack() as stack:
        cluster = stack.enter_context(_cluster(bench, folder, nodes))
        queue = stack.enter_context(queue_server(folder))
        data = stack.enter_context(make_client(cluster.url, blocking_timeout=5))
        signals = stack.enter_context(queue.client(blocking_timeout=5))
        store = new_store(data, worker_count, shards, Numbering.SHARD)
        stack.enter_context(running_workers(worker_count, cluster.url, folder, queue.url))
        load = stack.enter_context(LoadGenerator(signals, store, bench.progress))
        what = f"{nodes} nodes, {worker_count} workers"
        load.submit_all(starts(played, TERMS), f"{what}: starts", len(played))
        total = sum(len(game.moves) for game in played)
        before, used_before = figures_of(cluster), _processor_us(signals)
        seconds = load.submit_all(moves(played), f"{what}: moves", total)
        after, used = figures_of(cluster), _processor_us(signals)
        figures = list(map(between, before, after))
        processor = between(used_before, used)
        processor["nodes"] = sum(node["processor us"] for node in figures)
        for game in played[:: max(1, len(played) // VERIFIED)]:
            verify(game.board, store.events(game.board))
        return ClusterRun(
            total / seconds,
            per_move(processor, total),
            figures,
            moves_of_nodes(shards, nodes, played),
        )


def _processor_us(queue: redis.Redis) -> dict[str, float]:
    """Return the processor time until now of everything but the nodes, in microseconds."""
    return {
        "workers": 1e6 * processor_seconds(os.getpid()).get("worker", 0.0),
        "submitting": 1e6 * time.process_time(),
        "server of the queue": read_figures(queue)["processor us"],
    }
