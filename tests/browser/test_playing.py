"""Games in browsers, by clicks: choosing a move, place by place, and a newcomer's first."""

import random

import pytest
from playwright.sync_api import Locator, expect

from domain.fairness import DrawStream
from domain.match.state import position_of
from domain.rules import game_keys, latest_rules, rules_by_id
from infra.people.account_macs import AccountMacs
from infra.people.accounts import create_robot_accounts
from services.app.matches import load_state
from tests.helpers.api import PASSWORD
from tests.helpers.browser import notation_of

pytestmark = pytest.mark.slow


MOVED_DIFFERENTLY = ("halves", "pow2", "powerdrain", "torere")
"""Games whose moves are written in different ways."""


def table(api, person, name: str):
    """Begin a match of pow2 against somebody who has no window; return who is to move."""
    light = person(name)
    board = api.begun(api.player_of(name), api.player())
    light.goes_to(f"/m/{board}")
    light.page.locator("#board-area.choosing").wait_for()
    return light


def drawn_anew(one) -> None:
    """Have the board of a page made anew, as news of the match does."""
    one.page.evaluate(
        """() => {
          document.querySelector("#board-area").dataset.before = "yes";
          document.querySelector("#turn").dataset.seq = 0;  // or it would be no news
          htmx.trigger("#news", "news");
        }"""
    )
    one.page.locator("#board-area:not([data-before])").wait_for()


def test_what_was_chosen_stays_and_no_click_is_lost_when_the_board_is_drawn_anew(api, person):
    light = table(api, person, "lucy")
    light.page.locator('#board-area [data-place="m13"] .hit').hover()
    light.page.mouse.down()
    drawn_anew(light)
    light.page.mouse.up()
    expect(light.page.locator("#says")).to_contain_text("m13 selected.")
    drawn_anew(light)
    light.chooses("j7")
    expect(light.page.locator("#says")).to_contain_text("Play m13-j7")


@pytest.mark.parametrize(
    "game",
    [
        pytest.param(one, marks=[] if one in MOVED_DIFFERENTLY else pytest.mark.long)
        for one in game_keys()
    ],
)
def test_place_by_place_all_legal_moves_can_be_chosen_and_no_others(person, game):
    page, rules, chance = person().goes_to("/help"), latest_rules(game), random.Random(game)
    options = rules.read_options(["-keep_chosen"] if game == "halves" else [])
    players = rules.players[-1]
    stream = DrawStream(b"0" * 32, f"{game}/{rules.version}")
    position = rules.start(options, players, rules.draw(options, players, stream))
    for _ in range(40):
        moves = list(rules.legal_moves(position)) if rules.outcome(position) is None else []
        assert sorted(notation_of(page, moves)) == sorted(moves)
        if not moves:
            break
        more = [move for move in moves if move != "done"] or moves
        position = rules.play(position, rules.check(position, rules.read(chance.choice(more))))


def test_from_the_first_page_to_a_move_against_a_robot_in_nine_clicks_and_two_fields(api, person):
    create_robot_accounts(api.parts.data, AccountMacs())
    page, clicks = person().goes_to("/"), 0
    heading = page.locator("h1").bounding_box()

    def click(target: Locator) -> None:
        nonlocal clicks
        target.click()
        clicks += 1

    def move() -> None:
        """Choose the first move place by place, and play it."""
        area = page.locator("#board-area.choosing")
        area.wait_for()
        ply, confirm = area.get_attribute("data-ply"), page.locator("#confirm")
        for _ in range(4):
            if confirm.is_enabled():
                break
            click(area.locator(".choice .hit").first)
        click(confirm)
        page.locator(f'#board-area:not([data-ply="{ply}"])').wait_for()

    expect(page.locator("#turn")).to_contain_text("You’re playing Light")
    expect(page.locator("#confirm")).to_be_disabled()
    move()
    expect(page.locator("#turn")).to_contain_text("The robot played")
    assert page.locator("h1").bounding_box() == heading
    assert page.url.endswith("/")
    click(page.locator("header").get_by_role("link", name="Sign up"))
    page.locator('main [name="userid"]').fill("newcomer")
    page.locator('main [name="password"]').fill(PASSWORD)
    click(page.locator('main form[action="/signup"] button').last)
    page.wait_for_url("/")
    click(page.locator('form[action="/robots"] button').first)
    page.wait_for_url("**/m/*")
    board = int(page.url.rpartition("/")[2])
    state = load_state(api.parts, board)
    if page.locator("#builder").count() == 0:  # chance let the robot begin, and no robot runs here
        rules = rules_by_id(state.rules)
        api.player_of("robot-easy").move(board, next(rules.legal_moves(position_of(state))))
    move()
    assert clicks <= 9


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
    for ply in range(40):
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
    page.goto(f"/m/{board}/40")
    expect(page.locator(".moves a.now")).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(page.locator("#at .says")).to_contain_text("The start")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**/m/{board}/1")
    expect(page.locator(".moves a.now")).to_be_in_viewport()
