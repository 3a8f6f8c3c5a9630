"""A store of messages on each kind of server, with a clock that the tests set."""

import itertools
from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from infra.people.messages import MessageStore
from tests.fakes.memory_store import memory_client
from tests.helpers.messages import SHARDS
from tests.helpers.proposals import Clock


@pytest.fixture(params=["fake", "valkey"])
def client(request: pytest.FixtureRequest) -> Iterator[Redis]:
    if request.param == "valkey":
        yield request.getfixturevalue("redis_client")
    else:
        with memory_client() as fake:
            yield fake


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def letters(client: Redis, clock: Clock) -> MessageStore:
    return MessageStore(client, lambda: SHARDS, clock)


@pytest.fixture
def new_id() -> Callable[[], bytes]:
    numbers = itertools.count(1)
    return lambda: next(numbers).to_bytes(16)
