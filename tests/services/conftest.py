"""Terminals and offices, which carry out mails in the process of the test; guests of pages, with a server for each module."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from services.http import middleware
from tests.fakes.app import FakeApp, Terminal
from tests.fakes.office import FakeOffice
from tests.helpers.api import Api
from tests.helpers.web import Guest, visitors
from tests.services.matches_by_form import start


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an answer over a limit without the pause that slows its sender down."""
    monkeypatch.setattr(middleware, "PAUSE_SECONDS", 0.0)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    app = FakeApp()
    yield Terminal(app)
    app.close()


@pytest.fixture
def make_office():
    with ExitStack() as stack:

        def make(**settings):
            office = FakeOffice(**settings)
            stack.callback(office.close)
            return office

        yield make


@pytest.fixture
def office(make_office):
    return make_office()


@pytest.fixture
def come(api: Api) -> Iterator[Callable[..., Guest]]:
    with visitors(api) as come:
        yield come


@pytest.fixture
def pair(api: Api, come) -> tuple[Guest, Guest]:
    """Two who have logged in."""
    found = []
    for _ in range(2):
        guest = come()
        guest.log_in(api.player().name)
        found.append(guest)
    return found[0], found[1]


@pytest.fixture
def one(pair: tuple[Guest, Guest]) -> Guest:
    return pair[0]


@pytest.fixture
def two(pair: tuple[Guest, Guest]) -> Guest:
    return pair[1]


@pytest.fixture
def board(one: Guest, two: Guest) -> int:
    """A match of the two."""
    return start(one, two)
