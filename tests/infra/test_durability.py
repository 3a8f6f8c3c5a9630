import logging
from collections.abc import Iterator

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoPermissionError, ResponseError

from infra.durability.durability import (
    DurabilityError,
    Mode,
    Occasion,
    append_barrier,
    check_barrier,
    find_faults,
    verify,
)
from infra.redis.clients import make_client
from infra.redis.server import parse_version
from infra.valkey.server import EmbeddedServer


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
def settings_kept(redis_client: Redis, wait_until) -> Iterator[Redis]:
    """A client whose server gets its settings back after the test."""
    yield redis_client
    for name, value in RIGHT.items():
        redis_client.config_set(name, value)
    # a log switched on again starts with a rewrite
    wait_until(lambda: redis_client.info("persistence")["aof_rewrite_in_progress"] == 0)
    wait_until(lambda: check_barrier(redis_client.waitaof(1, 0, 100)))


def test_the_embedded_server_is_durable(redis_client: Redis):
    verify(redis_client, Mode.FSYNC)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("appendfsync", "everysec"),
        ("appendfsync", "no"),
        ("no-appendfsync-on-rewrite", "yes"),
        ("maxmemory-policy", "allkeys-lru"),
        ("appendonly", "no"),
    ],
)
def test_a_wrong_setting_is_named_and_refused(settings_kept: Redis, setting, value):
    settings_kept.config_set(setting, value)
    with pytest.raises(DurabilityError, match=f"'{setting}' is '{value}', durability fsync needs"):
        verify(settings_kept, Mode.FSYNC)
    verify(settings_kept, Mode.NONE)


def test_settings_that_may_not_be_read_leave_durability_unverified(
    valkey: EmbeddedServer, redis_client: Redis
):
    redis_client.acl_setuser("guest", enabled=True, passwords=["+w"], commands=["+@all", "-config"])
    url = valkey.url.replace("unix://", "unix://guest:w@")
    try:
        with make_client(url) as guest, pytest.raises(DurabilityError, match="not verified"):
            verify(guest, Mode.FSYNC)
    finally:
        redis_client.acl_deluser("guest")


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"info": {"redis_version": "7.0.15"}}, "the server is Redis 7.0.15; matchpost needs"),
        ({"info": {"redis_version": "7.2.4", "valkey_version": "7.1.0"}}, "Valkey 7.1.0"),
        ({"info": {}}, "Redis of an unknown version"),
        ({"info": NoPermissionError("no")}, "not verified: the server refuses INFO"),
        ({"info": REDIS, "config": {}}, "not verified: the server does not show"),
        ({"info": REDIS, "config": ResponseError("unknown command")}, "refuses CONFIG GET"),
        ({"info": REDIS, "config": RIGHT, "wait": ResponseError("x")}, "refuses WAITAOF"),
        ({"info": REDIS, "config": RIGHT, "wait": [0, 0]}, "did not confirm a sync"),
    ],
)
def test_whatever_is_not_seen_to_be_durable_is_refused(answers, sentence):
    with pytest.raises(DurabilityError, match=sentence):
        verify(Answers(**answers), Mode.FSYNC)


def test_an_older_server_is_refused_without_durability_too():
    with pytest.raises(DurabilityError, match=r"Redis 6\.2\.1"):
        verify(Answers(info={"redis_version": "6.2.1"}), Mode.NONE)


def test_a_replica_is_refused_without_durability_too():
    with pytest.raises(DurabilityError, match="the server is a replica, which takes no moves"):
        verify(Answers(info={**REDIS, "role": "slave"}), Mode.NONE)


def test_a_full_server_may_start_and_the_watch_and_a_look_name_it():
    full = {**REDIS, "maxmemory": 10, "used_memory": 11}
    verify(Answers(info=full, config=RIGHT, wait=[1, 0]), Mode.FSYNC)
    for occasion in (Occasion.WATCH, Occasion.LOOK):
        # there is no answer to WAITAOF: a look waits for no sync, and the watch knows better before it
        server = Answers(info=full, config=RIGHT)
        (fault,) = find_faults(server, Mode.FSYNC, occasion=occasion)
        assert fault.startswith("the server's memory is full")


def test_a_look_names_a_server_that_does_not_answer():
    gone = Answers(info=RedisConnectionError("gone"))
    (fault,) = find_faults(gone, Mode.FSYNC, occasion=Occasion.LOOK)
    assert fault == "the server does not answer (gone); look whether it is running"


def test_an_absent_server_is_not_called_undurable():
    with pytest.raises(RedisConnectionError):
        verify(Answers(info=RedisConnectionError("gone")), Mode.FSYNC)


def test_no_durability_is_said_loudly(redis_client: Redis, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING):
        verify(redis_client, Mode.NONE)
    assert "no move is safe" in caplog.text


@pytest.mark.parametrize(
    ("text", "version"),
    [("7.2.4", (7, 2)), ("10.0", (10, 0)), ("255.255.255", (255, 255)), ("", (0, 0))],
)
def test_versions_compare_as_numbers(text, version):
    assert parse_version(text) == version


def test_a_commit_ends_in_a_barrier_that_says_yes(redis_client: Redis):
    with redis_client.pipeline(transaction=False) as pipeline:
        pipeline.set("key", "value")
        append_barrier(pipeline, Mode.FSYNC)
        *_, reply = pipeline.execute()
    assert check_barrier(reply)


def test_without_durability_nothing_is_added(redis_client: Redis):
    with redis_client.pipeline(transaction=False) as pipeline:
        append_barrier(pipeline, Mode.NONE)
        assert len(pipeline) == 0
    assert not Mode.NONE.durable
    assert Mode.FSYNC.durable


def test_a_barrier_without_a_log_says_no(settings_kept: Redis):
    settings_kept.config_set("appendonly", "no")
    with settings_kept.pipeline(transaction=False) as pipeline:
        pipeline.set("key", "value")
        append_barrier(pipeline)
        *_, reply = pipeline.execute(raise_on_error=False)
    assert isinstance(reply, ResponseError)
    assert not check_barrier(reply)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ([1, 0], True),
        ([1, 2], True),
        ([0, 0], False),
        ([0, 1], False),
        ([], False),
        ([b"1", 0], False),
        (None, False),
        (1, False),
        (ResponseError("no"), False),
    ],
)
def test_a_barrier_s_reply_is_judged_strictly(reply, verdict):
    assert check_barrier(reply) is verdict
