"""The scrubber on a cluster, where the walk through all keys goes from node to node."""

from itertools import count
from pathlib import Path

import pytest

from infra.redis.cluster import ClusterClient, slot_of_key
from infra.valkey.server import EmbeddedServer
from tests.helpers.clusters import Cluster
from tests.helpers.scrubbing import ScrubbedServer, populated, small_chunks
from workers.scrub.scrubber import Step
from workers.scrub.stored_keys import StoredKeys


@pytest.fixture
def server(cluster: Cluster, cluster_client: ClusterClient, valkey: EmbeddedServer, tmp_path: Path):
    with small_chunks():
        yield populated(cluster_client, cluster.url, tmp_path, queue=valkey.url)


@pytest.mark.slow
def test_keys_that_nobody_writes_are_found_on_each_node(server, cluster_client):
    assert server.scrub() == []
    strangers = {
        f"key {key_on(cluster_client, node)}"
        for node in range(len(cluster_client.slots.primaries()))
    }
    for about in strangers:
        cluster_client.set(about.removeprefix("key "), "?")
    assert {fault.about for fault in server.scrub()} == strangers


def key_on(client: ClusterClient, node: int) -> str:
    """Return a key of a shard that is not there, on the nth node."""
    names = (f"{{s99.{number}}}:in" for number in count())
    primary = client.slots.primaries()[node]
    return next(name for name in names if client.slots.node_of(slot_of_key(name)) is primary)


@pytest.mark.slow
def test_a_walk_begins_again_when_slots_have_moved(server: ScrubbedServer) -> None:
    walk = StoredKeys(server.parts())
    slots, *_ = str(walk.step("").cursor).split("/")
    # of another map of slots, and of a version that knew of one server
    for old in (f"{int(slots) + 1}/2/0", "17"):
        found, node, _ = str(walk.step(old).cursor).split("/")
        assert (found, node in ("0", "1")) == (slots, True)
    seen: list[Step] = [walk.step("")]
    while (cursor := seen[-1].cursor) is not None:
        seen.append(walk.step(cursor))
    assert {one.cursor.split("/")[1] for one in seen if one.cursor} >= {"1", "2"}
