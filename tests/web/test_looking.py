"""Replays, puzzles, and pages without scripts."""

import re

import pytest
from playwright.sync_api import expect

from services.app.matches import analyse, load_state
from tests.helpers.analysing import listening
from tests.helpers.browser import faults_of

pytestmark = pytest.mark.slow


MOVES = ("m13-m5:l4", "a13-c11", "l4-k3:j2", "a1-a7")


@pytest.fixture(scope="module")
def board(api) -> int:
    """A match with some moves."""
    players = api.players()
    board = api.begun(*players)
    for at, move in enumerate(MOVES):
        assert players[at % 2].move(board, move).status_code == 200
    return board


def test_a_replay_is_gone_through_with_keys_links_and_the_slider(person, board):
    page = person().goes_to(f"/m/{board}/0")
    said = page.locator("#at .says")
    for key, ply in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", 4),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        page.wait_for_url(f"**/m/{board}/{ply}")
        expect(said).to_contain_text(f"After move {ply} of 4" if ply else "The start")
    page.locator(".moves a", has_text="l4-k3:j2").click()
    page.wait_for_url(f"**/m/{board}/3")
    expect(page.locator('[data-place="k3"] .piece')).to_have_count(1)
    page.get_by_label("Position", exact=True).fill("2")
    page.wait_for_url(f"**/m/{board}/2")
    expect(page.locator('[data-place="c11"] .piece')).to_have_count(1)
    expect(page.locator(".moves a.now")).to_have_text("a13-c11")


def test_without_scripts_one_signs_up_plays_and_replays_all_the_same(api, person):
    one, two = person(java_script_enabled=False), person(java_script_enabled=False)
    one.signs_up("nora")
    two.signs_up("nina")
    one.goes_to("/new?opponent=nina")
    one.page.locator('[name="pow2-seat"][value="0"]').check()
    one.starts()
    one.page.wait_for_url("**/m/*")
    field = one.page.get_by_label("Move", exact=True)
    field.fill("m13-k5")
    one.page.get_by_role("button", name="Play", exact=True).click()
    expect(one.page.locator(".message")).to_have_text("m13-k5: no line connects m13 and k5.")
    expect(field).to_have_value("m13-k5")
    expect(field).to_be_focused()
    one.page.get_by_role("button", name="Check").click()
    expect(one.page.locator(".message")).to_contain_text("no line connects m13 and k5")
    assert re.fullmatch(r"/m/\d+/check\?move=m13-k5", one.page.url.removeprefix(api.url))
    field.fill("m13-m5:l4")
    one.page.get_by_role("button", name="Check").click()
    expect(one.page.locator("main")).to_contain_text("m1: Light, fresh becomes Light, aged")
    assert one.page.locator(".board-frame svg").bounding_box()["width"] <= 520
    one.page.get_by_role("button", name="Play it").click()
    one.page.locator(".moves a.now", has_text="m13-m5:l4").wait_for()
    board = int(one.page.url.rpartition("/")[2])
    two.goes_to(f"/m/{board}")
    expect(two.page.locator("#turn")).to_have_text(re.compile("nora challenges you"))
    two.page.get_by_role("button", name="Accept").click()
    expect(two.page.locator("#turn")).to_have_text(re.compile("Your turn"))
    two.page.get_by_label("Say something").fill("Hello!")
    two.page.get_by_role("button", name="Send").click()
    expect(two.page.locator("#chat")).to_contain_text("Hello!")
    two.page.get_by_role("link", name="Replay").click()
    two.page.wait_for_url(f"**/m/{board}/1")
    two.page.get_by_role("link", name="To the start").click()
    two.page.wait_for_url(f"**/m/{board}/0")
    two.page.get_by_role("link", name="Try moves from here").click()
    two.page.get_by_label("Move", exact=True).fill("m1-m7")
    two.page.get_by_role("button", name="Try moves from here").click()
    two.page.wait_for_url(f"**/m/{board}/0/if?line=m1-m7")
    assert load_state(api.parts, board).ply == 1


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


def test_an_analysis_is_asked_for_and_comes_by_itself(api, person):
    anna = person("anna")
    board = api.begun(api.player_of("anna"), api.player(), game="pow2")
    for move in ({"do": "move", "move": "m13-j7"}, {"do": "resign"}):
        assert api.player_of("anna").give(board, move).is_success
    page = anna.goes_to(f"/m/{board}")
    anna.expected.append("htmx:")
    page.get_by_role("link", name="Analysis").click()
    with listening(api.parts):
        page.get_by_role("button", name="Analyse").click()
        page.locator("#progress").wait_for()
    expect(page.get_by_role("status")).to_contain_text("0 of 2 positions done")
    assert faults_of(page) == []
    # too many requests: the page stays, and looks again by itself
    page.route("**/analysis", lambda route: route.fulfill(status=429, body="<p>wait</p>"))
    expect(page.locator("#offline")).to_contain_text("Too many requests. Trying again")
    expect(page.locator("#progress")).to_contain_text("0 of 2 positions done")
    page.unroute("**/analysis")
    expect(page.locator("#offline")).to_be_hidden()
    assert analyse(api.parts, board)
    expect(page.locator("svg.plot polyline")).to_have_count(1)
    expect(page.get_by_role("heading", name="Turning points")).to_be_visible()
