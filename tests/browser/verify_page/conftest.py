"""The page that checks files, saved as a file, and a server that publishes what it checks."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from infra.log.key_files import generate_keys
from tests.helpers.api import Api
from tests.helpers.web import verify_page


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page, saved as a file and opened without a network."""
    file = tmp_path_factory.mktemp("saved") / "matchpost-verify.html"
    file.write_text(verify_page(), "utf-8")
    context = browser.new_context(offline=True, reduced_motion="reduce")
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    yield page
    assert complaints == []
    assert set(asked) == {file.as_uri()}
    context.close()


@pytest.fixture(scope="module")
def publishing(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server with keys."""
    del browser  # it has to run before a server
    with Api(tmp_path_factory.mktemp("publishing")) as api:
        generate_keys(api.settings.data / "keys", "play.example.org")
        yield api
