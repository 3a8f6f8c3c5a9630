"""A cluster of embedded servers serves all slots, syncs its writes, and ends with its owner."""

from pathlib import Path

import redis

from bench.local_cluster import local_cluster
from infra.redis.clients import make_client
from infra.redis.cluster import servers_of


def test_each_node_of_a_local_cluster_serves_its_share_and_syncs(tmp_path: Path) -> None:
    with local_cluster(tmp_path, 2) as cluster, make_client(cluster.url) as client:
        for number in range(40):
            client.set(f"key {number}", number)
        nodes = servers_of(client)
        counts = [node.dbsize() for node in nodes]
        assert sum(counts) == 40
        assert min(counts) > 0
        assert [node.config_get("appendfsync")["appendfsync"] for node in nodes] == ["always"] * 2
        ended = cluster.nodes
    assert [node.pid for node in ended] == [None, None]


def test_a_local_cluster_may_have_one_node(tmp_path: Path) -> None:
    with local_cluster(tmp_path, 1) as cluster, make_client(cluster.url) as client:
        (node,) = servers_of(client)
        assert client.set("key", "value")
        assert b"cluster_slots_ok:16384" in _state(node)


def _state(node: redis.Redis) -> bytes:
    found: bytes = node.execute_command("CLUSTER", "INFO")
    return found
