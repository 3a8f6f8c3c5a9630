"""Durability of servers with replicas, clusters and sentinels: what is refused, what is waited for, and what belongs to accounts."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError, WatchError

from domain.errors import Refusal
from domain.match.commands import PlayMove
from infra.durability import durability as durability_module
from infra.durability import durability_watch
from infra.durability.durability import DurabilityError, DurabilityNotes, Mode, verify
from infra.durability.durability_watch import DurabilityWatch
from infra.durability.replicas import read_replicas, read_settings
from infra.people.rate_limits import LoginRateLimit
from infra.people.tokens import Scope
from infra.redis import keys
from infra.redis.clients import make_client
from infra.redis.cluster import slot_of_key
from infra.redis.confirmed_writes import ConfirmingRedis, UnconfirmedWriteError
from infra.redis.reads import read_all, read_strings
from infra.settings.settings import Settings
from infra.store import durable_scripts
from infra.store.gateway import OutcomePending
from infra.store.layout import Layout
from infra.store.port import NotDurable
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.doctor import Level, gather, judge
from services.language import LOCAL, Language
from tests.helpers.bench import Bench
from tests.helpers.clusters import Cluster, Node, SentinelPair, running
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB
from tests.helpers.replicas import COUNTED, Pair, enlist
from tests.helpers.served import until
from workers.projections.log_reader import LogReader

pytestmark = pytest.mark.slow
MOVE = PlayMove(text="m13-m9")
PASSWORD = "yes-we-can"
SOON_MS = 500
"""Milliseconds after which a barrier gives up where it can only give up."""


@contextmanager
def impatient() -> Iterator[None]:
    """Barriers wait for as long as it takes to see that they give up."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(durability_module, "BARRIER_TIMEOUT", SOON_MS)
        for module in (durability_watch, durable_scripts):
            patched.setattr(
                module, "append_barrier", partial(durability_module.append_barrier, timeout=SOON_MS)
            )
        yield


@pytest.fixture(scope="module")
def running_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with Pair(tmp_path_factory.mktemp("pair"), COUNTED) as pair:
        yield pair


@pytest.fixture
def pair(running_pair: Pair) -> Iterator[Pair]:
    """An empty primary with its replica, both of which are put right after the test."""
    running_pair.client.flushall()
    yield running_pair
    for name, value in {**COUNTED, "appendfsync": "always"}.items():
        running_pair.client.config_set(name, value)
    os.kill(running_pair.replica.pid or os.getpid(), signal.SIGCONT)
    running_pair.replica.start()
    with running_pair.replica.client() as replica:
        replica.config_set("appendonly", "yes")
    if not read_replicas(running_pair.client.info()):
        enlist(running_pair.client, running_pair.replica)


@pytest.fixture
def bench(pair: Pair, tmp_path: Path) -> Bench:
    bench = Bench(pair.client, tmp_path / "seeds")
    bench.start(1)
    bench.store = RedisStore(pair.client, Mode.REPLICATED)
    return bench


def fault(client: Redis, mode: Mode, replicas: int = 1) -> str:
    try:
        verify(client, mode, replicas)
    except DurabilityError as error:
        return str(error)
    return ""


def durability(pair: Pair, mode: Mode, replicas: int = 1) -> list[tuple[Level, str]]:
    """What the doctor finds."""
    url = pair.primary.url
    settings = Settings(
        data=pair.primary.data, redis_url=url, durability=mode, replicas=replicas, shards=4
    )
    findings = judge(gather(settings))
    return [(one.level, one.what) for one in findings if one.about == "durability"]


def test_fsync_refuses_a_replica_and_managed_verifies_only_that_it_is_a_primary(pair, redis_client):
    sentence = fault(pair.client, Mode.FSYNC)
    assert sentence.startswith("the server has 1 replica, and a failover would take back moves")
    assert "set MATCHPOST_DURABILITY=replicated" in sentence
    assert [level for level, _ in durability(pair, Mode.FSYNC)] == [Level.BAD]
    watch = DurabilityWatch(pair.client, redis_client, Mode.FSYNC, pause=lambda _: None)
    assert "the server has 1 replica" in watch.verify()
    assert not watch.check()
    pair.client.config_set("appendfsync", "everysec")
    assert fault(pair.client, Mode.MANAGED) == ""
    assert DurabilityWatch(pair.client, redis_client, Mode.MANAGED).verify() == ""
    ((level, what),) = durability(pair, Mode.MANAGED)
    assert level is Level.NOTE
    assert what.startswith("durability is managed: nothing is verified")
    with pair.replica.client() as replica:
        assert "is a replica" in fault(replica, Mode.MANAGED)
    assert Mode.MANAGED.durable
    with pair.client.pipeline(transaction=False) as pipe:
        durability_module.append_barrier(pipe, Mode.MANAGED)
        assert len(pipe) == 0
    pair.client.config_set("appendfsync", "always")
    pair.client.config_set("min-replicas-to-write", "0")
    pair.replica.stop()
    until(lambda: not read_replicas(pair.client.info()))
    assert watch.verify() == ""


def test_replicated_accepts_a_server_that_waits_for_its_replica(pair: Pair, bench: Bench) -> None:
    assert fault(pair.client, Mode.REPLICATED) == ""
    what = "every accepted move is on the disks of the server and of 1 replica"
    assert durability(pair, Mode.REPLICATED) == [(Level.OK, what)]
    order = bench.send(ALICE, MOVE)
    assert bench.drain() == 1
    assert bench.outcome(order).accepted
    with pair.replica.client() as replica:
        assert len(RedisStore(replica, Mode.NONE).events(1)) == 2
    # leaves that others replaced, or that are gone, are not durable
    shard = bench.store.layout().shard_of(1)
    leaves = bench.store.leaves(shard, 0, 10)
    assert bench.store.are_durable({shard: leaves})
    assert not bench.store.are_durable({shard: [*leaves, (len(leaves), b"lost")]})
    assert not bench.store.are_durable({shard: [(0, b"another"), *leaves[1:]]})


def test_replicated_refuses_a_server_or_replica_with_a_wrong_setting_and_names_it(
    pair, redis_client
):
    for setting, value, needed in (
        ("min-replicas-to-write", "0", "at least 1"),
        ("min-replicas-max-lag", "60", "1 to 10"),
        ("min-replicas-max-lag", "0", "1 to 10"),
        ("appendfsync", "everysec", "'always'"),
    ):
        said = f"the server's setting {setting!r} is '{value}', durability replicated needs"
        with changed(pair.primary, **{setting: value}):
            assert f"{said} {needed}" in fault(pair.client, Mode.REPLICATED)
    watch = DurabilityWatch(pair.client, redis_client, Mode.REPLICATED)
    with pair.replica.client() as replica:
        replica.config_set("appendonly", "no")
        port = replica.config_get("port")["port"]
        sentence = fault(pair.client, Mode.REPLICATED)
        assert f"the replica 127.0.0.1:{port}'s setting 'appendonly' is 'no'" in sentence
        assert [level for level, _ in durability(pair, Mode.REPLICATED)] == [Level.BAD]
        # nor is one without a log accepted that can't be asked
        replica.config_set("requirepass", "other")
        (found,) = read_replicas(pair.client.info())
        assert read_settings(pair.client, found, ["appendonly"]) is None
        with impatient():
            assert watch.verify().startswith("a write was not synced by enough replicas")
            assert durability(pair, Mode.REPLICATED)[0][0] is Level.BAD
        replica.config_set("appendonly", "yes")
        until(lambda: watch.verify() == "", 60)
        what = f"the settings of the replica {found.address} can't be read from here"
        assert durability(pair, Mode.REPLICATED)[1] == (Level.NOTE, what)
        replica.config_set("requirepass", "")


def test_replicated_counts_the_replicas_it_waits_for(pair: Pair, tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "third") as third:
        enlist(pair.client, third)
        until(lambda: sum(one.follows for one in read_replicas(pair.client.info())) == 2)
        _, (level, what) = durability(pair, Mode.REPLICATED)
        assert level is Level.NOTE
        assert what.startswith("the server has 2 replicas, and a move waits for 1 of them")
    until(lambda: len(read_replicas(pair.client.info())) == 1)
    pair.client.config_set("min-replicas-to-write", "2")
    assert "1 replica of the server can be waited for" in fault(pair.client, Mode.REPLICATED, 2)
    for reply, replicas, verdict in (
        *(([1, 1], 1, True), ([1, 2], 1, True), ([1, 0], 1, False)),
        *(([1, 1], 2, False), ([0, 1], 1, False)),
    ):
        assert durability_module.check_barrier(reply, Mode.REPLICATED, replicas) is verdict


def test_a_replica_that_hangs_leaves_moves_pending_and_unread_until_it_is_back(
    pair, bench, redis_client
):
    watch = DurabilityWatch(pair.client, redis_client, Mode.REPLICATED)
    order = bench.send(ALICE, MOVE)
    reader = LogReader(bench.store)
    start = (0,) * bench.store.layout().shards
    seen = len(reader.read(start).leaves)
    os.kill(pair.replica.pid or 0, signal.SIGSTOP)
    with impatient(), pytest.raises(NotDurable):
        bench.drain()
    assert bench.outcome(order).accepted, "it is on the primary, where readers see it"
    with impatient():
        assert reader.read(start).counts == start, "a failover would take the last leaf back"
    with StoreGateway(bench.store, bench.lanes, pair.client, confirm=watch.confirm) as gateway:
        with impatient(), pytest.raises(OutcomePending):
            gateway.send(order, 0, 1.0)
        os.kill(pair.replica.pid or 0, signal.SIGCONT)
        until(watch.confirm)
        assert gateway.send(order, 0).accepted
    until(lambda: len(reader.read(start).leaves) == seen + 1)
    first = min(leaf.shard for leaf in reader.read(start).leaves)
    assert pair.client.hget(keys.shown(first), "from") == b"0"


def test_without_its_replica_the_server_takes_no_write_and_nothing_half(pair, bench, redis_client):
    order = bench.send(ALICE, MOVE)
    pair.replica.stop()
    until(lambda: not read_replicas(pair.client.info()))
    with pytest.raises(ResponseError, match="NOREPLICAS"):
        bench.drain()
    assert len(bench.store.events(1)) == 1
    assert bench.outcome(order) is None
    watch = DurabilityWatch(pair.client, redis_client, Mode.REPLICATED)
    assert "no replicas of the server" in watch.verify()
    assert "no replicas of the server" in DurabilityNotes(redis_client).read().fault
    pair.replica.start()
    enlist(pair.client, pair.replica)
    until(lambda: watch.verify() == "")
    assert bench.drain() == 1
    assert bench.outcome(order).accepted


def test_a_failover_takes_nothing_back_that_was_accepted(tmp_path: Path) -> None:
    with Pair(tmp_path, COUNTED) as pair:
        bench = Bench(pair.client, tmp_path / "seeds")
        bench.start(1)
        bench.store = RedisStore(pair.client, Mode.REPLICATED)
        orders = [bench.send(ALICE, MOVE), bench.send(BOB, PlayMove(text="a1-a2"))]
        bench.drain()
        outcomes = list(map(bench.outcome, orders))
        pair.primary.kill()
        with pair.replica.client() as replica:
            replica.replicaof("NO", "ONE")
            sentence = fault(replica, Mode.REPLICATED)
            assert "min-replicas" in sentence or "no replicas" in sentence
            store = RedisStore(replica, Mode.NONE)
            stored = [store.outcome(1, order.id) for order in orders]
    assert None not in (*outcomes, *stored)


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
def sentinel_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentinelPair]:
    with running(SentinelPair(tmp_path_factory.mktemp("sentinel_pair"), **COUNTED)) as found:
        yield found


@contextmanager
def changed(server: Node | EmbeddedServer, **settings: str) -> Iterator[None]:
    """A server with other settings for a while."""
    wanted = {name.replace("_", "-"): value for name, value in settings.items()}
    with server.client() as client:
        before = client.config_get(*wanted)
        try:
            for name, value in wanted.items():
                client.config_set(name, value)
            yield
        finally:
            for name, value in before.items():
                client.config_set(name, value)


def primaries(cluster: Cluster) -> list[Node]:
    """The present primaries."""
    found = []
    for node in cluster.nodes:
        with node.client() as client:
            found += [node] * (client.execute_command("ROLE")[0] == b"master")
    return found


def trial_keys(client: Redis) -> list[bytes]:
    """The keys of trial writes on a node."""
    return [*client.keys("b"), *client.keys("b:*")]


def fail_over(cluster: Cluster, primary: Node) -> Node:
    """Have the replica of a primary take its place, and return it."""
    with primary.client() as client:
        port = client.info("replication")["slave0"]["port"]
    promoted = next(node for node in cluster.nodes if node.port == port)
    with promoted.client() as client:
        client.execute_command("CLUSTER", "FAILOVER")
    cluster.wait_until(lambda: promoted in primaries(cluster) and cluster.whole())
    return promoted


def names(sentinel: Node, server: Node) -> bool:
    """Whether a sentinel names a server as the primary."""
    with sentinel.client() as client:
        _, port = client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "matches")
    return int(port) == server.port


def test_every_node_of_a_cluster_is_verified_and_the_wrong_one_is_named(
    cluster, cluster_client, redis_client
):
    assert fault(cluster_client, Mode.FSYNC) == ""
    watch = DurabilityWatch(cluster_client, redis_client, Mode.FSYNC)
    assert watch.look() == []
    for node in cluster.primaries:
        sentence = f"node 127.0.0.1:{node.port}: the server's setting 'appendfsync' is 'everysec'"
        with changed(node, appendfsync="everysec"):
            assert sentence in fault(cluster_client, Mode.FSYNC)
            (found,) = watch.look()
            assert sentence in found
    assert watch.verify() == ""
    for node in cluster.primaries:
        with node.client() as client:
            assert len({slot_of_key(key) for key in trial_keys(client)}) == 1


def test_fsync_refuses_replicas_of_a_cluster_also_those_that_are_away(copied, copied_client):
    connected = fault(copied_client, Mode.FSYNC)
    assert "the server has 1 replica, and a failover would take back" in connected
    assert fault(copied_client, Mode.REPLICATED) == ""
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
        missing = fault(copied_client, Mode.REPLICATED)
        assert "no replicas of the server can be waited for" in missing
    finally:
        for node in away:
            node.start()


def test_replicated_verifies_the_replicas_of_all_nodes(copied, copied_client, redis_client):
    watch = DurabilityWatch(copied_client, redis_client, Mode.REPLICATED)
    assert watch.verify() == ""
    assert watch.confirm()
    replica = next(node for node in copied.nodes if node not in primaries(copied))
    with changed(replica, appendfsync="everysec"):
        sentence = f"the replica 127.0.0.1:{replica.port}'s setting 'appendfsync' is 'everysec'"
        assert sentence in watch.verify()
    primary = primaries(copied)[0]
    with changed(primary, min_replicas_to_write="0"):
        sentence = f"node 127.0.0.1:{primary.port}: the server's setting 'min-replicas-to-write'"
        assert watch.verify().startswith(sentence)
    assert watch.verify() == ""


def test_nothing_is_written_to_a_promoted_node_that_is_not_durable(
    copied, copied_client, redis_client
):
    DurabilityWatch(copied_client, redis_client, Mode.REPLICATED).verify_connections()
    names = [keys.barrier(number) for number in range(50)]
    for name in names:
        copied_client.set(name, 1)
    promoted = fail_over(copied, primaries(copied)[0])
    sentence = f"127.0.0.1:{promoted.port}: the server's setting 'min-replicas-max-lag' is '60'"
    refused: dict[str, str] = {}
    with changed(promoted, min_replicas_max_lag="60"), promoted.client() as client:
        for name in names:
            try:
                copied_client.set(name, 2)
            except RedisConnectionError as error:
                refused[name] = str(error)
        assert [said for said in refused.values() if sentence not in said] == []
        assert refused.keys() == set(map(bytes.decode, trial_keys(client)))
        assert {client.get(name) for name in refused} == {b"1"}
    for name in names:
        copied_client.set(name, 2)


def test_sentinels_are_refused_by_fsync_and_verified_by_replicated(sentinel_pair, redis_client):
    with make_client(sentinel_pair.url) as client:
        assert "the server has 1 replica" in fault(client, Mode.FSYNC)
        assert fault(client, Mode.REPLICATED) == ""
        primary = sentinel_pair.primary()
        replica = next(node for node in sentinel_pair.servers if node is not primary)
        with changed(replica, appendonly="no"):
            sentence = fault(client, Mode.REPLICATED)
            assert sentence.startswith(f"primary 127.0.0.1:{primary.port}: the replica")
        watch = DurabilityWatch(client, redis_client, Mode.REPLICATED)
        until(lambda: watch.verify() == "")
        with replica.client() as other, primary.client() as one:
            other.replicaof("NO", "ONE")
            until(lambda: one.info()["connected_slaves"] == 0)
            assert fault(client, Mode.FSYNC).startswith("sentinels promote a replica")
            other.replicaof("127.0.0.1", primary.port)
        until(lambda: watch.verify() == "")


@pytest.mark.long
def test_a_primary_that_sentinels_promote_is_verified_before_anything_is_written(
    sentinel_pair, redis_client
):
    with make_client(sentinel_pair.url) as client:
        watch = DurabilityWatch(client, redis_client, Mode.REPLICATED)
        watch.verify_connections()
        until(lambda: watch.verify() == "")
        client.set("a", 1)
        before = sentinel_pair.primary()
        promoted = next(node for node in sentinel_pair.servers if node is not before)
        with promoted.client() as other:
            until(lambda: other.get("a") == b"1")
        with changed(promoted, appendfsync="everysec"):
            with sentinel_pair.sentinels[0].client() as sentinel:
                sentinel.execute_command("SENTINEL", "FAILOVER", sentinel_pair.service)
            until(lambda: all(names(one, promoted) for one in sentinel_pair.sentinels), 60)
            client.connection_pool.disconnect()
            with pytest.raises(RedisConnectionError, match="'appendfsync' is 'everysec'"):
                client.set("a", 2)
            assert "'appendfsync' is 'everysec'" in watch.verify()
            assert "'appendfsync' is 'everysec'" in DurabilityNotes(redis_client).read().fault
            with promoted.client() as other:
                assert other.get("a") == b"1"
        until(lambda: watch.verify() == "", 60)
        client.set("a", 2)


class Counter:
    """A confirmation that is counted, and fails on demand."""

    asked = 0
    works = True

    def __call__(self) -> bool:
        self.asked += 1
        return self.works


def test_a_write_is_confirmed_once_and_an_error_where_it_is_not(redis_client: Redis) -> None:
    counter = Counter()
    client = ConfirmingRedis(redis_client, counter)
    assert client.get("a") is None
    assert list(client.hscan_iter("h")) == []
    with client.pipeline(transaction=False) as pipe:
        pipe.get("a")
        pipe.zrange("z", 0, -1)
        assert pipe.execute() == [None, []]
    assert counter.asked == 0, "reads are not confirmed"
    client.set("a", "1")
    assert counter.asked == 1
    for transaction in (True, False):
        with client.pipeline(transaction=transaction) as pipe:
            pipe.get("a")
            pipe.set("a", "2")
            pipe.set("b", "2")
            pipe.execute()
    assert counter.asked == 3
    client.eval("return 1", 0)
    assert counter.asked == 4
    counter.works = False
    with pytest.raises(UnconfirmedWriteError, match="look whether it is there"):
        client.set("a", "3")
    with client.pipeline() as pipe:
        pipe.set("a", "4")
        with pytest.raises(UnconfirmedWriteError):
            pipe.execute()
    assert redis_client.get("a") == b"4"
    # one that was not made is none
    with client.pipeline() as pipe:
        pipe.watch("a")
        redis_client.set("a", "5")
        pipe.multi()
        pipe.set("a", "6")
        with pytest.raises(WatchError):
            pipe.execute()
    assert (counter.asked, redis_client.get("a")) == (6, b"5")


def test_on_a_cluster_each_command_goes_to_its_node_and_is_confirmed_once(cluster_client):
    counter = Counter()
    client = ConfirmingRedis(cluster_client, counter)
    with client.pipeline(transaction=False) as pipe:
        for number in range(20):
            pipe.set(f"{{{number}}}", number)
        pipe.execute()
    assert counter.asked == 1
    reads = (read_strings([f"{{{number}}}"], list) for number in range(20))
    assert read_all(client, *reads) == [[b"%d" % number] for number in range(20)]
    # counts of attempts are not confirmed
    limit = LoginRateLimit(client, most=1)
    limit.count("alice")
    limit.give_back("alice")
    limit.count("alice")
    with pytest.raises(Refusal):
        limit.count("alice")
    assert counter.asked == 1


@pytest.mark.long
def test_accounts_that_were_answered_survive_a_failover_and_none_seems_safe_that_is_not(
    redis_client, tmp_path
):
    with Pair(tmp_path, COUNTED) as pair:
        RedisStore(pair.client, Mode.REPLICATED).create(Layout(shards=4, lanes=1))
        settings = Settings(
            data=tmp_path / "data", redis_url=pair.primary.url, durability=Mode.REPLICATED
        )
        with App(settings, queue=redis_client) as app:
            alice = app.accounts.signup("alice", PASSWORD)
            os.kill(pair.replica.pid or 0, signal.SIGSTOP)
            try:
                assert app.accounts.record_of(alice) is not None, "reads do not wait"
                with pytest.raises(UnconfirmedWriteError, match="not confirmed by enough replicas"):
                    Language(app, origin=LOCAL).do(f"signup bob {PASSWORD}")
            finally:
                os.kill(pair.replica.pid or 0, signal.SIGCONT)
            assert "carol" in str(Language(app, origin=LOCAL).do(f"signup carol {PASSWORD}"))
            carol = app.accounts.id_of("carol")
            app.tokens.issue(alice, "t", [Scope.READ])
            session = app.sessions.open(alice)
            app.blocks.add(alice, carol)
            pair.primary.kill()
        with pair.replica.client() as replica:
            replica.replicaof("NO", "ONE")
            settings = Settings(
                data=settings.data, redis_url=pair.replica.url, durability=Mode.MANAGED
            )
            with App(settings, queue=redis_client) as other:
                assert other.sessions.check(session.text) is not None
                assert [one.label for one in other.tokens.list_of(alice)] == ["t"]
                assert other.blocks.of(alice) == [carol]
                replica.config_set("min-replicas-to-write", 0)
                assert other.accounts.verify("alice", PASSWORD) == alice
