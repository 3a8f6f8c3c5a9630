"""Pages for everybody: by keyboard, for screen readers, on a phone, light and dark, in German."""

import re
from hashlib import sha256
from typing import Any

import pytest
from playwright.sync_api import expect

from infra.people.accounts import AccountRole
from services.app.matches import load_state
from tests.helpers.api import PASSWORD, Api, Player
from tests.helpers.browser import SIZES, faults_of
from tests.helpers.keyboard import tab_to, walk_to
from workers.tournament_manager import TournamentManager

pytestmark = pytest.mark.slow


LAST = 7
"""The last match has this number after the first."""


PHONE = (390, 844)

SMALLEST = 24
"""Pixels that what is touched has at least, as WCAG 2.2 asks; links within sentences apart."""


# of the package, because the tests of a module need not follow each other in a process
@pytest.fixture(scope="package")
def pair(api) -> tuple[Player, Player]:
    """Two who have signed up."""
    return api.player(name="gerd"), api.player(name="hugo")


@pytest.fixture(scope="package")
def board(api, pair) -> int:
    """A match of gerd's and hugo's, in which it is gerd's turn, and others that end up in lists."""
    gerd, hugo = pair
    board = api.begun(gerd, hugo)
    gerd.move(board, "m13-m5:l4")
    hugo.move(board, "a13-c11")
    api.begun(gerd, hugo, game="halves")
    api.begun(hugo, gerd, game="powerdrain")
    line = api.begun(gerd, hugo, game="line")
    for at, move in enumerate(("a9", "i5", "e9")):
        assert (gerd, hugo)[at % 2].move(line, move).status_code == 200
    hugo.give(line, {"do": "resign"})
    hugo.post("/api/challenges", {"game": "goliath", "note": "come and play"})
    hugo.give(board, {"do": "offer", "kind": "draw"})
    for number in range(12):
        hugo.post(f"/api/matches/{board}/chat", {"text": f"line {number}"})
    hugo.post("/api/messages", {"to": ["gerd"], "text": "shall we play?"})
    for game in ("pow2", "halves"):
        api.match(hugo, gerd, game=game)
    own, other = (sha256(player.name.encode()).hexdigest() for player in pair)
    fair: dict[str, Any] = {"game": "halves", "terms": ["--gather"]}
    api.match(hugo, gerd, commitment=other, **fair)
    sealed = api.match(gerd, hugo, commitment=own, **fair)
    assert hugo.give(sealed, {"do": "accept", "commitment": other}).is_success
    assert sealed == board + LAST
    hugo.move(board, "m13-m13")
    hugo.post(f"/api/matches/{board}/claim", {"ply": 1, "text": "look at that"})
    api.parts.accounts.set_role("gerd", AccountRole.ARBITER, held=True)
    assert tournaments(api, gerd) == [f"/api/tournaments/{sealed + at}" for at in (1, 2)]
    api.caught_up()
    return board


def tournaments(api: Api, host: Player) -> list[str]:
    """Begin a league and a tournament of teams, and return their addresses."""
    given = {
        "game": "goliath",
        "league": {"size": 3, "up": 1, "down": 1},
        "days": 30,
        "team_size": 2,
    }
    named = (("Liga", "league"), ("Mannschaften", "teams"))
    plans = [{**given, "name": name, "form": form} for name, form in named]
    league, teams = (host.post("/api/tournaments", one).headers["location"] for one in plans)
    for path in (league, teams):
        assert host.post(f"{path}/open").is_success
    players = api.players(6)
    for player in players:
        assert player.post(f"{league}/entry", {}).is_success
    for captain, *others in (players[:3], players[3:]):
        userids = [captain.name, *(one.name for one in others)]
        assert captain.put(f"{teams}/team", {"userids": userids}).is_success
        for one in (captain, *others):
            assert one.post(f"{teams}/entry", {"captain": captain.name}).is_success
    for path in (league, teams):
        assert host.post(f"{path}/start").is_success
    api.caught_up()
    TournamentManager(api.parts.store, api.parts.lanes, api.parts.data).tick()
    return [league, teams]


def common_pages(board: int) -> list[str]:
    """Pages that between them have all that other pages are made of."""
    league, teams = (f"/tournaments/{board + LAST + at}" for at in (1, 2))
    return [
        "/", "/new", "/games/pow2", "/puzzles/one?line=a9", "/players/hugo", "/account", "/matches", "/notices",
        f"/m/{board}", f"/m/{board + 1}", f"/m/{board}/1/if", f"/m/{board}/case", "/m/999999", "/tournaments/new",
        league, f"{teams}/embed",
    ]  # fmt: skip


def other_pages(board: int) -> list[str]:
    league, teams = (f"/tournaments/{board + LAST + at}" for at in (1, 2))
    return [
        "/games", "/puzzles", "/log", "/ratings/line", "/players", "/account/bots", "/account/apps", "/device", "/help",
        f"/m/{board + 3}", f"/m/{board}/compare", f"/m/{board}/check?move=m1-m7", "/games/powerdrain/try?seed=00",
        "/players/hugo/matches?state=finished", "/challenges", "/messages?to=ben", "/watching", "/playing",
        "/tournaments", "/games/one/scores", "/cases", f"/m/{board}/claim?ply=1", teams, f"{league}/director",
        f"{league}/embed", f"/m/{board}/embed",
    ]  # fmt: skip


def shown(one, path: str):
    """Open a page, and wait until its script has done all it does by itself."""
    page = one.goes_to(path)
    if page.locator("#builder").count():
        page.locator("#board-area.choosing").wait_for()
    return page


TOO_SMALL = """(least) => [...document.querySelectorAll("button, input, select, summary, nav a")]
  .filter((one) => one.offsetParent && !["hidden", "checkbox", "radio"].includes(one.type) && !one.closest(".sr"))
  .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && (box.height < least || box.width < least))
  .map(([text, box]) => `too small to touch: ${text} ${box.width}x${box.height}`)"""

HARD_TO_READ = """async () => (await axe.run({ runOnly: ["color-contrast"], preload: false })).violations
  .flatMap((fault) => fault.nodes.map((node) => `in the dark: ${node.html.slice(0, 160)}`))"""
"""By axe-core, which is there already; all else is as by day."""


def faults_on(page, path: str) -> list[str]:
    """What axe finds, what sticks out on a phone, and what can't be touched there."""
    found = faults_of(page)
    page.emulate_media(color_scheme="dark")
    found += page.evaluate(HARD_TO_READ)
    page.emulate_media(color_scheme="light")
    # at all sizes where there are tables
    for width, height in SIZES if "/tournaments/" in path else [PHONE]:
        page.set_viewport_size({"width": width, "height": height})
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"wider than {width}")
    page.set_viewport_size(dict(zip(("width", "height"), PHONE, strict=True)))
    found += page.evaluate(TOO_SMALL, SMALLEST)
    page.set_viewport_size({"width": 1280, "height": 720})
    return found


@pytest.mark.parametrize(
    ("pages", "for_guests"),
    [
        (common_pages, ["/", "/signup"]),
        pytest.param(other_pages, ["/login"], marks=[pytest.mark.long, pytest.mark.timeout(900)]),
    ],
)
def test_everybody_can_read_and_use_any_page_on_a_screen_and_on_a_phone(
    person, pair, board, pages, for_guests
):
    gerd, guest = person(pair[0]), person()
    wanted = [(gerd, path) for path in pages(board)] + [(guest, path) for path in for_guests]
    faults = {path: faults_on(shown(one, path), path) for one, path in wanted}
    assert {path: found for path, found in faults.items() if found} == {}


def test_a_match_is_played_with_the_keyboard_alone(api, person, pair):
    gerd, hugo = pair
    board = api.begun(gerd, hugo)
    gerd.move(board, "m13-m5:l4")
    hugo.move(board, "a13-c11")
    api.caught_up()
    one = person()
    one.goes_to("/login")
    keys = one.page.keyboard
    expect(one.page.get_by_label("Name", exact=True)).to_be_focused()
    keys.type("gerd")
    keys.press("Tab")
    expect(one.page.get_by_label("Password")).to_be_focused()
    keys.type(PASSWORD)
    keys.press("Enter")
    one.page.wait_for_url("/")
    tab_to(one.page, f'a[href="/m/{board}"]')
    keys.press("Enter")
    one.page.wait_for_url(f"**/m/{board}")
    one.page.locator("#board-area.choosing").wait_for()
    tab_to(one.page, "#board-area .choice")
    walk_to(one.page, "m5")
    keys.press("Enter")
    walk_to(one.page, "m9")
    keys.press("Enter")
    expect(one.page.locator("#says")).to_contain_text("Play m5-m9")
    keys.press("Escape")
    walk_to(one.page, "m9")
    keys.press(" ")
    tab_to(one.page, "#confirm")
    keys.press("Enter")
    one.page.locator(".moves a.now", has_text="m5-m9").wait_for()
    assert load_state(api.parts, board).ply == 3


def test_a_screen_reader_hears_whose_turn_it_is_and_what_can_be_chosen(person, pair, board):
    page = person(pair[0]).goes_to(f"/m/{board + 1}")
    expect(page.locator("#turn")).to_have_attribute("role", "status")
    expect(page.locator("#says")).to_have_attribute("role", "status")
    expect(page.get_by_role("button", name="Play the light tiles")).to_be_visible()
    page.goto(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    tree = page.locator("main").aria_snapshot()
    assert "status: Your turn" in tree
    assert 'button "m5: Light, aged"' in tree
    assert re.search(r"group \"The Power of Two: gerd .Light., hugo .Dark.", tree)
    page.locator("summary", has_text="Choose from a list").click()
    page.get_by_role("button", name="m5", exact=True).click()
    expect(page.locator("#says")).to_contain_text("m5 selected.")
