"""Choosing a move, filling forms in: nothing is taken back, lost, or sent half."""

import pytest
from playwright.sync_api import expect

from domain.match.state import position_of
from domain.rules import latest_rules
from services.app.matches import load_state

pytestmark = pytest.mark.slow


@pytest.fixture
def mover(api, person):
    """Somebody before a match of pow2 in which it is their turn."""
    count = api.parts.accounts.count()
    one = person(f"mover-{count}")
    board = api.begun(api.player_of(one.name), api.player())
    one.goes_to(f"/m/{board}")
    one.page.locator("#board-area.choosing").wait_for()
    one.board = board
    return one


def twice(one, place: str) -> None:
    one.page.locator(f'#board-area [data-place="{place}"] .hit').dblclick()


def test_a_double_click_takes_nothing_back_and_plays_a_move_that_is_whole(api, mover):
    twice(mover, "m13")
    expect(mover.page.locator("#says")).to_contain_text("m13 selected.")
    twice(mover, "j7")
    mover.page.locator(".moves a.now", has_text="m13-j7").wait_for()
    assert load_state(api.parts, mover.board).ply == 1


def test_play_is_off_until_the_move_is_whole(api, mover):
    play, field = mover.page.locator("#confirm"), mover.page.locator("#move")
    expect(play).to_be_disabled()
    mover.chooses("m13")
    expect(field).to_have_value("m13")
    expect(play).to_be_disabled()
    mover.chooses("j7")
    expect(play).to_be_enabled()
    for _ in "m13", "j7":
        mover.page.get_by_role("button", name="Back").click()
        expect(play).to_be_disabled()
    field.fill("A1 - C11")  # what somebody writes is theirs to judge
    expect(play).to_be_enabled()
    field.fill("")
    expect(play).to_be_disabled()
    field.fill("M13 - J7")
    play.click()
    mover.page.locator(".moves a.now", has_text="m13-j7").wait_for()
    assert load_state(api.parts, mover.board).ply == 1


AT_ITS_END = """(selector) => {
  const list = document.querySelector(selector);
  const last = list.lastElementChild.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  return list.scrollHeight > list.clientHeight
    && last.top >= box.top - 1 && last.bottom <= box.bottom + 1;
}"""


def test_moves_and_chat_show_their_newest(api, person):
    one, other = person("lange"), api.player()
    players = (api.player_of(one.name), other)
    board = api.begun(*players, game="torere")
    for ply in range(60):
        legal = latest_rules("torere").legal_moves(position_of(load_state(api.parts, board)))
        players[ply % 2].move(board, next(iter(legal)))
    for number in range(20):
        other.post(f"/api/matches/{board}/chat", {"text": f"line {number}"})
    page = one.goes_to(f"/m/{board}")
    for selector in (".moves", ".chat"):
        page.wait_for_function(AT_ITS_END, arg=selector)
    other.post(f"/api/matches/{board}/chat", {"text": "the newest"})
    expect(page.locator(".chat li").last).to_contain_text("the newest")
    page.wait_for_function(AT_ITS_END, arg=".chat")
    page.goto(f"/m/{board}/60")
    expect(page.locator(".moves a.now")).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(page.locator("#at .says")).to_contain_text("The start")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**/m/{board}/1")
    expect(page.locator(".moves a.now")).to_be_in_viewport()


def test_forms_of_the_account_with_a_mistake_keep_what_was_typed(person):
    one = person("formel")
    page = one.goes_to("/account")
    page.get_by_role("textbox", name="Addresses").fill("good@example.org not-an-address")
    page.locator('form[action="/account/addresses"] button').click()
    box = page.locator('form[action="/account/addresses"]')
    expect(box.get_by_role("alert")).to_contain_text("not-an-address")
    expect(page.get_by_role("textbox", name="Addresses")).to_have_value(
        "good@example.org not-an-address"
    )
    expect(page.get_by_role("textbox", name="Addresses")).to_be_focused()
    page.get_by_text("Tokens for programs").click()
    page.get_by_label("What it is for").fill("my bot")
    for scope in ("see what only you can see", "play for you"):
        page.get_by_label(scope).uncheck()
    page.get_by_label("It works for").select_option("30")
    page.get_by_role("button", name="Create token").click()
    tokens = page.locator('form[action="/account/tokens"]')
    expect(tokens.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("What it is for")).to_have_value("my bot")
    expect(page.get_by_label("play for you")).not_to_be_checked()
    expect(page.get_by_label("It works for")).to_have_value("30")
