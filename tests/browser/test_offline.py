"""The pages without a connection: what is kept, what waits to be sent, and what is left of it on a shared computer.

The connection is cut for the pages, and really: nothing listens where the server was, because what a service worker fetches
is no request of a page.
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from services.app.accounts import log_out_everywhere
from services.app.matches import load_state
from tests.browser.conftest import prepare, session_of
from tests.helpers.api import Player, until
from tests.helpers.browser import OFFLINE, PHONE, Person, faults_of
from tests.helpers.tcp_proxy import TcpProxy

pytestmark = pytest.mark.slow

KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    for (const one of await (await caches.open(name)).keys()) found.push(`${name} ${new URL(one.url).pathname}`);
  }
  return found;
}"""
STORED = """() => new Promise((done) => {
  const asked = indexedDB.open("offline", 1);
  asked.onupgradeneeded = () => asked.result.createObjectStore("moves", { keyPath: "board" });
  asked.onsuccess = () => {
    const got = asked.result.transaction("moves").objectStore("moves").getAll();
    got.onsuccess = () => { asked.result.close(); done(got.result); };
  };
})"""


class Line:
    """The line between a browser and the server."""

    def __init__(self, proxy: TcpProxy) -> None:
        self._proxy = proxy
        self.url = proxy.url

    def cut(self, *persons: Person) -> None:
        for one in persons:
            one.expected.extend(["htmx:", "Failed to fetch", "ERR_"])
            one.context.set_offline(True)
        self._proxy.refuse()

    def mend(self, *persons: Person) -> None:
        self._proxy.accept()
        for one in persons:
            one.context.set_offline(False)


@pytest.fixture
def line(api) -> Iterator[Line]:
    with TcpProxy("127.0.0.1", int(api.url.rpartition(":")[2])) as proxy:
        yield Line(proxy)


@pytest.fixture
def player(browser, api, line) -> Iterator[Callable[..., Person]]:
    """Yield a function that opens the window of somebody who has logged in, behind the line."""
    come: list[Person] = []

    def new(who: Player, **options: Any) -> Person:
        seen: Any = SimpleNamespace(url=line.url)
        one = Person(browser, seen, storage_state=session_of(api, who), **OFFLINE, **options)
        one.name = who.name
        come.append(one)
        prepare(one)
        return one

    yield new
    for one in come:
        one.closes()
    assert [complaint for one in come for complaint in one.complaints] == []


def kept(page: Page) -> list[str]:
    """Return the paths that are kept, each after the name of its cache."""
    return page.evaluate(KEPT)


def stored(page: Page) -> list[dict[str, Any]]:
    """Return the moves that are stored."""
    return page.evaluate(STORED)


def comes_home(one: Person, *boards: int) -> Page:
    """Look at home, and wait until the pages of matches are kept."""
    page = one.goes_to("/")
    wanted = {f"kept {one.name} {path}" for path in ("/", "/offline", *(f"/m/{board}" for board in boards))}  # fmt: skip
    until(lambda: wanted <= set(kept(page)))
    return page


def waits(one: Person, board: int, move: str) -> Page:
    """Play a move of two places on a page that was kept."""
    page = one.goes_to(f"/m/{board}")
    expect(page.locator("#offline")).to_contain_text("No connection. This page is from")
    page.locator("#board-area.choosing").wait_for()
    for place in move.split("-"):
        one.chooses(place)
    page.locator("#confirm").click()
    expect(page.locator("#unsent")).to_contain_text(f"Waiting to be sent: {move}")
    return page


def is_loaded_again(page: Page) -> None:
    """Wait until a page that was kept has been loaded again by itself."""
    expect(page.locator("body[data-kept]")).to_have_count(0)


def moves_of(api, board: int) -> str:
    return load_state(api.parts, board).moves


@pytest.fixture
def pair(api) -> tuple[Player, Player, int]:
    """Two players, and a match in which it is the turn of the first, after a move of each."""
    me, other = api.players()
    board = api.begun(me, other)
    me.move(board, "m13-j7")
    other.move(board, "a13-d7")
    other.post(f"/api/matches/{board}/chat", {"text": "good luck"})
    api.caught_up()
    return me, other, board


def test_a_move_that_is_made_without_a_server_is_played_once_there_is_one(api, line, player, pair):
    me, other, board = pair
    theirs = api.begun(other, me)
    api.caught_up()
    one = player(me)
    page = comes_home(one, board, theirs)
    assert api.parts.unread.counts(me.account).boards == {board: 1}  # nobody has looked at the chat
    assert {path.partition(" /")[0] for path in kept(page)} == {f"kept {me.name}"}
    line.cut(one)
    page.reload()
    expect(page.locator("#offline")).to_have_text(
        re.compile(r"No connection\. This page is from .*20\d\d")
    )
    assert page.locator(".match-tile img").first.evaluate(
        "async (one) => { await one.decode(); return one.src; }"
    )
    waits(one, board, "j7-i5")
    page.goto(f"/m/{theirs}")
    expect(page.locator("#turn")).to_contain_text(f"{other.name}’s turn")
    expect(page.locator("#unsent")).to_be_empty()
    page.goto("/puzzles")
    expect(page.locator("h1")).to_have_text("No connection")
    page.get_by_role("link", name="Your matches").click()
    expect(page.locator("#unsent")).to_contain_text("j7-i5 (The Power of Two match")
    expect(page.locator("#unsent").get_by_role("link", name="View")).to_have_attribute("href", f"/m/{board}")  # fmt: skip
    assert moves_of(api, board) == "m13-j7 a13-d7"
    line.mend(one)
    until(lambda: moves_of(api, board) == "m13-j7 a13-d7 j7-i5")
    expect(page.locator("#unsent")).to_be_empty()
    expect(page.locator("#offline")).to_be_hidden()
    page.goto(f"/m/{board}")
    expect(page.locator(".moves a.now")).to_have_text("j7-i5")
    # a page that is left at once has not forgotten it yet, and the next one does
    until(lambda: stored(page) == [])


def worker_of(one: Person) -> tuple[Any, dict[str, str]]:
    """Return tools for the service worker of a window, and what names it there."""
    tools = one.context.new_cdp_session(one.page)
    found: list[dict[str, str]] = []
    tools.on("ServiceWorker.workerRegistrationUpdated", lambda event: found.extend(event["registrations"]))  # fmt: skip
    tools.send("ServiceWorker.enable")
    until(lambda: one.page.evaluate("1") and found)
    return tools, {"origin": one.api.url, "registrationId": found[-1]["registrationId"]}


@pytest.mark.long
def test_a_move_is_sent_although_no_page_is_open_any_more(api, line, player, pair):
    me, _, board = pair
    one = player(me)
    page = comes_home(one, board)
    tools, known = worker_of(one)
    line.cut(one)
    waits(one, board, "j7-i5")
    page.goto("about:blank")
    line.mend(one)

    def sent() -> bool:  # a browser asks again, too, where it came too early
        told = {**known, "tag": "moves", "lastChance": False}
        tools.send("ServiceWorker.dispatchSyncEvent", told)
        page.wait_for_timeout(300)
        return moves_of(api, board) == "m13-j7 a13-d7 j7-i5"

    until(sent)


@pytest.mark.long
def test_a_notification_brings_up_to_date_what_is_kept(api, line, player, pair):
    me, other, board = pair
    me.move(board, "j7-i5")
    one = player(me)
    one.context.grant_permissions(["notifications"], origin=line.url)
    page = comes_home(one, board)
    page.goto("/help")
    answer = other.get(f"/m/{board}/moves").json()["moves"][0]
    other.move(board, answer)
    api.caught_up()
    tools, known = worker_of(one)
    news = {"title": "Your turn", "body": "", "path": f"/m/{board}", "tag": "m", "lang": "en"}
    tools.send("ServiceWorker.deliverPushMessage", {**known, "data": json.dumps(news)})
    shown = "async (path) => (await (await caches.match(path)).text())"
    until(lambda: f">{answer}</a>" in page.evaluate(shown, f"/m/{board}"))


def takes_back(me, other, board) -> str:
    """Take a move back and play another, so that the match is at the same ply in another position."""
    other.give(board, {"do": "offer", "kind": "undo"})
    me.give(board, {"do": "accept"})
    other.move(board, "a13-c11")
    return "m13-j7 a13-c11"


def goes_on(me, _, board) -> str:
    me.move(board, "j7-k8")
    return "m13-j7 a13-d7 j7-k8"


@pytest.mark.parametrize("meanwhile", [takes_back, pytest.param(goes_on, marks=pytest.mark.long)])
def test_a_move_that_comes_too_late_is_refused_and_the_page_says_so(api, line, player, pair, meanwhile):  # fmt: skip
    me, other, board = pair
    one = player(me)
    comes_home(one, board)
    line.cut(one)
    page = waits(one, board, "j7-i5")
    moves = meanwhile(me, other, board)
    assert moves_of(api, board) == moves
    line.mend(one)
    unsent = page.locator("#unsent")
    is_loaded_again(page)
    expect(unsent).to_contain_text("j7-i5 was not played")
    expect(unsent).to_contain_text("The match has moved on in the meantime.")
    page.goto("/")
    expect(unsent).to_contain_text("The match has moved on in the meantime.")
    unsent.get_by_role("button", name="Close").click()
    expect(unsent).to_be_empty()
    page.reload()
    expect(unsent).to_be_empty()
    assert (moves_of(api, board), stored(page)) == (moves, [])


@pytest.mark.long
def test_a_move_that_waits_can_be_replaced_and_withdrawn(api, line, player, pair):
    me, _, board = pair
    one = player(me)
    comes_home(one, board)
    line.cut(one)
    one.page.clock.set_fixed_time(datetime.now(UTC) + timedelta(days=3))
    page = waits(one, board, "j7-i5")
    # the clock of 21 days has run on since the page was kept
    expect(page.locator(".plate.to-move .clock")).to_have_text("17 d 23 h")
    page = waits(one, board, "j7-k8")
    assert [one["move"] for one in stored(page)] == ["j7-k8"]
    page.locator("#unsent").get_by_role("button", name="Withdraw").click()
    expect(page.locator("#unsent")).to_be_empty()
    line.mend(one)
    expect(page.locator("#offline")).to_be_hidden()
    assert (moves_of(api, board), stored(page)) == ("m13-j7 a13-d7", [])


def test_who_logs_out_leaves_nothing_even_without_a_connection(api, line, player, pair):
    me, _, board = pair
    one = player(me)
    comes_home(one, board)
    account = one.context.new_page()
    account.goto("/account")
    line.cut(one)
    page = waits(one, board, "j7-i5")
    account.locator("form[action='/logout'] button").click()
    until(lambda: kept(page) == [] and stored(page) == [])
    line.mend(one)
    is_loaded_again(page)
    page.goto("/")
    expect(page.locator("#offline")).to_be_hidden()
    assert moves_of(api, board) == "m13-j7 a13-d7"


@pytest.mark.long
@pytest.mark.parametrize("path", ["/", "/games", "/m/{board}"])
def test_after_a_log_out_elsewhere_the_next_answer_deletes_all_that_is_kept(api, player, pair, path):  # fmt: skip
    me, _, board = pair
    one = player(me)
    page = comes_home(one, board)
    log_out_everywhere(api.parts, me.account)
    page.goto(path.format(board=board))
    until(lambda: kept(page) == [])


def logs_in_as(api, one: Person, who: Player) -> None:
    """Give the browser the session of somebody else."""
    one.context.clear_cookies()
    one.context.add_cookies(session_of(api, who)["cookies"])


def test_another_account_of_the_browser_sees_and_sends_nothing(api, line, player, pair):
    me, other, board = pair
    one = player(me)
    comes_home(one, board)
    line.cut(one)
    page = waits(one, board, "j7-i5")
    logs_in_as(api, one, other)
    line.mend(one)
    is_loaded_again(page)
    page.goto("/")
    until(lambda: "move" not in str(stored(page)))
    until(lambda: {path.partition(" /")[0] for path in kept(page)} == {f"kept {other.name}"})
    expect(page.locator("#unsent")).to_be_empty()
    logs_in_as(api, one, me)
    page.goto("/")
    expect(page.locator("#unsent")).to_contain_text("somebody else logged in in this browser")
    page.locator("#unsent").get_by_role("button", name="Close").click()
    expect(page.locator("#unsent")).to_be_empty()
    assert (moves_of(api, board), stored(page)) == ("m13-j7 a13-d7", [])


@pytest.mark.long
def test_after_the_end_of_a_session_the_move_is_sent_once_its_player_has_logged_in(api, line, player, pair):  # fmt: skip
    me, _, board = pair
    one = player(me)
    comes_home(one, board)
    live = one.context.new_page()
    live.goto(f"/m/{board}")
    line.cut(one)
    page = waits(one, board, "j7-i5")
    log_out_everywhere(api.parts, me.account)
    line.mend(one)
    until(lambda: kept(live) == [])
    expect(live.locator("#unsent").get_by_role("link", name="Log in again")).to_be_visible()
    assert moves_of(api, board) == "m13-j7 a13-d7"
    expect(page.get_by_role("link", name="Log in", exact=True)).to_be_visible()
    page.goto("/login")
    one.logs_in()
    until(lambda: moves_of(api, board) == "m13-j7 a13-d7 j7-i5")


def test_what_a_match_loads_only_later_is_there_without_a_connection(line, player, pair):
    me, _, board = pair
    one = player(me)
    page = comes_home(one, board)
    line.cut(one)
    page.goto(f"/m/{board}")
    page.locator("#steps [data-step=back]").click()
    page.locator("#steps + .trial").wait_for(state="attached")
    # the position itself was not looked at before
    expect(page.locator("#message")).to_contain_text("Can’t reach the server.")


@pytest.mark.long
def test_a_kept_page_is_german_accessible_and_fits_a_phone(line, player, pair):
    me, _, board = pair
    one = player(me, locale="de-DE", color_scheme="dark", **PHONE)
    page = comes_home(one, board)
    page.goto(f"/m/{board}")
    page.locator("#steps [data-step=back]").click()
    expect(page.locator("#study-turn")).to_contain_text("Nach Zug 1 von 2")
    line.cut(one)
    page.goto(f"/m/{board}")
    expect(page.locator("#offline")).to_contain_text("Keine Verbindung. Diese Seite ist vom")
    page.locator("#board-area.choosing").wait_for()
    page.locator("#move").evaluate("one => { one.value = 'j7-i5'; }")
    page.locator("#board-area .choice[tabindex='0']").focus()
    for place in ("j7", "i5"):
        page.locator(f'#board-area [data-place="{place}"]').first.focus()
        page.keyboard.press("Enter")
    page.locator("#confirm").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#unsent")).to_contain_text("Wartet auf Verbindung: j7-i5")
    assert faults_of(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.locator("#steps [data-step=back]").click()  # a position that was looked at before
    expect(page.locator("#study-turn")).to_contain_text("Nach Zug 1 von 2")
    page.locator("#steps [data-step=first]").click()
    expect(page.locator("#message")).to_contain_text("Der Server ist nicht erreichbar.")
    page.locator("#proposing summary").click()
    page.get_by_role("button", name="Remis anbieten").click()
    expect(page.locator("#message")).to_contain_text("Der Server ist nicht erreichbar.")
