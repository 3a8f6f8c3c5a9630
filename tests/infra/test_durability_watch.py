"""The watch over durability, on a real server whose settings change under it."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.errors import Code, Refusal
from domain.match.commands import PlayMove
from infra.durability.durability import DurabilityNotes, Mode, check_barrier
from infra.durability.durability_watch import (
    FAULT_SECONDS,
    OLD_SECONDS,
    PAUSE_SECONDS,
    VERIFY_SECONDS,
    DurabilityWatch,
)
from infra.redis import keys
from infra.redis.clients import make_client
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE
from tests.helpers.lanes import LANE
from workers.commands.drain import Drain

RIGHT = {"appendfsync": "always", "maxmemory": "0"}


@pytest.fixture
def server(redis_client: Redis, wait_until: Callable[..., None]) -> Iterator[Redis]:
    """A client whose server gets its settings back after the test."""
    yield redis_client
    for name, value in RIGHT.items():
        redis_client.config_set(name, value)
    wait_until(lambda: check_barrier(redis_client.waitaof(1, 0, 100)))


class Watched:
    """A watch with a timer of the test's own."""

    def __init__(self, client: Redis, mode: Mode = Mode.FSYNC) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.notes = DurabilityNotes(client)
        self.watch = DurabilityWatch(
            client, client, mode, timer=lambda: self.now, pause=self.pauses.append
        )


@pytest.fixture
def watched(server: Redis) -> Watched:
    return Watched(server)


def test_the_scheduler_notes_that_the_server_is_durable(watched: Watched, server: Redis) -> None:
    watched.watch.tick()
    note = watched.notes.read()
    assert note is not None
    assert note.fault == ""
    assert server.get(keys.BARRIER) is not None
    assert server.pttl(keys.DURABILITY) > 0


def test_each_verification_writes_even_where_another_process_has_deleted_the_key(
    watched: Watched, server: Redis
) -> None:
    changes = lambda: server.info("persistence")["rdb_changes_since_last_save"]  # noqa: E731
    there = []
    for delete in (False, False, False, True):
        if delete:
            server.delete(keys.BARRIER)
        before = changes()
        assert watched.watch.verify() == ""
        assert changes() == before + 3, "the trial, the note and the noted settings"
        there.append(server.exists(keys.BARRIER))
    assert there == [1, 0, 1, 1]


def test_the_scheduler_verifies_every_ten_seconds_and_a_fault_sooner(
    watched: Watched, server: Redis
) -> None:
    watched.watch.tick()
    server.config_set("appendfsync", "everysec")
    watched.now += VERIFY_SECONDS - 0.1
    watched.watch.tick()
    assert watched.notes.read().fault == ""
    watched.now += 0.1
    watched.watch.tick()
    assert "'appendfsync' is 'everysec'" in watched.notes.read().fault
    server.config_set("appendfsync", "always")
    watched.now += FAULT_SECONDS
    watched.watch.tick()
    assert watched.notes.read().fault == ""


def test_a_drain_reads_the_note_and_asks_the_server_nothing(
    watched: Watched, server: Redis
) -> None:
    watched.notes.write("the disk is on fire")
    assert not watched.watch.check()
    assert watched.pauses == [PAUSE_SECONDS]
    watched.notes.write("")
    server.delete(keys.BARRIER)
    assert watched.watch.check()
    assert server.get(keys.BARRIER) is None


@pytest.mark.parametrize("left", [0, 15_000, 31_000])
def test_without_a_fresh_note_a_drain_verifies_the_server_itself(
    watched: Watched, server: Redis, left: int
) -> None:
    assert OLD_SECONDS <= 15
    if left:
        server.set(keys.DURABILITY, "", px=left)
    server.config_set("appendfsync", "everysec")
    assert not watched.watch.check()
    assert "'appendfsync' is 'everysec'" in watched.notes.read().fault


def test_without_durability_nothing_is_verified(server: Redis) -> None:
    watched = Watched(server, Mode.NONE)
    server.config_set("appendfsync", "everysec")
    watched.watch.tick()
    assert watched.watch.check()
    assert watched.notes.read() is None


def test_a_fault_and_its_end_are_logged_once(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    watched.notes.write("the disk is on fire")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            watched.watch.check()
        watched.notes.write("")
        watched.watch.check()
    assert [record.message for record in caplog.records] == [
        "ALARM: no move is accepted: the disk is on fire",
        "the server keeps what it accepts again; moves go on",
    ]


def test_a_full_server_is_a_fault(watched: Watched, server: Redis) -> None:
    server.config_set("maxmemory", "1mb")
    assert "memory is full" in watched.watch.verify()


def test_an_absent_server_is_a_fault(server: Redis) -> None:
    with make_client("redis://127.0.0.1:1") as nowhere:
        watch = DurabilityWatch(nowhere, server, Mode.FSYNC)
        assert "does not answer" in watch.verify()
    assert "does not answer" in DurabilityNotes(server).read().fault


def test_a_replica_is_a_fault(tmp_path: Path, server: Redis) -> None:
    with EmbeddedServer(tmp_path) as other, other.client() as client:
        client.replicaof("127.0.0.1", "1")
        assert "is a replica" in DurabilityWatch(client, server, Mode.FSYNC).verify()


def test_no_command_reaches_another_server_that_is_not_durable(
    tmp_path: Path, server: Redis
) -> None:
    """A name leads to another server after a failover, and the client connects by itself."""
    with EmbeddedServer(tmp_path) as first, first.client() as client:
        url = first.url
        DurabilityWatch(client, server, Mode.FSYNC).verify_connections()
        client.set("a", 1)
        first.stop()
        with EmbeddedServer(tmp_path, durable=False) as second:
            assert second.url == url
            client.connection_pool.disconnect()
            with pytest.raises(RedisConnectionError, match="durability fsync needs"):
                client.set("b", 1)
            with second.client() as direct:
                assert direct.get("b") is None
                direct.config_set("appendonly", "yes")
                direct.config_set("appendfsync", "always")
            client.set("b", 1)


def drain_of(bench: Bench, watched: Watched) -> Drain:
    return Drain(
        *(bench.store, bench.lanes, bench.client, LANE),
        seeds=bench.seeds,
        durability=watched.watch,
    )


def test_nothing_is_decided_while_the_server_is_not_durable(
    bench: Bench, watched: Watched, server: Redis
) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    server.config_set("appendfsync", "everysec")
    assert drain_of(bench, watched).run() == 0
    assert bench.outcome(order) is None
    assert bench.store.inbox_size(range(4)) == 1
    server.config_set("appendfsync", "always")
    assert watched.watch.verify() == ""
    assert drain_of(bench, watched).run() == 1
    assert bench.outcome(order).accepted


def test_a_gateway_refuses_commands_by_the_note(bench: Bench, watched: Watched) -> None:
    bench.start(1)
    watched.notes.write("the disk is on fire")
    order = bench.order(ALICE, PlayMove(text="m13-m9"))
    with StoreGateway(bench.store, bench.lanes, bench.client, watched.notes) as gateway:
        with pytest.raises(Refusal) as refused:
            gateway.send(order, 0, 0)
        assert refused.value.code is Code.UNAVAILABLE
        assert bench.store.inbox_size(range(4)) == 0


@pytest.fixture
def bench(server: Redis, tmp_path: Path) -> Bench:
    return Bench(server, tmp_path / "seeds")
