"""Puzzles in a browser: a click sets, moves are undone and redone, and a solution is handed in."""

import re

import pytest
from playwright.sync_api import expect

from services.app.matches import load_state
from tests.helpers.api import PASSWORD
from tests.helpers.browser import PHONE, faults_of


def sets(page, place: str, moves: int) -> None:
    page.locator("#board-area.choosing").wait_for()
    page.locator(f'#board-area [data-place="{place}"] .hit').click()
    page.locator(f'#board-area.choosing[data-ply="{moves}"]').wait_for()


def test_a_puzzle_is_solved_by_clicks_undone_redone_and_handed_in(api, person):
    page = (one := person("solva")).goes_to("/puzzles")
    assert faults_of(page) == []
    page.get_by_role("link", name="One by One").first.click()
    page.wait_for_url("**/puzzles/one")
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    sets(page, "a9", 1)
    expect(page.locator("#turn")).to_have_text("3 lines with exactly one stone, by 1 stone.")
    sets(page, "c3", 2)
    sets(page, "a9", 3)  # takes it back
    page.get_by_role("link", name="Undo").click()
    page.locator('#board-area.choosing[data-ply="2"]').wait_for()
    page.keyboard.press("Control+z")
    page.locator('#board-area.choosing[data-ply="1"]').wait_for()
    page.get_by_role("link", name="Redo").click()
    page.locator('#board-area.choosing[data-ply="2"]').wait_for()
    assert faults_of(page) == []
    # nothing is lost by closing the page, and nothing was started
    page.reload()
    page.locator('#board-area[data-ply="2"]').wait_for()
    one.goes_to("/puzzles").get_by_role("link", name="Continue").click()
    page.locator('#board-area[data-ply="2"]').wait_for()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/m/*")
    state = load_state(api.parts, int(page.url.rpartition("/")[2]))
    assert state.over
    assert state.moves.split() == ["a9", "c3", "done"]
    expect(page.locator("main")).to_contain_text("below the proven maximum.")
    expect(page.locator("main")).not_to_contain_text("won.")
    page.get_by_role("link", name="Try again").click()
    page.wait_for_url("**/puzzles/one")
    expect(one.goes_to("/puzzles").locator("[data-goes-on]:visible")).to_have_count(0)


@pytest.mark.long
def test_a_guest_tries_a_puzzle_and_hands_it_in_after_signing_up(api, person):
    page = person(**PHONE).goes_to("/puzzles/jump")
    sets(page, "a1", 1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults_of(page) == []
    page.get_by_role("link", name="Sign up to submit").click()
    page.locator('[name="userid"]').fill("jumps-later")
    page.locator('[name="password"]').fill(PASSWORD)
    page.locator("main form button").first.click()
    page.wait_for_url("**/puzzles/jump?line=a1")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/m/*")
    state = load_state(api.parts, int(page.url.rpartition("/")[2]))
    assert (state.moves, state.over) == ("a1 done", True)


def test_without_scripts_a_puzzle_goes_step_by_step(person):
    page = person("stepa", java_script_enabled=False).goes_to("/puzzles/duo")
    for count, move in enumerate(("a5", "c8"), 1):
        page.get_by_label("Move", exact=True).fill(move)
        page.get_by_role("button", name="Place it").click()
        expect(page.locator("#board-area")).to_have_attribute("data-ply", str(count))
    page.get_by_role("link", name="Undo").click()
    expect(page.locator("#board-area")).to_have_attribute("data-ply", "1")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile("/m/[0-9]+$"))
