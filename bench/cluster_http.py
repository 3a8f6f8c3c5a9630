"""Moves over HTTP on a cluster: a real `serve` with one web process and one worker, its data on the nodes.

Commands come one by one, and lists and ratings follow them, so a move costs a node more than in bulk.
"""

from pathlib import Path
from typing import Any, Final

from bench.harness import BenchEnvironment
from bench.http import play_matches
from bench.local_cluster import LocalCluster
from bench.node_figures import between, figures_of, moves_of_nodes, per_move, per_node
from bench.processor import processor_seconds
from bench.report import median_and_p99
from bench.served import serving, start_matches
from bench.workload import games
from infra.settings.settings import Settings
from infra.valkey.server import queue_server

CLIENTS: Final = 32


def measure(
    bench: BenchEnvironment, cluster: LocalCluster, folder: Path, shards: int, matches: int
) -> dict[str, Any]:
    """Return the details of moves by `CLIENTS` keep-alive connections."""
    with queue_server(folder) as queue:
        servers = {
            "MATCHPOST_REDIS_URL": cluster.url,
            "MATCHPOST_QUEUE_URL": queue.url,
            "MATCHPOST_SHARDS": str(shards),
            "MATCHPOST_WORKERS": "1",
        }
        played = games(CLIENTS + matches)
        with serving(bench, f"{folder.name}/http", **servers) as (url, data, pid):
            settings = Settings(
                data=data, redis_url=cluster.url, queue_url=queue.url, shards=shards
            )
            orders = start_matches(data, played, settings=settings)
            warming, played = played[:CLIENTS], played[CLIENTS:]
            play_matches(url, orders, warming, CLIENTS)
            before, used_before = figures_of(cluster), processor_seconds(pid)
            load = play_matches(url, orders, played, CLIENTS)
            used = processor_seconds(pid)
            figures = list(map(between, before, figures_of(cluster)))
    processor = {role: 1e6 * seconds for role, seconds in between(used_before, used).items()}
    processor["nodes"] = sum(node["processor us"] for node in figures)
    return {
        "moves a second": round(load.rate, 1),
        "moves": load.moves,
        "latency, us": median_and_p99(load.latencies),
        "processor us a move": per_move(processor, load.moves),
        "nodes, for each of their moves": per_node(
            figures, moves_of_nodes(shards, len(figures), played)
        ),
    }
