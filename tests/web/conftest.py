"""A browser and a server for all tests here, and the persons who use its windows.

They are those of a package, and end with it: a running browser leaves no room for other event
loops. `BROWSER_SLOWNESS=6` makes every page six times as slow as this machine, to find tests that
look before a page has come to rest.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from infra.log.key_files import generate_keys
from tests.helpers.api import Api
from tests.helpers.browser import chromium

PATIENCE = 30_000
"""Milliseconds that a condition is waited for: a busy machine is no fault of the pages."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        expect.set_options(timeout=PATIENCE)
        yield browser


@pytest.fixture(scope="package")
def api(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    del browser  # where there is none no server is needed
    with Api(tmp_path_factory.mktemp("web")) as api:
        generate_keys(api.settings.data / "keys", "play.example.org")
        yield api
