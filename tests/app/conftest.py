"""One real server for each module of tests, with every front end; and robots on a bench."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from tests.fakes.everywhere import Everywhere
from tests.fakes.everywhere import everywhere as front_ends
from tests.helpers.api import Api, Player
from tests.helpers.robots import RobotBench
from tests.helpers.web import Guest, visitors


@pytest.fixture(scope="module")
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server with the `SETTINGS` of the module, which its function `prepare` fills."""
    settings = getattr(request.module, "SETTINGS", {})
    with Api(tmp_path_factory.mktemp("app"), **settings) as api:
        getattr(request.module, "prepare", lambda _: None)(api)
        yield api


@pytest.fixture(scope="module")
def everywhere(api: Api) -> Iterator[Everywhere]:
    """The terminal, mail, the API and the pages of the server."""
    with front_ends(api) as found:
        yield found


@pytest.fixture
def pair(everywhere: Everywhere) -> tuple[Player, Player]:
    """Two players who have just signed up."""
    return everywhere.player(), everywhere.player()


@pytest.fixture(scope="module")
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    """What lets guests in."""
    with visitors(api) as come:
        yield come


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Iterator[RobotBench]:
    """A bench on which robots act when they are asked to."""
    bench = RobotBench(redis_client, tmp_path)
    yield bench
    bench.close()
