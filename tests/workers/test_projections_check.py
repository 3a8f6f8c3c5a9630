"""The check of projections: exact while they are fed, and it writes nothing."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis

from infra.projections import compare
from infra.projections.buckets import Bucket, RedisWrite
from infra.projections.generations import Generations
from infra.projections.memory import MemoryBucket
from infra.projections.projection import Projection
from tests.helpers.side import catch_up, contents
from tests.workers.random_matches import Chance
from workers.projections import PROJECTIONS
from workers.projections.rebuild import Rebuild
from workers.projections.verify import ProjectionVerifier


@pytest.fixture(params=[1, 100], ids=["parts", "whole values"])
def life(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Chance:
    """Matches by chance, and reads of one element or of many."""
    monkeypatch.setattr(compare, "_KEYS", request.param)
    monkeypatch.setattr(compare, "_PAGE", request.param)
    return Chance(1)


def play(life: Chance) -> None:
    while life.go_on():
        pass


def live_buckets(client: Redis, projection: Projection) -> list[Bucket]:
    live = Generations(client, projection.spec).live()
    assert live is not None
    return live[1].all


def test_a_check_writes_nothing_and_a_rebuild_may_begin_meanwhile(
    life: Chance, redis_client: Redis
) -> None:
    play(life)
    catch_up(life.logs.store, redis_client, buckets=2)
    before = contents(redis_client)
    changed = redis_client.info("persistence")["rdb_changes_since_last_save"]
    for projection in PROJECTIONS:
        result = ProjectionVerifier(life.logs.store, redis_client, projection).run()
        assert result.difference == ""
    assert redis_client.info("persistence")["rdb_changes_since_last_save"] == changed
    assert contents(redis_client) == before
    rebuilds: list[Rebuild] = []

    def begin(*_: int) -> None:
        if not rebuilds:
            rebuilds.append(Rebuild(life.logs.store, redis_client, PROJECTIONS[0]))

    found = ProjectionVerifier(life.logs.store, redis_client, PROJECTIONS[0], begin).run()
    assert found.difference == ""
    rebuilds[0].drop()


def test_what_is_fed_during_a_check_is_no_difference(life: Chance, redis_client: Redis) -> None:
    for _ in range(60):
        life.go_on()
    side = catch_up(life.logs.store, redis_client, buckets=2)

    def feed(*_: int) -> None:
        life.go_on()
        side.round()
        side.save()

    for projection in PROJECTIONS:
        result = ProjectionVerifier(life.logs.store, redis_client, projection, feed).run()
        assert result.difference == "", projection.spec.name


def changes(client: Redis, key: str) -> Iterator[Callable[[], Any]]:
    """Changes of a value, each of which leaves its type."""
    kind = client.type(key)
    if kind == b"hash":
        field = next(iter(client.hgetall(key)))
        yield lambda: client.hset(key, "another", "1")
        yield lambda: client.hset(key, field, "x")
        yield lambda: client.hdel(key, field)
    elif kind == b"zset":
        (member,) = client.zrange(key, -1, -1)
        yield lambda: client.zadd(key, {"0:0": 1.0})
        yield lambda: client.zincrby(key, 1.0, member)
        yield lambda: client.zrem(key, member)
    elif kind == b"list":
        yield lambda: client.rpush(key, "1")
        yield lambda: client.lset(key, 0, "x")
        yield lambda: client.lpop(key)
    yield lambda: client.delete(key)


def test_each_change_of_a_value_is_a_difference(life: Chance, redis_client: Redis) -> None:
    play(life)
    catch_up(life.logs.store, redis_client, buckets=1)
    kinds = set()
    for projection in PROJECTIONS:
        (bucket,) = live_buckets(redis_client, projection)
        names = {
            one
            for page in Generations(redis_client, projection.spec).keys_of(bucket)
            for one in page
        }
        there = sorted(name for name in names if redis_client.exists(bucket.key(name)))
        for kind in (b"hash", b"zset", b"list"):
            name = next((one for one in there if redis_client.type(bucket.key(one)) == kind), None)
            if name is None:
                continue
            kinds.add(kind)
            key = bucket.key(name)
            data = redis_client.dump(key)
            for change in changes(redis_client, key):
                change()
                result = ProjectionVerifier(life.logs.store, redis_client, projection).run()
                assert result.difference == name
                redis_client.restore(key, 0, data, replace=True)
    assert kinds == {b"hash", b"zset", b"list"}


def test_data_in_memory_are_those_of_a_server_after_the_same_writes(redis_client: Redis) -> None:
    chance, memory = random.Random(7), MemoryBucket()
    one: Callable[[], str] = lambda: f"m{chance.randrange(6)}"  # noqa: E731
    number = lambda: chance.randrange(-5, 6)  # noqa: E731
    makers: list[Callable[[], RedisWrite]] = [
        lambda: ("HSET", "h", one(), number(), one(), b"x"),
        lambda: ("HDEL", "h", one(), one()),
        lambda: ("HINCRBY", "n", one(), number()),
        lambda: ("ZADD", "z", number(), one(), number(), one()),
        lambda: ("ZREM", "z", one()),
        lambda: ("ZINCRBY", "z", number(), one()),
        lambda: ("ZREMRANGEBYRANK", "z", 0, -5),
        lambda: ("RPUSH", "l", one()),
    ]
    for _ in range(500):
        write = chance.choice(makers)()
        redis_client.execute_command(*write)
        memory.write([write])
        if chance.random() < 0.5:
            least = number()
            reads = [("ZRANGE", "z", 0, 2), ("ZRANGEBYSCORE", "z", f"({least}", "+inf")]
            reads += [("HMGET", "h", "m1", "m2"), ("LRANGE", "l", 0, -1)]
            for read in reads:
                assert memory.read(read) == redis_client.execute_command(*read)
        assert memory.members("h") == redis_client.hgetall("h")
        assert memory.members("n") == redis_client.hgetall("n")
        assert memory.members("z") == dict(redis_client.zrange("z", 0, -1, withscores=True))
