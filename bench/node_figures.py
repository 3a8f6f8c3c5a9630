"""The work of a node, by its own counts."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import redis

from bench.local_cluster import SLOTS, LocalCluster
from bench.workload import PlannedGame
from infra.redis.keys import shard_of, slot_of


class NodeFigures(msgspec.Struct, frozen=True):
    """Counts of a node since its start, or of the time between two moments."""

    commands: int
    """Those inside of scripts included."""
    bytes_in: int
    bytes_out: int
    log_bytes: int
    """Written to the append-only file."""
    barriers: int
    """WAITAOF, one a commit that touches the node."""
    processor_us: float
    """Of the thread that executes all commands."""
    busy_us: int
    """Time of that thread outside of waiting for clients; other processes may have its core meanwhile."""
    sync_us: int
    """The part of it for writing and syncing the append-only file."""

    def since(self, before: "NodeFigures") -> "NodeFigures":
        """Return what was done after an earlier moment."""
        return NodeFigures(
            *(
                getattr(self, field) - getattr(before, field)
                for field in NodeFigures.__struct_fields__
            )
        )

    def per_move(self, moves: int) -> dict[str, float]:
        """Return all for one of so many moves."""
        return {
            field.replace("_", " "): round(
                getattr(self, field) / moves, 3 if field == "barriers" else 1
            )
            for field in self.__struct_fields__
        }


def read_figures(node: redis.Redis) -> NodeFigures:
    """Return the figures of a node since its start."""
    found: Any = {}
    for section in ("stats", "cpu", "persistence", "commandstats", "debug"):
        found |= node.info(section)
    return NodeFigures(
        commands=found["total_commands_processed"],
        bytes_in=found["total_net_input_bytes"],
        bytes_out=found["total_net_output_bytes"],
        log_bytes=found.get("aof_current_size", 0),  # a server without such a file has none
        barriers=found.get("cmdstat_waitaof", {"calls": 0})["calls"],
        processor_us=1e6 * (found["used_cpu_user_main_thread"] + found["used_cpu_sys_main_thread"]),
        busy_us=found["eventloop_duration_sum"],
        sync_us=found["eventloop_duration_aof_sum"],
    )


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
        {"moves": count} | (node.per_move(count) if count else {})
        for node, count in zip(figures, moves, strict=True)
    ]
