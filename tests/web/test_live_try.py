"""Boards to try within pages: a guest plays on the first page, and on the page of each game."""

import pytest
from playwright.sync_api import expect

from services.app.games import game_keys
from tests.helpers.browser import PHONE, pick_any

pytestmark = pytest.mark.slow


def test_a_guest_plays_on_the_first_page_and_the_address_stays(person):
    one = person()
    page = one.goes_to("/")
    expect(page.locator("#turn")).to_contain_text("You’re playing Light")
    expect(page.locator("#confirm")).to_be_disabled()
    heading = page.locator("h1").bounding_box()
    one.picks("4-0")
    page.locator("#confirm").click()
    expect(page.locator("#turn")).to_have_text("The robot played 5-4. Your turn.")
    expect(page.locator('#board-area [data-place="4"] .piece')).to_have_attribute("data-seat", "1")
    assert page.locator("h1").bounding_box() == heading
    # the next one by the keyboard alone
    page.locator("#board-area.choosing .choice").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#move")).to_have_value("0-5")
    page.locator("#confirm").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#turn")).to_contain_text("Your turn")
    expect(page.locator('#play [name="line"]')).to_have_value("4-0 5-4 0-5 4-0")
    assert page.url.endswith("/")
    page.get_by_role("link", name="Start again").click()
    expect(page.locator("#turn")).to_contain_text("You’re playing Light")


@pytest.mark.long
def test_each_game_is_tried_on_its_page_on_a_phone(person):
    one = person(**PHONE)
    for key in game_keys():
        page = one.goes_to(f"/games/{key}")
        area = page.locator("#board-area.choosing")
        area.wait_for()
        box, words = area.bounding_box(), page.locator("#how").bounding_box()
        assert box, key
        assert words, key
        assert box["y"] + box["height"] <= words["y"], f"{key}: the board comes before the text"
        play = page.locator("#confirm").bounding_box()
        assert play["y"] + play["height"] <= PHONE["viewport"]["height"], key
        pick_any(one)
        ply = area.get_attribute("data-ply")
        page.locator("#confirm").click()
        page.locator(f'#board-area.choosing:not([data-ply="{ply}"])').wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), key


def test_without_scripts_a_move_on_the_first_page_leads_to_a_board_of_its_own(browser, api):
    context = browser.new_context(base_url=api.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.locator("#move").fill("1-0")
    page.locator("#confirm").click()
    expect(page.locator("#board-area svg")).to_be_visible()
    assert "line=1-0+" in page.url
    context.close()
