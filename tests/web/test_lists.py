"""Long lists in a browser: all that waits, the most urgent first, and every page of the rest."""

import re

import pytest
from playwright.sync_api import expect

from tests.helpers.browser import PHONE

pytestmark = pytest.mark.slow

MANY = 53


@pytest.fixture(scope="package")
def busy(api):
    """Greta, for whom 53 matches wait, the newest for a day only, an offer, and one to accept."""
    greta, other = api.player(name="greta"), api.player(name="gustav")
    boards = [api.begun(greta, other) for _ in range(MANY - 1)]
    boards.append(api.begun(greta, other, terms=["--days=1"]))
    gathers = api.match(other, greta, game="powerdrain", terms=["--gather"])
    offered = api.begun(other, greta, terms=["--days=3"])
    other.give(offered, {"do": "offer", "kind": "draw"})
    api.caught_up()
    return {"greta": greta, "urgent": boards[-1], "gathers": gathers, "offered": offered}


def boards_of(locator) -> list[int]:
    links = locator.locator('a[href^="/m/"]').all()
    return [int(one.get_attribute("href").rpartition("/")[2]) for one in links]


@pytest.mark.long
def test_all_that_waits_is_there_with_offers_and_the_most_urgent_on_top(person, busy):
    page = person(busy["greta"]).goes_to("/")
    expect(page).to_have_title(f"({MANY + 2}) matchpost")
    expect(page.locator("#to-move .count")).to_have_text(str(MANY))
    expect(page.locator("#waiting .pill-number")).to_have_text(str(MANY + 2))
    asks = ("gustav offers a draw", "gustav challenges you to Powerdrain")
    expect(page.locator(".ask")).to_contain_text(asks)
    tiles = page.locator(".match-tile")
    expect(tiles).to_have_count(12)
    assert boards_of(page.locator(".match-tiles"))[0] == busy["urgent"]
    # matches with one opponent are told apart by their numbers and times
    expect(tiles.first.locator(".row-number")).to_have_text(f"No. {busy['urgent']}")
    row = page.locator(".row-item").first
    expect(row.locator(".row-number")).to_have_text(f"No. {boards_of(row)[0]}")
    expect(row.locator(".row-date")).to_have_text(re.compile(r"\d+ (sec|min|hr)\. ago|now"))
    expect(tiles.first.locator(".note-chip")).to_have_class(re.compile("urgent"))
    page.get_by_role("link", name=f"Show all {MANY + 2}").click()
    page.wait_for_url("**/matches")
    expect(page.locator(".pager").first).to_contain_text(f"1 to 50 of {MANY + 2}")
    shown = boards_of(page.locator(".row-game"))
    page.get_by_role("link", name="Next", exact=True).first.click()
    page.wait_for_url("**/matches?state=waiting&page=2")
    rest = boards_of(page.locator(".row-game"))
    assert shown[:3] == [busy["offered"], busy["gathers"], busy["urgent"]]
    assert len({*shown, *rest}) == len(shown) + len(rest) == MANY + 2


@pytest.mark.long
def test_a_list_is_gone_through_forth_and_back(person, busy):
    page = person().goes_to("/players/gustav")
    assert busy["greta"].name == "greta"
    going = page.locator('section[aria-labelledby="active"]')
    going.get_by_role("link", name=f"All {MANY + 1}").click()
    page.wait_for_url("**/players/gustav/matches?state=going")
    expect(page.locator(".pager").first).to_contain_text(f"1 to 50 of {MANY + 1}")
    page.get_by_role("link", name="Next", exact=True).first.click()
    page.wait_for_url("**/players/gustav/matches?state=going&page=2")
    expect(page.locator(".pager").first).to_contain_text(f"51 to {MANY + 1} of {MANY + 1}")
    page.get_by_role("link", name="Previous").first.click()
    page.wait_for_url("**/players/gustav/matches?state=going")
    page.get_by_label("Opponent").fill("nobody-here")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#unknown")).to_contain_text("There is no player")
    page.get_by_label("Opponent").fill("greta")
    page.get_by_label("Game").select_option("powerdrain")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".row-item")).to_have_count(0)  # it is not accepted yet
    page.get_by_role("link", name=re.compile("Finished 0")).click()
    expect(page.locator("main")).to_contain_text("No match fits this search")


def test_a_comparison_is_in_sight_at_once_on_a_phone(person, busy):
    page = person(**PHONE).goes_to("/players/gustav")
    page.get_by_label("Compare with").fill(busy["greta"].name)
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/players/gustav?with=greta#against")
    expect(page.get_by_text("gustav and greta haven’t finished a match yet.")).to_be_in_viewport()
