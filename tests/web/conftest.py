"""A browser and a server for each module: a running browser leaves no room for other event loops."""

from collections.abc import Callable, Iterator

import pytest
from fakes.api import Api
from fakes.browser import Person, chromium
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def api(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    del browser  # where there is none no server is needed
    with Api(tmp_path_factory.mktemp("web")) as api:
        yield api


@pytest.fixture
def person(browser: Browser, api: Api) -> Iterator[Callable[..., Person]]:
    """Give somebody new with a browser of their own; at the end nothing was wrong with any page."""
    come: list[Person] = []

    def new(**options: object) -> Person:
        come.append(Person(browser, api, **options))
        return come[-1]

    yield new
    for one in come:
        one.closes()
    assert [complaint for one in come for complaint in one.complaints] == []
    assert [url for one in come for url in one.elsewhere] == []
