"""Stores of people's data on the real server, with a clock that the tests set."""

import itertools
from collections.abc import Callable

import pytest
from redis import Redis

from infra.people.accounts import Accounts
from tests.fakes.app import CHEAP
from tests.helpers.proposals import Clock, prepare_server


@pytest.fixture
def client(redis_client: Redis) -> Redis:
    return redis_client


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(redis_client: Redis) -> Redis:
    """A client of the real server, on which Alice, Bob, Carol and Dave have accounts."""
    prepare_server(redis_client)
    return redis_client


@pytest.fixture
def accounts(redis_client: Redis) -> Accounts:
    return Accounts(redis_client, CHEAP)


@pytest.fixture
def new_id() -> Callable[[], bytes]:
    numbers = itertools.count(1)
    return lambda: next(numbers).to_bytes(16)
