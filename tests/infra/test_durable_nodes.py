"""Durability of several servers: clusters and Sentinel pairs, whose nodes are named, and whose failovers are verified."""

import logging
from collections.abc import Iterator

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.durability.durability import DurabilityError, DurabilityNotes, Mode, verify
from infra.durability.durability_watch import DurabilityWatch
from infra.redis import keys
from infra.redis.clients import make_client
from infra.redis.cluster import slot_of_key
from tests.helpers.clusters import Cluster, Node, SentinelPair, running
from tests.helpers.replicas import COUNTED
from tests.helpers.served import until


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster whose primaries have a replica each, and count it."""
    cluster = Cluster(tmp_path_factory.mktemp("copied"), primaries=3, replicas=1, **COUNTED)
    with running(cluster) as found:
        yield found


@pytest.fixture
def copied_client(copied: Cluster) -> Iterator[Redis]:
    copied.wait_until(copied.whole)
    with make_client(copied.url) as client:
        yield client


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentinelPair]:
    with running(SentinelPair(tmp_path_factory.mktemp("pair"), **COUNTED)) as found:
        yield found


def fault(client: Redis, mode: Mode, replicas: int = 1) -> str:
    try:
        verify(client, mode, replicas)
    except DurabilityError as error:
        return str(error)
    return ""


def set_up(node: Node, **settings: str) -> None:
    with node.client() as client:
        for name, value in settings.items():
            client.config_set(name.replace("_", "-"), value)


def primaries(cluster: Cluster) -> list[Node]:
    """The present primaries."""
    found = []
    for node in cluster.nodes:
        with node.client() as client:
            if client.execute_command("ROLE")[0] == b"master":
                found.append(node)
    return found


def trial_keys(client: Redis) -> list[bytes]:
    """The keys of trial writes on a node."""
    return [*client.keys("b"), *client.keys("b:*")]


def slots_of(node: Node) -> set[int]:
    """The slots of which a node has keys of trial writes."""
    with node.client() as client:
        return {slot_of_key(key) for key in trial_keys(client)}


def fail_over(cluster: Cluster, primary: Node) -> Node:
    """Have the replica of a primary take its place, and return it."""
    with primary.client() as client:
        port = client.info("replication")["slave0"]["port"]
    promoted = next(node for node in cluster.nodes if node.port == port)
    with promoted.client() as client:
        client.execute_command("CLUSTER", "FAILOVER")
    cluster.wait_until(lambda: promoted in primaries(cluster) and cluster.whole())
    return promoted


def test_every_node_of_a_cluster_is_verified_and_the_wrong_one_is_named(
    cluster: Cluster, cluster_client: Redis
) -> None:
    assert fault(cluster_client, Mode.FSYNC) == ""
    watch = DurabilityWatch(cluster_client, cluster_client, Mode.FSYNC)
    assert watch.look() == []
    for node in cluster.primaries:
        set_up(node, appendfsync="everysec")
        try:
            sentence = (
                f"node 127.0.0.1:{node.port}: the server's setting 'appendfsync' is 'everysec'"
            )
            assert sentence in fault(cluster_client, Mode.FSYNC)
            (found,) = watch.look()
            assert sentence in found
        finally:
            set_up(node, appendfsync="always")


def test_a_trial_write_is_made_on_every_node_of_a_cluster(
    cluster: Cluster, cluster_client: Redis, redis_client: Redis
) -> None:
    assert DurabilityWatch(cluster_client, redis_client, Mode.FSYNC).verify() == ""
    assert [len(slots_of(node)) for node in cluster.primaries] == [1, 1, 1]


def test_a_full_node_of_a_cluster_is_named_and_stops_all_moves(
    cluster: Cluster, cluster_client: Redis, redis_client: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    watch = DurabilityWatch(cluster_client, redis_client, Mode.FSYNC, pause=lambda _: None)
    last = cluster.primaries[-1]
    set_up(last, maxmemory="1mb")
    try:
        with caplog.at_level(logging.ERROR):
            assert not watch.check()
    finally:
        set_up(last, maxmemory="0")
    (line,) = caplog.messages
    assert line.startswith("ALARM: no move is accepted: node 127.0.0.1:")
    assert f"{last.port}: the server's memory is full" in line
    assert watch.verify() == ""
    assert watch.check()


def test_fsync_refuses_a_cluster_that_has_replicas(copied_client: Redis) -> None:
    assert "the server has 1 replica, and a failover would take back" in fault(
        copied_client, Mode.FSYNC
    )
    assert fault(copied_client, Mode.REPLICATED) == ""


def test_fsync_refuses_a_replica_of_a_cluster_that_is_away(
    copied: Cluster, copied_client: Redis
) -> None:
    there = primaries(copied)
    away = [node for node in copied.nodes if node not in there]
    for node in away:
        node.kill()
    try:
        for node in there:
            with node.client() as client:
                until(lambda client=client: client.info()["connected_slaves"] == 0)
        sentence = fault(copied_client, Mode.FSYNC)
        assert sentence.startswith("the cluster has 3 replicas (127.0.0.1:")
        assert "set MATCHPOST_DURABILITY=replicated" in sentence
        assert "no replicas of the server can be waited for" in fault(
            copied_client, Mode.REPLICATED
        )
    finally:
        for node in away:
            node.start()


def test_replicated_verifies_the_replicas_of_all_nodes(
    copied: Cluster, copied_client: Redis, redis_client: Redis
) -> None:
    watch = DurabilityWatch(copied_client, redis_client, Mode.REPLICATED)
    assert watch.verify() == ""
    assert watch.confirm()
    replica = next(node for node in copied.nodes if node not in primaries(copied))
    set_up(replica, appendfsync="everysec")
    try:
        assert f"the replica 127.0.0.1:{replica.port}'s setting 'appendfsync' is 'everysec'" in (
            watch.verify()
        )
    finally:
        set_up(replica, appendfsync="always")
    primary = primaries(copied)[0]
    set_up(primary, min_replicas_to_write="0")
    try:
        sentence = f"node 127.0.0.1:{primary.port}: the server's setting 'min-replicas-to-write'"
        assert watch.verify().startswith(sentence)
    finally:
        set_up(primary, min_replicas_to_write="1")
    assert watch.verify() == ""


def test_nothing_is_written_to_a_promoted_node_that_is_not_durable(
    copied: Cluster, copied_client: Redis, redis_client: Redis
) -> None:
    DurabilityWatch(copied_client, redis_client, Mode.REPLICATED).verify_connections()
    names = [keys.barrier(number) for number in range(50)]
    for name in names:
        copied_client.set(name, 1)
    promoted = fail_over(copied, primaries(copied)[0])
    set_up(promoted, min_replicas_max_lag="60")
    try:
        refused = [name for name in names if not _is_set(copied_client, name, promoted)]
        with promoted.client() as client:
            assert set(refused) == set(map(bytes.decode, trial_keys(client)))
            assert {client.get(name) for name in refused} == {b"1"}
    finally:
        set_up(promoted, min_replicas_max_lag="10")
    for name in names:
        copied_client.set(name, 2)


def _is_set(client: Redis, name: str, promoted: Node) -> bool:
    """Set a key, or be refused by the node that was promoted."""
    sentence = f"127.0.0.1:{promoted.port}: the server's setting 'min-replicas-max-lag' is '60'"
    try:
        client.set(name, 2)
    except RedisConnectionError as error:
        if sentence in str(error):
            return False
        raise
    return True


def test_a_primary_that_came_back_as_a_replica_is_no_fault(
    copied: Cluster, copied_client: Redis, redis_client: Redis
) -> None:
    """The scheduler's client knows another map, because it has sent nothing meanwhile."""
    watch = DurabilityWatch(copied_client, redis_client, Mode.REPLICATED)
    assert watch.verify() == ""
    fail_over(copied, primaries(copied)[0])
    assert watch.verify() == ""


def test_sentinels_are_refused_by_fsync_and_verified_by_replicated(
    pair: SentinelPair, redis_client: Redis
) -> None:
    with make_client(pair.url) as client:
        assert "the server has 1 replica" in fault(client, Mode.FSYNC)
        assert fault(client, Mode.REPLICATED) == ""
        replica = next(node for node in pair.servers if node is not pair.primary())
        set_up(replica, appendonly="no")
        sentence = fault(client, Mode.REPLICATED)
        assert sentence.startswith(f"primary 127.0.0.1:{pair.primary().port}: the replica")
        set_up(replica, appendonly="yes")
        watch = DurabilityWatch(client, redis_client, Mode.REPLICATED)
        until(lambda: watch.verify() == "")
        with replica.client() as other:
            other.replicaof("NO", "ONE")
        with pair.primary().client() as primary:
            until(lambda: primary.info()["connected_slaves"] == 0)
        assert fault(client, Mode.FSYNC).startswith("sentinels promote a replica")
        with replica.client() as other:
            other.replicaof("127.0.0.1", pair.primary().port)
        until(lambda: watch.verify() == "")


def names(sentinel: Node, server: Node) -> bool:
    """Whether a sentinel names a server as the primary."""
    with sentinel.client() as client:
        _, port = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "matches")
    return int(port) == server.port


@pytest.mark.long
def test_a_primary_that_sentinels_promote_is_verified_before_anything_is_written(
    pair: SentinelPair, redis_client: Redis
) -> None:
    with make_client(pair.url) as client:
        watch = DurabilityWatch(client, redis_client, Mode.REPLICATED)
        watch.verify_connections()
        until(lambda: watch.verify() == "")
        client.set("a", 1)
        before = pair.primary()
        promoted = next(node for node in pair.servers if node is not before)
        with promoted.client() as other:
            until(lambda: other.get("a") == b"1")
        set_up(promoted, appendfsync="everysec")
        with pair.sentinels[0].client() as sentinel:
            sentinel.execute_command("SENTINEL", "FAILOVER", pair.service)
        until(lambda: all(names(one, promoted) for one in pair.sentinels), 60)
        client.connection_pool.disconnect()
        with pytest.raises(RedisConnectionError, match="'appendfsync' is 'everysec'"):
            client.set("a", 2)
        assert "'appendfsync' is 'everysec'" in watch.verify()
        assert "'appendfsync' is 'everysec'" in DurabilityNotes(redis_client).read().fault
        with promoted.client() as other:
            assert other.get("a") == b"1"
        set_up(promoted, appendfsync="always")
        until(lambda: watch.verify() == "", 60)
        client.set("a", 2)
