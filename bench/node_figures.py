"""The work of a node, by its own counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import redis

from bench.local_cluster import SLOTS, LocalCluster
from bench.workload import PlannedGame
from infra.redis.keys import shard_of, slot_of

NodeFigures: TypeAlias = Mapping[str, float]
"""Counts of a node since its start, or of the time between two moments, by name."""


def read_figures(node: redis.Redis) -> NodeFigures:
    """Return the figures of a node since its start."""
    found: Any = {}
    for section in ("stats", "cpu", "persistence", "commandstats", "debug"):
        found |= node.info(section)
    return {
        # those inside of scripts included
        "commands": found["total_commands_processed"],
        "bytes in": found["total_net_input_bytes"],
        "bytes out": found["total_net_output_bytes"],
        # written to the append-only file; a server without such a file has none
        "log bytes": found.get("aof_current_size", 0),
        # WAITAOF, one a commit that touches the node
        "barriers": found.get("cmdstat_waitaof", {"calls": 0})["calls"],
        # of the thread that executes all commands
        "processor us": 1e6
        * (found["used_cpu_user_main_thread"] + found["used_cpu_sys_main_thread"]),
        # of that thread outside of waiting for clients; other processes may have its core meanwhile
        "busy us": found["eventloop_duration_sum"],
        # the part of it for writing and syncing the append-only file
        "sync us": found["eventloop_duration_aof_sum"],
    }


def figures_of(cluster: LocalCluster) -> list[NodeFigures]:
    """Return the figures of each node since its start."""
    found = []
    for node in cluster.nodes:
        with node.client() as client:
            found.append(read_figures(client))
    return found


def moves_of_nodes(shards: int, nodes: int, played: Sequence[PlannedGame]) -> list[int]:
    """Return how many of the moves each node keeps."""
    counts: Counter[int] = Counter()
    for game in played:
        counts[slot_of(shard_of(game.board, shards)) * nodes // SLOTS] += len(game.moves)
    return [counts[node] for node in range(nodes)]


def per_node(figures: Sequence[NodeFigures], moves: Sequence[int]) -> list[dict[str, float]]:
    """Return the figures of each node for one of the moves that it keeps."""
    return [
        {"moves": count} | (per_move(node, count) if count else {})
        for node, count in zip(figures, moves, strict=True)
    ]


def per_move(figures: Mapping[str, float], moves: int) -> dict[str, float]:
    """Return all for one of so many moves."""
    return {
        name: round(value / moves, 3 if name == "barriers" else 1)
        for name, value in figures.items()
    }


def between(then: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """Return what was counted between two moments."""
    return {name: value - then.get(name, 0) for name, value in now.items()}
