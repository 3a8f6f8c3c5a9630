"""Earlier positions, tried moves and conditional moves on the page of a match."""

import re

import pytest
from playwright.sync_api import expect

from services.app.conditional_moves import conditional_moves_of
from services.app.matches import load_state
from tests.helpers.browser import PHONE, faults_of
from tests.helpers.keyboard import tab_to

pytestmark = pytest.mark.slow

MOVES = ("m13-m5:l4", "a13-c11", "l4-k3:j2", "a1-a7")


@pytest.fixture
def pair(api):
    return api.players()


@pytest.fixture
def board(api, pair) -> int:
    board = api.begun(*pair)
    for at, move in enumerate(MOVES):
        assert pair[at % 2].move(board, move).is_success
    return board


def test_earlier_positions_are_shown_in_place_and_news_are_announced(person, pair, board):
    one = person(pair[0])
    page = one.goes_to(f"/m/{board}")
    page.locator("#board-area.choosing").wait_for()
    page.keyboard.press("ArrowLeft")
    label = page.locator("#study-turn")
    expect(label).to_contain_text("Earlier position")
    expect(label).to_contain_text("After move 3 of 4: l4-k3:j2.")
    expect(page.locator("#board-box")).to_be_hidden()
    expect(page.locator("#builder")).to_be_hidden()
    page.get_by_role("link", name="Back one move").click()
    expect(page.locator(".moves a.now")).to_have_text("a13-c11")
    page.wait_for_url(f"**/m/{board}#at=2")
    page.locator(".moves a", has_text="m13-m5:l4").click()
    expect(label).to_contain_text("After move 1 of 4")
    assert pair[0].move(board, "m5-m9").is_success
    expect(label).to_contain_text("Played in the meantime: m5-m9.")
    expect(label).to_contain_text("After move 1 of 5")
    page.get_by_role("button", name="Back to the match").click()
    expect(label).to_be_hidden()
    expect(page.locator('#board-area [data-place="m9"] .piece')).to_be_visible()
    expect(page.locator(".moves a.now")).to_have_text("m5-m9")
    assert page.url.endswith(f"/m/{board}")


def test_steps_go_on_from_a_position_that_is_still_being_fetched(person, board):
    page, held = person().page, []
    page.route("**/if/board*", lambda route: held.append(route))  # noqa: PLW0108 - needs a function

    def slow(*does):
        for do in does:
            with page.expect_request("**/if/board*"):
                do()
        while len(held) < len(does):
            page.wait_for_timeout(20)
        while held:
            held.pop().continue_()

    label = page.locator("#study-turn")
    page.goto(f"/m/{board}")
    page.locator("#steps").wait_for()
    slow(*[lambda: page.keyboard.press("ArrowLeft")] * 2)
    expect(label).to_contain_text("After move 2 of 4")
    page.goto("/")
    slow(
        lambda: page.goto(f"/m/{board}#at=1"),
        lambda: page.get_by_role("link", name="Back one move").click(),
    )
    expect(label).to_contain_text("The start.")


def test_a_move_that_is_being_chosen_outlasts_a_look_back(person, pair, board):
    one = person(pair[0])
    one.goes_to(f"/m/{board}")
    one.picks("m5-m9")
    one.page.locator("#study-turn").wait_for(state="hidden")
    one.page.get_by_role("link", name="To the start").click()
    expect(one.page.locator("#study-turn")).to_contain_text("The start.")
    one.page.get_by_role("link", name="To the end").click()
    expect(one.page.locator("#move")).to_have_value("m5-m9")
    one.page.locator("#confirm").click()
    one.page.locator(".moves a.now", has_text="m5-m9").wait_for()


@pytest.mark.parametrize(
    "options", [{}, pytest.param(PHONE, marks=pytest.mark.long)], ids=["wide", "phone"]
)
def test_tried_moves_are_branches_that_come_back_and_can_be_deleted(api, person, board, options):
    one = person(**options)
    page = one.goes_to(f"/m/{board}#at=1")
    page.get_by_role("link", name="Try moves from here").click()
    expect(page.locator("#study-turn")).to_contain_text("Sandbox: nothing here is played")
    one.tries("a13-d7")
    one.tries("m5-m9")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".branch a.now")).to_have_text("a13-d7")
    one.tries("m1-i3")
    expect(page.locator(".branch .branch a.now")).to_have_text("m1-i3")
    assert faults_of(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    address = page.url
    other = person(**options).goes_to(address)  # by the address alone
    expect(other.locator(".branch a")).to_have_text(["a13-d7", "m5-m9", "m1-i3"])
    expect(other.locator(".branch a.now")).to_have_text("m1-i3")
    page.goto(f"/m/{board}")  # by what the browser keeps
    expect(page.locator(".branch a")).to_have_text(["a13-d7", "m5-m9", "m1-i3"])
    page.get_by_role("button", name="Delete a13-d7 m1-i3").click()
    expect(page.locator(".branch a")).to_have_text(["a13-d7", "m5-m9"])
    page.get_by_role("button", name="Delete a13-d7", exact=True).click()
    expect(page.locator(".branches")).to_have_count(0)
    assert load_state(api.parts, board).moves.split() == list(MOVES)


def test_a_place_chosen_for_a_tried_move_outlasts_a_line_of_chat(person, pair, board):
    page = person(pair[0]).goes_to(f"/m/{board}#at=1")
    page.get_by_role("link", name="Try moves from here").click()
    page.locator(".study-frame.choosing").wait_for()
    page.locator('.study-frame [data-place="a13"] .hit').click()
    says = page.locator(".trial .says")
    expect(says).to_have_text("a13 selected.")
    assert pair[1].post(f"/api/matches/{board}/chat", {"text": "a long think"}).is_success
    expect(page.locator(".chat")).to_contain_text("a long think")
    page.wait_for_timeout(300)
    expect(says).to_have_text("a13 selected.")
    page.locator('.study-frame [data-place="d7"] .hit').click()
    expect(page.locator(".branch a.now")).to_have_text("a13-d7")


def test_moves_are_tried_from_the_list_with_the_keyboard_alone(api, person, board):
    page = person().goes_to(f"/m/{board}#at=1")
    expect(page.locator("#study-turn")).to_contain_text("Earlier position")
    tab_to(page, "#try")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('.study-frame .choice')")
    tab_to(page, ".trial summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    for _ in range(8):
        if page.locator(".branch a").count() > 1:
            break
        page.wait_for_function("() => document.activeElement.matches('.trial .row button')")
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)
    expect(page.locator(".branch a")).to_have_count(2)
    assert load_state(api.parts, board).moves.split() == list(MOVES)


def test_plates_stand_as_they_stood_at_an_earlier_position(person, pair, board):
    page = person(pair[0]).goes_to(f"/m/{board}#at=0")
    shown = page.locator(".plates:visible .plate")
    expect(shown).to_have_count(2)
    expect(shown.last).to_contain_text("14 left to place")
    expect(shown.last).to_have_class(re.compile("to-move"))
    expect(page.locator(".plates:visible [data-deadline]")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator(".plates:visible [data-deadline]")).to_have_count(1)
    expect(shown.last).to_contain_text("13 left to place")


def test_a_tried_branch_becomes_a_conditional_move_and_is_dropped(api, person, pair, board):
    one = person(pair[1])
    page = one.goes_to(f"/m/{board}")
    for answer in ("c11-d10", "a7-a9"):
        page.get_by_role("link", name="Try moves from here").click()
        one.tries("m5-m9")
        one.tries(answer)
        page.get_by_role("button", name="Save as conditional move").last.click()
        expect(page.locator(".conditional li")).to_have_text(re.compile(f"m5-m9 {answer}"))
        expect(page.locator(".branch .quiet")).to_have_text(["Saved"])
        page.get_by_role("button", name="Back to the match").click()
    page.get_by_role("button", name="Delete m5-m9", exact=True).last.click()
    expect(page.locator(".conditional li")).to_have_count(0)
    expect(page.get_by_role("button", name="Save as conditional move")).to_have_count(2)
    assert conditional_moves_of(api.parts, pair[1].account, board).moves == ()
    expect(page.get_by_role("link", name="Add a conditional move")).to_be_visible()
