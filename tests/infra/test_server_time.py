"""The time of a server, as pages have it."""

import pytest
from redis import Redis

from infra.redis import server
from infra.redis.clients import time_ms
from infra.redis.reads import read_one
from infra.redis.server import COUNTED_SECONDS, ServerTime


def asked(client: Redis) -> int:
    return client.info("commandstats").get("cmdstat_time", {"calls": 0})["calls"]


def test_the_time_is_asked_for_once_and_then_counted(
    redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis_client.config_resetstat()
    passed = [100.0]
    monkeypatch.setattr(server.time, "monotonic", lambda: passed[0])
    time = ServerTime()
    first = read_one(redis_client, time.read())
    passed[0] += COUNTED_SECONDS - 1
    assert read_one(redis_client, time.read()) == first + (COUNTED_SECONDS - 1) * 1000
    assert asked(redis_client) == 1
    passed[0] += 1
    found = read_one(redis_client, time.read())
    assert asked(redis_client) == 2
    assert first <= found <= time_ms(redis_client)


def test_a_clock_takes_the_place_of_the_server(redis_client: Redis) -> None:
    redis_client.config_resetstat()
    assert read_one(redis_client, ServerTime(lambda: 17).read()) == 17
    assert asked(redis_client) == 0
