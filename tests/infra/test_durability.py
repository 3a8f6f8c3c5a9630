"""Durability of one server: what is verified of it, and the watch over it while its settings change."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoPermissionError, ResponseError

from domain.errors import Code
from domain.match.commands import PlayMove
from infra.durability import durability
from infra.durability import durability_watch as module
from infra.durability.durability import DurabilityError, DurabilityNotes, Mode, verify
from infra.durability.durability_watch import DurabilityWatch
from infra.redis import keys
from infra.redis.clients import make_client
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.examples import refused
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import ALICE
from tests.helpers.lanes import LANE
from workers.commands.drain import Drain


class Answers:
    """A client of a server that gives the answers it is told to give."""

    connection_pool = None

    def __init__(self, **answers: object) -> None:
        self._answers = answers

    def _answer(self, command: str) -> object:
        answer = self._answers[command]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def info(self, *_sections: str) -> object:
        return self._answer("info")

    def config_get(self, *_names: str) -> object:
        return self._answer("config")

    def waitaof(self, *_numbers: int) -> object:
        return self._answer("wait")


RIGHT = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
REDIS = {"redis_version": "7.2.0"}


@pytest.fixture
def server(redis_client: Redis, wait_until: Callable[..., None]) -> Iterator[Redis]:
    """A client whose server gets its settings back after the test."""
    yield redis_client
    for name, value in {**RIGHT, "maxmemory": "0"}.items():
        redis_client.config_set(name, value)
    # a log switched on again starts with a rewrite
    wait_until(lambda: redis_client.info("persistence")["aof_rewrite_in_progress"] == 0)
    wait_until(lambda: durability.check_barrier(redis_client.waitaof(1, 0, 100)))


def test_a_wrong_setting_is_named_and_refused(server: Redis, caplog):
    verify(server, Mode.FSYNC)
    for setting, value in (
        *(("appendfsync", "everysec"), ("appendfsync", "no")),
        *(("no-appendfsync-on-rewrite", "yes"), ("maxmemory-policy", "allkeys-lru")),
        ("appendonly", "no"),
    ):
        server.config_set(setting, value)
        sentence = f"'{setting}' is '{value}', durability fsync needs"
        with pytest.raises(DurabilityError, match=sentence):
            verify(server, Mode.FSYNC)
        with caplog.at_level(logging.WARNING):
            verify(server, Mode.NONE)
        assert "no move is safe" in caplog.text
        caplog.clear()
        server.config_set(setting, RIGHT[setting])


UNSEEN: list[tuple[dict[str, object], str]] = [
    ({"info": {"redis_version": "7.0.15"}}, "the server is Redis 7.0.15; matchpost needs"),
    ({"info": {"redis_version": "7.2.4", "valkey_version": "7.1.0"}}, "Valkey 7.1.0"),
    ({"info": {}}, "Redis of an unknown version"),
    ({"info": NoPermissionError("no")}, "not verified: the server refuses INFO"),
    ({"info": REDIS, "config": {}}, "not verified: the server does not show"),
    ({"info": REDIS, "config": ResponseError("unknown command")}, "refuses CONFIG GET"),
    ({"info": REDIS, "config": RIGHT, "wait": ResponseError("x")}, "refuses WAITAOF"),
    ({"info": REDIS, "config": RIGHT, "wait": [0, 0]}, "did not confirm a sync"),
]


def test_whatever_is_not_seen_to_be_durable_is_refused():
    for answers, sentence in UNSEEN:
        with pytest.raises(DurabilityError, match=sentence):
            verify(Answers(**answers), Mode.FSYNC)


def test_a_commit_ends_in_a_barrier_whose_reply_is_judged_strictly(server: Redis):
    for log in ("yes", "no"):
        server.config_set("appendonly", log)
        with server.pipeline(transaction=False) as pipeline:
            durability.append_barrier(pipeline, Mode.NONE)
            assert len(pipeline) == 0
            pipeline.set("key", "value")
            durability.append_barrier(pipeline, Mode.FSYNC)
            *_, reply = pipeline.execute(raise_on_error=False)
        assert isinstance(reply, ResponseError) is (log == "no")
        assert durability.check_barrier(reply) is (log == "yes")
    assert (Mode.NONE.durable, Mode.FSYNC.durable) == (False, True)
    assert all(map(durability.check_barrier, ([1, 0], [1, 2])))
    wrong = ([0, 0], [0, 1], [], [b"1", 0], None, 1, ResponseError("no"))
    assert not any(map(durability.check_barrier, wrong))


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


@pytest.fixture
def bench(server: Redis, tmp_path: Path) -> Bench:
    return Bench(server, tmp_path / "seeds")


def test_the_scheduler_verifies_every_ten_seconds_and_a_fault_sooner(watched, server):
    watched.watch.tick()
    assert watched.notes.read().fault == ""
    assert server.get(keys.BARRIER) is not None
    assert server.pttl(keys.DURABILITY) > 0
    server.config_set("appendfsync", "everysec")
    watched.now += module.VERIFY_SECONDS - 0.1
    watched.watch.tick()
    assert watched.notes.read().fault == ""
    watched.now += 0.1
    watched.watch.tick()
    assert "'appendfsync' is 'everysec'" in watched.notes.read().fault
    server.config_set("appendfsync", "always")
    watched.now += module.FAULT_SECONDS
    watched.watch.tick()
    assert watched.notes.read().fault == ""


def test_each_verification_writes_even_where_another_process_has_deleted_the_key(watched, server):
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


def test_a_drain_reads_the_note_and_asks_the_server_itself_only_where_there_is_no_fresh_one(
    watched, server
):
    watched.notes.write("the disk is on fire")
    assert not watched.watch.check()
    assert watched.pauses == [module.PAUSE_SECONDS]
    watched.notes.write("")
    server.delete(keys.BARRIER)
    assert watched.watch.check()
    assert server.get(keys.BARRIER) is None
    server.config_set("appendfsync", "everysec")
    assert module.OLD_SECONDS <= 15
    for left in (0, 15_000, 31_000):
        server.delete(keys.DURABILITY)
        if left:
            server.set(keys.DURABILITY, "", px=left)
        assert not watched.watch.check()
        assert "'appendfsync' is 'everysec'" in watched.notes.read().fault
    # without durability nothing is verified
    server.delete(keys.DURABILITY)
    careless = Watched(server, Mode.NONE)
    careless.watch.tick()
    assert careless.watch.check()
    assert careless.notes.read() is None


def test_a_fault_and_its_end_are_logged_once(watched, caplog):
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


def test_a_full_an_absent_and_a_replicating_server_are_faults(watched, server, tmp_path):
    server.config_set("maxmemory", "1mb")
    assert "memory is full" in watched.watch.verify()
    server.config_set("maxmemory", "0")
    with make_client("redis://127.0.0.1:1") as nowhere:
        assert "does not answer" in DurabilityWatch(nowhere, server, Mode.FSYNC).verify()
    assert "does not answer" in DurabilityNotes(server).read().fault
    with EmbeddedServer(tmp_path) as other, other.client() as client:
        client.replicaof("127.0.0.1", "1")
        assert "is a replica" in DurabilityWatch(client, server, Mode.FSYNC).verify()


def test_no_command_reaches_another_server_that_is_not_durable(tmp_path, server):
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


def test_nothing_is_decided_or_taken_while_the_server_is_not_durable(bench, watched, server):
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    parts = (bench.store, bench.lanes, bench.client, LANE)
    drain = Drain(*parts, seeds=bench.seeds, durability=watched.watch)
    server.config_set("appendfsync", "everysec")
    assert drain.run() == 0
    assert bench.outcome(order) is None
    with StoreGateway(bench.store, bench.lanes, bench.client, watched.notes) as gateway:
        refused(Code.UNAVAILABLE, gateway.send, bench.order(ALICE, PlayMove(text="m13-m9")), 0, 0)
    assert bench.store.inbox_size(range(4)) == 1
    server.config_set("appendfsync", "always")
    assert watched.watch.verify() == ""
    assert drain.run() == 1
    assert bench.outcome(order).accepted
