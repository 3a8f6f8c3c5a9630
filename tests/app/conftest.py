"""Every front end, over one real server for each module of tests; and robots on a bench."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from tests.fakes.front_ends import Everywhere, Person, everywhere
from tests.helpers.api import Api
from tests.helpers.robots import RobotBench


@pytest.fixture(scope="module")
def front_ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    """The terminal, mail, the API and the pages."""
    with Api(tmp_path_factory.mktemp("app")) as api, everywhere(api) as found:
        yield found


@pytest.fixture
def pair(front_ends: Everywhere) -> tuple[Person, Person]:
    """Two players who have just signed up."""
    return front_ends.person(), front_ends.person()


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Iterator[RobotBench]:
    """A bench on which robots act when they are asked to."""
    bench = RobotBench(redis_client, tmp_path)
    yield bench
    bench.close()
