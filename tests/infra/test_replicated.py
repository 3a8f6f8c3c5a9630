"""Durability on real servers with real replicas: what `fsync` refuses, and what `replicated` waits for."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from domain.match.commands import PlayMove
from infra.durability import durability as durability_module
from infra.durability import durability_watch
from infra.durability.durability import (
    DurabilityError,
    DurabilityNotes,
    Mode,
    append_barrier,
    check_barrier,
    verify,
)
from infra.durability.durability_watch import DurabilityWatch
from infra.durability.replicas import read_replicas, read_settings
from infra.settings.settings import Settings
from infra.store import durable_scripts
from infra.store.gateway import OutcomePending
from infra.store.port import NotDurable
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.doctor import Finding, Level, gather, judge
from tests.helpers.bench import Bench
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE, BOB
from tests.helpers.replicas import COUNTED, Pair, enlist
from tests.helpers.served import until
from workers.projections.log_reader import LogReader

MOVE = PlayMove(text="m13-m9")

SOON_MS = 500
"""Milliseconds after which a barrier gives up where it can only give up."""


@contextmanager
def impatient() -> Iterator[None]:
    """Barriers wait for as long as it takes to see that they give up."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(durability_module, "BARRIER_TIMEOUT", SOON_MS)
        for module in (durability_watch, durable_scripts):
            patched.setattr(module, "append_barrier", partial(append_barrier, timeout=SOON_MS))
        yield


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with Pair(tmp_path, COUNTED) as pair:
        yield pair


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


def durability(pair: Pair, mode: Mode, replicas: int = 1) -> list[Finding]:
    """What the doctor finds."""
    url = pair.primary.url
    settings = Settings(
        data=pair.primary.data, redis_url=url, durability=mode, replicas=replicas, shards=4
    )
    return [one for one in judge(gather(settings)) if one.about == "durability"]


def test_fsync_refuses_a_server_with_a_replica(pair: Pair) -> None:
    sentence = fault(pair.client, Mode.FSYNC)
    assert sentence.startswith("the server has 1 replica, and a failover would take back moves")
    assert "set MATCHPOST_DURABILITY=replicated" in sentence
    (found,) = durability(pair, Mode.FSYNC)
    assert (found.level, found.remedy) == (Level.BAD, sentence.rpartition("; ")[2])


def test_a_drain_under_fsync_decides_nothing_once_a_replica_is_connected(
    tmp_path: Path, redis_client: Redis
) -> None:
    with EmbeddedServer(tmp_path / "primary") as server, server.client() as client:
        watch = DurabilityWatch(client, redis_client, Mode.FSYNC, pause=lambda _: None)
        assert watch.verify() == ""
        with EmbeddedServer(tmp_path / "replica") as replica:
            enlist(client, replica)
            assert "the server has 1 replica" in watch.verify()
            assert not watch.check()
        until(lambda: not read_replicas(client.info()))
        assert watch.verify() == ""


def test_a_copy_that_has_no_port_is_no_replica() -> None:
    line = {"ip": "10.0.0.2", "port": 0, "state": "online", "offset": 1, "lag": 0}
    assert read_replicas({"connected_slaves": 1, "slave0": line}) == []
    (found,) = read_replicas({"connected_slaves": 1, "slave0": line | {"port": 6379}})
    assert (found.address, found.follows) == ("10.0.0.2:6379", True)


def test_replicated_accepts_a_server_that_waits_for_its_replica(pair: Pair, bench: Bench) -> None:
    assert fault(pair.client, Mode.REPLICATED) == ""
    (found,) = durability(pair, Mode.REPLICATED)
    assert found.level is Level.OK
    assert found.what == "every accepted move is on the disks of the server and of 1 replica"
    order = bench.send(ALICE, MOVE)
    assert bench.drain() == 1
    assert bench.outcome(order).accepted
    with pair.replica.client() as replica:
        assert len(RedisStore(replica, Mode.NONE).events(1)) == 2


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("min-replicas-to-write", "0", "is '0', durability replicated needs at least 1"),
        ("min-replicas-max-lag", "60", "is '60', durability replicated needs 1 to 10"),
        ("min-replicas-max-lag", "0", "is '0', durability replicated needs 1 to 10"),
        ("appendfsync", "everysec", "is 'everysec', durability replicated needs 'always'"),
    ],
)
def test_replicated_refuses_a_server_with_a_wrong_setting(
    pair: Pair, setting: str, value: str, sentence: str
) -> None:
    pair.client.config_set(setting, value)
    assert f"the server's setting {setting!r} {sentence}" in fault(pair.client, Mode.REPLICATED)


def test_replicated_refuses_a_replica_without_a_log_and_names_it(pair: Pair) -> None:
    with pair.replica.client() as replica:
        replica.config_set("appendonly", "no")
        port = replica.config_get("port")["port"]
    sentence = fault(pair.client, Mode.REPLICATED)
    assert f"the replica 127.0.0.1:{port}'s setting 'appendonly' is 'no'" in sentence
    (found,) = durability(pair, Mode.REPLICATED)
    assert found.level is Level.BAD


def test_replicated_refuses_a_replica_without_a_log_that_cannot_be_asked(
    pair: Pair, redis_client: Redis
) -> None:
    with pair.replica.client() as replica:
        replica.config_set("appendonly", "no")
        replica.config_set("requirepass", "other")
        (found,) = read_replicas(pair.client.info())
        assert read_settings(pair.client, found, ["appendonly"]) is None
        watch = DurabilityWatch(pair.client, redis_client, Mode.REPLICATED)
        with impatient():
            assert watch.verify().startswith("a write was not synced by enough replicas")
            assert durability(pair, Mode.REPLICATED)[0].level is Level.BAD
        replica.config_set("appendonly", "yes")
    until(lambda: watch.verify() == "", 60)
    _, noted = durability(pair, Mode.REPLICATED)
    assert noted.level is Level.NOTE
    assert noted.what == f"the settings of the replica {found.address} can't be read from here"


def test_replicated_refuses_fewer_replicas_than_it_waits_for(pair: Pair) -> None:
    pair.client.config_set("min-replicas-to-write", "2")
    assert "1 replica of the server can be waited for" in fault(pair.client, Mode.REPLICATED, 2)
    pair.client.config_set("min-replicas-to-write", "1")
    pair.replica.stop()
    until(lambda: not read_replicas(pair.client.info()))
    assert "no replicas of the server can be waited for" in fault(pair.client, Mode.REPLICATED)


def test_more_replicas_than_a_move_waits_for_are_noted(pair: Pair, tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path / "third") as third:
        enlist(pair.client, third)
        until(lambda: sum(one.follows for one in read_replicas(pair.client.info())) == 2)
        _, noted = durability(pair, Mode.REPLICATED)
    assert noted.level is Level.NOTE
    assert noted.what.startswith("the server has 2 replicas, and a move waits for 1 of them")


def test_a_replica_that_hangs_in_the_middle_leaves_moves_pending_until_it_is_back(
    pair: Pair, bench: Bench, redis_client: Redis
) -> None:
    watch = DurabilityWatch(pair.client, redis_client, Mode.REPLICATED)
    order = bench.send(ALICE, MOVE)
    os.kill(pair.replica.pid or 0, signal.SIGSTOP)
    try:
        with impatient(), pytest.raises(NotDurable):
            bench.drain()
        assert bench.outcome(order).accepted, "it is on the primary, where readers see it"
        with StoreGateway(bench.store, bench.lanes, pair.client, confirm=watch.confirm) as gateway:
            with impatient(), pytest.raises(OutcomePending):
                gateway.send(order, 0, 1.0)
            os.kill(pair.replica.pid or 0, signal.SIGCONT)
            until(watch.confirm)
            assert gateway.send(order, 0).accepted
    finally:
        os.kill(pair.replica.pid or 0, signal.SIGCONT)


def test_followers_of_the_log_read_what_the_replica_has(pair: Pair, bench: Bench) -> None:
    bench.send(ALICE, MOVE)
    reader = LogReader(bench.store)
    start = (0,) * bench.store.layout().shards
    seen = len(reader.read(start).leaves)
    os.kill(pair.replica.pid or 0, signal.SIGSTOP)
    try:
        with impatient(), pytest.raises(NotDurable):
            bench.drain()
        with impatient():
            assert reader.read(start).counts == start, "a failover would take the last leaf back"
        os.kill(pair.replica.pid or 0, signal.SIGCONT)
        until(lambda: len(reader.read(start).leaves) == seen + 1)
    finally:
        os.kill(pair.replica.pid or 0, signal.SIGCONT)


def test_leaves_that_others_replaced_or_that_are_gone_are_not_durable(
    pair: Pair, bench: Bench
) -> None:
    del pair
    shard = bench.store.layout().shard_of(1)
    leaves = bench.store.leaves(shard, 0, 10)
    assert bench.store.are_durable({shard: leaves})
    assert not bench.store.are_durable({shard: [*leaves, (len(leaves), b"lost")]})
    assert not bench.store.are_durable({shard: [(0, b"another"), *leaves[1:]]})


def test_without_its_replica_the_server_takes_no_write_and_nothing_half(
    pair: Pair, bench: Bench, redis_client: Redis
) -> None:
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


def test_a_failover_takes_nothing_back_that_was_accepted(pair: Pair, bench: Bench) -> None:
    orders = [bench.send(ALICE, MOVE), bench.send(BOB, PlayMove(text="a1-a2"))]
    bench.drain()
    outcomes = list(map(bench.outcome, orders))
    pair.primary.kill()
    with pair.replica.client() as replica:
        replica.replicaof("NO", "ONE")
        assert "min-replicas" in fault(replica, Mode.REPLICATED) or "no replicas" in fault(
            replica, Mode.REPLICATED
        )
        store = RedisStore(replica, Mode.NONE)
        stored = [store.outcome(1, order.id) for order in orders]
    assert None not in (*outcomes, *stored)


def test_managed_verifies_nothing_but_that_it_is_a_primary(pair: Pair, redis_client: Redis) -> None:
    pair.client.config_set("appendfsync", "everysec")
    assert fault(pair.client, Mode.MANAGED) == ""
    assert DurabilityWatch(pair.client, redis_client, Mode.MANAGED).verify() == ""
    (found,) = durability(pair, Mode.MANAGED)
    assert found.level is Level.NOTE
    assert found.what.startswith("durability is managed: nothing is verified")
    with pair.replica.client() as replica:
        assert "is a replica" in fault(replica, Mode.MANAGED)
    assert Mode.MANAGED.durable
    with pair.client.pipeline(transaction=False) as pipe:
        append_barrier(pipe, Mode.MANAGED)
        assert len(pipe) == 0


def test_replicas_are_asked_a_second_time_when_they_have_received_the_writes(pair: Pair) -> None:
    # the answer to the first question comes before the sync, and the next one a second later
    pair.client.config_resetstat()
    with pair.client.pipeline(transaction=False) as pipe:
        pipe.set("x", 1)
        append_barrier(pipe, Mode.REPLICATED)
        *_, synced = pipe.execute()
    assert check_barrier(synced, Mode.REPLICATED)
    found = pair.client.info("commandstats")
    assert [found[f"cmdstat_{name}"]["calls"] for name in ("set", "wait", "waitaof")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("reply", "replicas", "verdict"),
    [
        ([1, 1], 1, True),
        ([1, 2], 1, True),
        ([1, 0], 1, False),
        ([1, 1], 2, False),
        ([0, 1], 1, False),
    ],
)
def test_a_barrier_counts_the_replicas(reply: list[int], replicas: int, verdict: bool) -> None:  # noqa: FBT001 - a parameter
    assert check_barrier(reply, Mode.REPLICATED, replicas) is verdict
