"""Every adapter of the store, behind one fixture."""

from collections.abc import Iterator

import pytest
from fakes.memory import memory_client
from redis import Redis

from infra.durability import Mode
from infra.store.memory import MemoryStore
from infra.store.port import Shape, Store
from infra.store.server import RedisStore


@pytest.fixture(params=["memory", "fakeredis", "valkey"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "memory":
        made: Store = MemoryStore(cap=5)
        made.create(Shape(shards=4, lanes=1))
        yield made
    elif request.param == "fakeredis":
        with memory_client() as client:
            yield redis_store(client, Mode.NONE)
    else:
        yield redis_store(request.getfixturevalue("redis_client"), Mode.FSYNC)


def redis_store(client: Redis, mode: Mode) -> Store:
    made = RedisStore(client, mode, cap=5)
    made.create(Shape(shards=4, lanes=1))
    return made
