"""A real server for boards in the terminal, and a match of two players."""

from collections.abc import Iterator

import pytest

from services.http.context import TaskIntervals
from tests.helpers.api import Api, Player


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("board"), intervals=TaskIntervals(heartbeat=0.3)) as api:
        yield api


@pytest.fixture
def pair(api: Api) -> tuple[Player, Player, int]:
    """Two players, and the board of their match of pow2."""
    one, other = api.players()
    return one, other, api.begun(one, other, terms=["--days=3"])
