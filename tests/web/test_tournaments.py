"""A tournament in a browser: made, entered, followed live, on a phone and on a wide screen, light and dark."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from infra.durability.durability import Mode
from infra.redis.keys import Lane
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from tests.helpers.api import Api, Player, until
from tests.helpers.browser import PHONE, Person, faults_of
from workers.tournament_manager import TournamentManager

pytestmark = pytest.mark.slow

WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}


def make(host: Person, name: str) -> str:
    """Fill the form in, and open the tournament for entry; return its address."""
    page = host.goes_to("/tournaments/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.locator('.game-tile:has([value="goliath"])').click()
    page.locator('[name="section"]').fill("3")
    page.get_by_role("button", name="Make the tournament").click()
    expect(page.get_by_text("Please fix the field marked in red.")).to_be_visible()
    page.get_by_label("Most players").fill("3")
    page.get_by_role("button", name="Make the tournament").click()
    page.get_by_role("button", name="Open it for entry").click()
    expect(page.locator("#phase")).to_contain_text("It starts when 3 players have entered.")
    return re.sub(r".*(/tournaments/\d+).*", r"\1", page.url)


def manage(api: Api, number: int, seen: Callable[[int], object]) -> None:
    """Have the manager work until so many matches have begun or are counted."""
    woken: list[Lane] = []
    with api.server.client(blocking_timeout=5) as client:
        lanes = LaneLeases(client, woken.append)
        store = RedisStore(client, Mode.FSYNC)
        manager = TournamentManager(store, lanes, client)

        def turned() -> object:
            api.caught_up()
            manager.tick()
            matches = api.parts.tournaments.matches(number).values()
            return seen(sum(bool(one.counted) or not one.seq for one in matches))

        until(turned)


def faults_in_both(page: Page) -> list[str]:
    """Return what axe finds on a page, light and dark, and whether it is wider than the screen."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += faults_of(page)
    sticks_out = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["wider than the screen"] if sticks_out else [])]


@pytest.mark.parametrize(
    "screen", [PHONE, pytest.param(WIDE, marks=pytest.mark.long)], ids=["phone", "wide"]
)
def test_a_tournament_is_made_entered_and_followed(api, person, screen):
    players: list[Player] = api.players(3)
    host = person(players[0], **screen)
    there = make(host, "Cup in a browser")
    number = int(there.rpartition("/")[2])
    pages = [host.page, *(person(one, **screen).goes_to(there) for one in players[1:])]
    assert faults_in_both(pages[1]) == []
    for page in pages:
        page.get_by_role("button", name="Enter", exact=True).click()
    expect(pages[2].locator("#phase")).to_contain_text("Being played.")
    manage(api, number, lambda known: known == 3)
    board = api.parts.tournaments.matches(number)[0].board
    page = host.goes_to(there)
    expect(page.locator("table.cross tbody tr")).to_have_count(3)
    assert faults_in_both(page) == []
    faults = faults_in_both(host.goes_to("/tournaments/new"))
    assert [*faults, *faults_in_both(host.goes_to("/tournaments"))] == []
    page, frame = host.goes_to(there), person().goes_to(f"{there}/embed")
    loser = next(one for one in players if one.give(board, {"do": "resign"}).is_success)
    manage(api, number, lambda known: known == 3)
    # the table follows by itself, and so does that in a frame
    for seen in (page, frame):
        row = seen.locator("table.cross tbody tr", has_text=loser.name)
        expect(row.locator("a.lost")).to_have_count(1)
    if screen is PHONE:
        first = page.locator("table.cross tbody th").first
        before = first.bounding_box()
        page.locator("#watching .scroll").evaluate("one => { one.scrollLeft = 200 }")
        after = first.bounding_box()
        assert before
        assert after
        assert after["x"] == before["x"], "the players stay in sight"


def test_a_captain_names_a_team_on_a_phone_and_its_table_fits(api, person):
    players: list[Player] = api.players(4)
    plan = {"name": "Town and gown", "game": "goliath", "form": "teams", "team_size": 2}
    there = players[0].post("/api/tournaments", plan).headers["location"]
    assert players[0].post(f"{there}/open").is_success
    for at in (0, 2):
        captain, other = players[at : at + 2]
        page = person(captain, **PHONE).goes_to(there.removeprefix("/api"))
        page.get_by_text("Make a team", exact=True).click()
        page.get_by_label("Players, in the order").fill(f"{captain.name} {other.name}")
        page.get_by_role("button", name="Name the players").click()
        expect(page.locator("#team")).to_contain_text("not entered yet")
        page.locator("#entry").get_by_role("button").click()
        expect(page.get_by_text("You have entered.")).to_be_visible()
        assert other.post(f"{there}/entry", {}).is_success
    assert players[0].post(f"{there}/start").is_success
    page.reload()
    expect(page.locator("#team table")).to_contain_text(f"{players[2].name}’s team")
    assert faults_in_both(page) == []
