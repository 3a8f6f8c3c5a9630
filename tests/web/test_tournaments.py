"""A tournament in a browser: made, entered and followed live on a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.helpers.api import Api, until
from tests.helpers.browser import PHONE, Person, faults_of
from workers.tournament_manager import TournamentManager

pytestmark = pytest.mark.slow


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
    manager = TournamentManager(api.parts.store, api.parts.lanes, api.parts.data)

    def turned() -> object:
        api.caught_up()
        manager.tick()
        matches = api.parts.tournaments.matches(number).values()
        return seen(sum(bool(one.counted) or not one.seq for one in matches))

    until(turned)


def faults_in_both(page: Page) -> list[str]:
    """Return what axe finds on a page, light and dark, and whether it is wider than the screen."""
    found = []
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        found += faults_of(page)
    sticks_out = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return [*found, *(["wider than the screen"] if sticks_out else [])]


def test_a_tournament_is_made_entered_and_followed(api, person):
    players = api.players(3)
    host = person(players[0], **PHONE)
    there = make(host, "Cup in a browser")
    number = int(there.rpartition("/")[2])
    for one in players[1:]:
        assert one.post(f"/api{there}/entry", {}).is_success
    page = host.page
    page.get_by_role("button", name="Enter", exact=True).click()
    expect(page.locator("#phase")).to_contain_text("Being played.")
    manage(api, number, lambda known: known == 3)
    board = api.parts.tournaments.matches(number)[0].board
    page = host.goes_to(there)
    expect(page.locator("table.cross tbody tr")).to_have_count(3)
    assert faults_in_both(page) == []
    frame = person().goes_to(f"{there}/embed")
    loser = next(one for one in players if one.give(board, {"do": "resign"}).is_success)
    manage(api, number, lambda known: known == 3)
    # the table follows by itself, and so does that in a frame
    for seen in (page, frame):
        row = seen.locator("table.cross tbody tr", has_text=loser.name)
        expect(row.locator("a.lost")).to_have_count(1)
    first = page.locator("table.cross tbody th").first
    before = first.bounding_box()
    page.locator("#watching .scroll").evaluate("one => { one.scrollLeft = 200 }")
    after = first.bounding_box()
    assert before
    assert after
    assert after["x"] == before["x"], "the players stay in sight"
