"""The forms for a new match and for a tournament in a browser, and the tournament as it is followed."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from services.app.matches import load_state
from tests.helpers.api import Api, until
from tests.helpers.browser import PHONE, Person, faults_of
from workers.tournament_manager import TournamentManager

pytestmark = pytest.mark.slow


def fill_halves(page) -> None:
    page.get_by_label("Halves", exact=True).check()
    page.locator("summary:visible", has_text="Variants").click()
    page.get_by_label("Tiles each").fill("7")
    page.get_by_role("radio", name="Any tile").check()
    page.locator('[name="halves-seat"][value="1"]').check()
    page.locator('[name="time"][value="3"]').check()
    page.get_by_label("Unrated").check()


def shows_halves(page) -> None:
    expect(page.get_by_label("Tiles each")).to_have_value("7")
    expect(page.get_by_role("radio", name="Any tile")).to_be_checked()
    expect(page.locator('[name="halves-seat"][value="1"]')).to_be_checked()
    expect(page.locator('[name="time"][value="3"]')).to_be_checked()
    expect(page.get_by_label("Unrated")).to_be_checked()


def test_a_new_match_is_put_together_in_sight_and_nothing_typed_is_lost(api, person):
    one, other = person("forma"), api.player(name="formosa")
    page = one.goes_to("/new")
    expect(page.locator("#offer")).to_contain_text("You’re offering The Power of Two to anyone.")
    fill_halves(page)
    offer = page.locator("#offer")
    expect(offer).to_contain_text("You’re offering Halves to anyone.")
    expect(offer).to_contain_text("Time: 3 days a move. This game won’t affect your rating.")
    expect(offer).to_contain_text("Variants: Tiles each: 7; A placed tile must touch: Any tile.")
    expect(page.locator(".of-game summary:visible")).to_contain_text("(2 chosen)")
    one.names("nobody-of-this-name")
    one.starts()
    wrong = page.locator(".mistake")
    expect(wrong).to_have_text("There is no player named nobody-of-this-name.")
    field = page.get_by_label("Name of your opponent")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_value("nobody-of-this-name")
    shows_halves(page)
    assert faults_of(page) == []
    # another game and back
    page.get_by_label("David and Goliath", exact=True).check()
    expect(page.get_by_label("Tiles each")).to_be_hidden()
    page.get_by_label("Goliath", exact=True).check()
    expect(offer).to_contain_text("You’re playing Goliath; David moves first.")
    page.get_by_label("Halves", exact=True).check()
    shows_halves(page)
    # a name is completed
    field.fill("")
    field.press_sequentially("formo")
    expect(page.locator(f'#names option[value="{other.name}"]')).to_have_count(1)
    field.fill(other.name)
    page.keyboard.press("Enter")
    page.wait_for_url("**/m/*")
    state = load_state(api.parts, int(page.url.rpartition("/")[2]))
    assert state.rules.startswith("halves/")
    assert (state.clock.terms.days, state.clock.terms.rated) == (3, False)
    assert state.seats[1] == api.parts.accounts.id_of(one.name)
    # the browser's own way back
    page.go_back()
    shows_halves(page)
    expect(page.get_by_label("Name of your opponent")).to_have_value(other.name)


def test_the_form_offers_only_sides_and_robots_that_there_can_be(api, person):
    create_robot_accounts(api.parts.data, AccountMacs())
    page = person("forma-sides").goes_to("/new?game=halves")
    side = page.locator(".chip:visible", has=page.locator('[name="halves-seat"]'))
    expect(side).to_have_text(["Random", "Light", "Dark"])
    page.locator('[name="halves-seats"][value="3"]').check()
    side.filter(has_text="Teal").locator("input").check()
    # another way to find opponents keeps the number of players
    page.get_by_label("A robot", exact=True).check()
    second = page.locator('[name="halves-robot"]')
    expect(second).to_have_value("robot-medium")
    expect(page.locator('[name="halves-seat"][value="2"]')).to_be_checked()
    page.locator('[name="robot"][value="robot-medium"]').check()
    expect(second).to_have_value("robot-easy")
    expect(second.locator("option:not([hidden])")).to_have_text(["none", "Easy", "Hard"])
    second.select_option("")
    expect(side).to_have_text(["Random", "Light", "Dark"])
    expect(page.locator('[name="halves-seat"][value=""]')).to_be_checked()
    page.get_by_label("Anyone").check()
    expect(page.locator('[name="halves-seats"][value="2"]')).to_be_checked()


def test_each_mistake_stands_at_its_field_on_a_small_screen(person):
    page = person("schmal", **PHONE).goes_to("/new?game=halves")
    page.locator("summary:visible", has_text="Variants").click()
    page.get_by_label("Tiles each").fill("9999")
    page.get_by_label("Custom", exact=True).check()
    page.locator('[name="own-bank"]').fill("x")
    page.get_by_label("A note for potential opponents").fill("x" * 201)
    page.get_by_role("button", name="Start").click()
    alert = page.get_by_role("alert").filter(has_text="Please fix")
    expect(alert).to_have_text("Please fix the 3 fields marked in red.")
    for name, said in (
        ("halves-number-0", "Enter a number from"),
        ("own-bank", "Enter a number from 1 to 3650."),
        ("note", "The note has 201 characters; the limit is 200."),
    ):
        field = page.locator(f'[name="{name}"]')
        described = str(field.get_attribute("aria-describedby")).split()[0]
        expect(page.locator(f"#{described}")).to_contain_text(said)
        expect(page.locator(f"#{described}")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


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
