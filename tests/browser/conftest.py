"""A browser and a server for all tests here, and the persons who use its windows.

They are those of a package, and end with it: a running browser leaves no room for other event
loops. `BROWSER_SLOWNESS=6` makes every page six times as slow as this machine, to find tests that
look before a page has come to rest.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from infra.log.key_files import generate_keys
from infra.people.sessions import Sessions
from tests.helpers.api import Api, Player
from tests.helpers.browser import Person, chromium

SLOWNESS = float(os.environ.get("BROWSER_SLOWNESS", "1"))
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


@pytest.fixture(scope="package")
def left() -> defaultdict[str, list[Page]]:
    """Pages of each server that somebody has left, for the next one: what was loaded need not be loaded again."""
    return defaultdict(list)


@pytest.fixture
def person(
    browser: Browser, api: Api, left: defaultdict[str, list[Page]]
) -> Iterator[Callable[..., Person]]:
    """Yield a function that opens a person's window; at the end nothing was wrong with any page.

    With a name somebody of that name has signed up and logged in before; a player has logged in.
    With options it is a window that nobody has used before.
    """
    come: list[tuple[Person, bool]] = []

    def new(who: str | Player = "", **options: Any) -> Person:
        player = api.player(name=who) if isinstance(who, str) and who else who
        state = session_of(api, player) if isinstance(player, Player) else None
        shared = not options
        if shared and left[api.url]:
            one = Person(browser, api, left[api.url].pop())
            one.context.add_cookies(state["cookies"] if state else [])
        else:
            one = Person(browser, api, storage_state=state, **options)
        one.name = player.name if isinstance(player, Player) else ""
        come.append((one, shared))
        prepare(one)
        return one

    yield new
    for one, shared in come:
        if shared:
            left[api.url].append(one.leaves())
        else:
            one.closes()
    assert [complaint for one, _ in come for complaint in one.complaints] == []
    assert [url for one, _ in come for url in one.elsewhere] == []


def prepare(one: Person) -> None:
    """Set how long a window waits, and how slow it is."""
    one.page.set_default_timeout(PATIENCE)
    if SLOWNESS > 1:
        tools = one.context.new_cdp_session(one.page)
        tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWNESS})


def session_of(api: Api, player: Player) -> dict[str, Any]:
    """What a browser holds of a player who has logged in."""
    text = Sessions(api.parts.data).open(player.account, "a browser").text
    cookie = {
        "name": "session", "value": text, "domain": "127.0.0.1", "path": "/", "expires": -1,
        "httpOnly": True, "secure": False, "sameSite": "Lax",
    }  # fmt: skip
    return {"cookies": [cookie], "origins": []}
